import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import { expect, it } from 'vitest'
import { createSelfTest } from '../src/self-test/self-test.ts'

/** A host with one address, whose bans stop packets or not, and whose kernel counts what it dropped, or null. */
const build = (host: { readonly stops: boolean; readonly dropped: number | null }) => {
  const banned = new Set<string>()
  let clock = 0
  const test = createSelfTest({
    testBan: {
      whyNot: () => null,
      isKept: () => Promise.resolve(false),
      hold: async entry => void banned.add(entry),
      stopped: () => Promise.resolve(host.dropped),
      release: async entry => void banned.delete(entry),
    },
    engineTest: () => Promise.reject(new Error('this test asks for packets only')),
    probe: (source, targets) =>
      Promise.resolve(targets.map(() => (host.stops && banned.has(source) ? 'none' : 'syn-ack'))),
    addresses: () => ['198.51.100.7'],
    ports: () => [22],
    published: () => Promise.resolve([]),
    steadyNow: () => (clock += 10),
  })
  return () => test({}).catch((error: unknown) => (error instanceof Error ? error.message : ''))
}
const dropOf = (output: string) => {
  const { result, steps } = JSON.parse(output) as SelfTestResult
  return { result, ...steps.find(({ step }) => step === 'drop') }
}

it.each([
  [{ stops: true, dropped: 2 }, 'proved', 'packets of the banned address get no answer; the kernel dropped 2'],
  // The driver cannot tell.
  [{ stops: true, dropped: null }, 'proved', 'packets of the banned address get no answer'],
  // Something else than the shield stopped them.
  [
    { stops: true, dropped: 0 },
    'failed',
    'packets of the banned address are still answered by nobody, but the kernel counted no drop',
  ],
  [{ stops: false, dropped: 2 }, 'failed', 'packets of the banned address are still answered by 198.51.100.7:22'],
])('a shield is proved by packets that its own rule dropped: %j', async (host, result, text) => {
  expect(dropOf(await build(host)())).toMatchObject({ result, text, ok: result === 'proved' })
})
