import { expect, it } from 'vitest'
import { until } from './host.ts'
import type { Mischief } from './recorder.ts'
import { bansOf, reported } from './scenarios.ts'
import { onStage } from './stage.ts'

onStage(
  'outages around the agent',
  [
    'a ban while the server is down arrives once',
    'a storm of 300 bans with the agent killed again and again: none lost, none doubled',
    'fail2ban stopped and started again is a state, not a crash',
  ],
  scene => {
    it('a server that answers nonsense neither stops the agent nor loses a ban', async () => {
      const { host, server } = scene()
      const kinds: Exclude<Mischief, null>[] = [
        'html',
        'wrong-types',
        'truncated',
        'huge',
        'reset',
        'slow',
        'error-500',
        'unauthorized',
      ]
      for (const [index, kind] of kinds.entries()) {
        server.misbehave(kind)
        const asked = server.requests.length
        await host.attack(`198.51.100.${100 + index}`)
        await until(() => host.bannedInEngine('sshd', `198.51.100.${100 + index}`), 'the ban')
        await until(
          () => server.requests.slice(asked).some(({ path }) => path === '/api/v1/bans/batch'),
          `a report against ${kind}`,
        )
        server.misbehave(null)
        await reported(scene(), `198.51.100.${100 + index}`)
      }
      for (const index of kinds.keys()) expect(await bansOf(scene(), `198.51.100.${100 + index}`)).toHaveLength(1)
      expect(host.agentRunning()).toBe(true)
      expect(server.complaints).toEqual([])
    })

    it('the agent keeps to 80 requests a minute, and outlived oversized answers in the heap of an installed one', () => {
      const { host, server } = scene()
      const times = server.requests.map(({ at }) => at).filter(at => at >= (host.agentStartedAt() ?? 0))
      const busiest = Math.max(...times.map(from => times.filter(at => at >= from && at < from + 60_000).length))
      expect(busiest).toBeLessThanOrEqual(80)
      // With more on its heap than the 64 MB of the unit's flag V8 ends it. `bench/rest.ts` has what it needs of memory.
      expect(host.agentRunning()).toBe(true)
    })
  },
)
