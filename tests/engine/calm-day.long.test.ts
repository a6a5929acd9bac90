import * as fs from 'node:fs'
import { expect, it } from 'vitest'
import { loudly, sleep, type Host } from './host.ts'
import { authLog, reports, seen, wellAgain } from './protection.ts'
import type { ProtectionReport } from './protection.ts'
import { carriedOut } from './scenarios.ts'
import { firewallKinds } from './sabotage/firewalls.ts'
import { onStage } from './stage.ts'
import { testMs } from '../../packages/server/src/testing/waiting.ts'

/** The levels that were reported, without repetitions. */
const levels = (all: readonly ProtectionReport[]): string[] =>
  all.map(({ level }) => level).filter((level, index, list) => level !== list[index - 1])

onStage(
  'a calm day',
  [],
  scene => {
    it('changes no level while bans come and go, and while fail2ban reloads and restarts', async () => {
      const { host } = scene()
      await wellAgain(scene())
      for (let round = 0; round < 3; round += 1) {
        for (let i = 0; i < 10; i += 1) await host.client('set', 'sshd', 'banip', `203.0.113.${10 * round + i}`)
        for (let i = 0; i < 5; i += 1) await host.client('set', 'sshd', 'unbanip', `203.0.113.${10 * round + i}`)
        await host.client('reload')
        fs.renameSync(authLog(host), `${authLog(host)}.1`)
        fs.writeFileSync(authLog(host), '')
        await host.attack(`198.51.100.${round}`)
      }
      await host.stopEngine()
      await host.startEngine()
      expect((await carriedOut(scene(), 'reload-all')).success).toBe(true)
      expect((await carriedOut(scene(), 'service-restart')).success).toBe(true)
      // The checks were at work all the time: they find what is really wrong.
      await host.client('stop', 'nginx-http-auth')
      await seen(scene(), 'degraded', /^jail nginx-http-auth is enabled/)
      expect(levels(reports(scene()))).toEqual(expect.arrayContaining(['protected', 'degraded']))
      expect(levels(reports(scene())).filter(level => level !== 'unknown')).toEqual(['protected', 'degraded'])
    })
  },
  // The usual times: a restart of fail2ban on a busy machine still ends before a problem would count.
)

/** CALM_MINUTES=30 adds a run of that length on a host whose rules the agent may not read, so that it sends itself packets. */
const minutes = Number(process.env['CALM_MINUTES'] ?? 0)

/** The CPU time of the agent and of the programs that it ran, in seconds. */
const cpuOf = (host: Host): number => {
  const stat = fs.readFileSync(`/proc/${host.agentPid() ?? 0}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) / 100
}

if (minutes > 0)
  onStage(
    'a long calm time with packet proofs',
    [],
    scene => {
      it(
        'changes no level, and then names a flushed firewall within a minute',
        async () => {
          const { host } = scene()
          const { flush } = firewallKinds.legacy
          await host.client('set', 'sshd', 'banip', '203.0.113.250', '2001:db8::250')
          await wellAgain(scene())
          const from = reports(scene()).length
          const startedAt = Date.now()
          const cpuAtStart = cpuOf(host)
          for (let minute = 0; minute < minutes; minute += 1) {
            await host.client('set', 'sshd', 'banip', `203.0.113.${minute}`)
            if (minute > 0) await host.client('set', 'sshd', 'unbanip', `203.0.113.${minute - 1}`)
            await host.attack(`198.51.100.${minute}`)
            if (minute % 5 === 4) {
              await host.client('reload')
              fs.renameSync(authLog(host), `${authLog(host)}.1`)
              fs.writeFileSync(authLog(host), '')
            }
            if (minute % 10 === 9) await host.client('restart')
            await sleep(60_000)
          }
          const cpu = (100_000 * (cpuOf(host) - cpuAtStart)) / (Date.now() - startedAt)
          expect(levels(reports(scene()).slice(from)).filter(level => level !== 'unknown')).toEqual(['protected'])
          const flushedAt = Date.now()
          await flush(host)
          await seen(scene(), 'unprotected', /^bans of jail sshd are not enforced/)
          loudly(
            `agent and its programs: ${cpu.toFixed(2)} % of a core; a flush was named after ${Date.now() - flushedAt} ms`,
          )
        },
        testMs + minutes * 60_000,
      )
    },
    { ...firewallKinds.legacy.settings('installed'), hasUnitRights: true, agentArgs: [] },
  )
