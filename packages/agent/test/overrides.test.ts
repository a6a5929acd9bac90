import { expect, it } from 'vitest'
import { createOverrides } from '../src/bans/overrides.ts'
import { EngineDown, EngineRefused } from '../src/engine/engine.ts'
import type { Engine } from '../src/engine/engine.ts'
import type { Entry } from '../src/outbox.ts'
import { startedLedger } from './started-ledger.ts'

const build = () => {
  const calls: string[] = []
  const told: Entry[] = []
  const clock = { now: 1_000_000_000, steady: 0 }
  let failure: Error | null = null
  const { memory, ledger } = startedLedger(
    () => clock.now,
    entries => told.push(...entries),
  )
  const act = (name: string) => (jail: string, ip: string) => {
    calls.push(`${name} ${jail} ${ip}`)
    return failure ? Promise.reject(failure) : Promise.resolve(1)
  }
  const overrides = createOverrides({
    engine: { ban: act('ban'), unban: act('unban') } as unknown as Engine,
    ledger,
    memory,
    save: () => undefined,
    drain: () => (calls.push('drain'), Promise.reject(new Error('the table is not readable'))),
    now: () => clock.now,
    steadyNow: () => clock.steady,
    log: { info: () => undefined, warn: () => undefined, debug: () => undefined },
  })
  ledger.bans([{ jail: 'sshd', ip: '192.0.2.1', time: 1_000_000, bantime: 600, failures: 0, logLines: '' }])
  told.length = 0
  const pass = (ms: number): void => {
    clock.now += ms
    clock.steady += ms
  }
  return { calls, told, clock, pass, memory, overrides, fail: (error: Error | null) => (failure = error) }
}

it('lifts a ban at its end, not before, after the table was read', async () => {
  const { calls, told, clock, pass, memory, overrides } = build()
  overrides.set('sshd', '192.0.2.1', clock.now + 5000)
  await overrides.tick()
  expect(calls).toEqual([])
  pass(5000)
  await overrides.tick()
  expect(calls).toEqual(['drain', 'unban sshd 192.0.2.1'])
  expect(told).toMatchObject([{ kind: 'unban', at: 1_000_005_000 }])
  expect(memory.overrides.size).toBe(0)
})

it('forgets the end of a ban that was lifted, in one jail or in all', async () => {
  const { calls, clock, pass, memory, overrides } = build()
  for (const jail of ['sshd', 'nginx', 'mail']) overrides.set(jail, '192.0.2.1', clock.now + 5000)
  overrides.set('sshd', '192.0.2.2', clock.now + 60_000)
  overrides.drop('nginx', '192.0.2.1')
  expect(memory.overrides.size).toBe(3)
  overrides.drop(null, '192.0.2.1')
  expect(memory.overrides.size).toBe(1)
  pass(5000)
  await overrides.tick()
  expect(calls).toEqual([])
})

it('waits for fail2ban when it is down, but not for a jail that is gone', async () => {
  const { told, clock, memory, overrides, fail } = build()
  overrides.set('sshd', '192.0.2.1', clock.now)
  fail(new EngineDown('gone'))
  await overrides.tick()
  expect(memory.overrides.size).toBe(1)
  fail(new EngineRefused('UnknownJailException: sshd'))
  await overrides.tick()
  expect(memory.overrides.size).toBe(0)
  expect(told).toHaveLength(1)
})

it('makes a ban again that ended too early, unless somebody lifted it or its time is over', async () => {
  const { calls, clock, pass, memory, overrides } = build()
  expect(await overrides.renew('sshd', '192.0.2.1', true)).toBe(false)
  overrides.set('sshd', '192.0.2.1', null)
  expect(await overrides.renew('sshd', '192.0.2.1', true)).toBe(true)
  expect(calls).toEqual(['ban sshd 192.0.2.1', 'drain'])
  expect([...memory.intents.values()]).toMatchObject([{ commandId: null }])
  expect(await overrides.renew('sshd', '192.0.2.1', false)).toBe(false)
  expect(memory.overrides.size).toBe(0)
  overrides.set('sshd', '192.0.2.1', clock.now + 1000)
  pass(2000)
  expect(await overrides.renew('sshd', '192.0.2.1', true)).toBe(false)
})

it.each([3_600_000, -7_200_000])(
  'ends a ban after its time, also where the clock is set by %i ms meanwhile',
  async step => {
    const { calls, clock, pass, memory, overrides } = build()
    overrides.set('sshd', '192.0.2.1', clock.now + 60_000)
    overrides.set('sshd', '192.0.2.2', null)
    clock.now += step
    await overrides.tick()
    pass(59_000)
    await overrides.tick()
    // As fail2ban ends its bans by the clock, the agent makes this one again.
    expect(await overrides.renew('sshd', '192.0.2.1', true)).toBe(true)
    expect(calls).toEqual(['ban sshd 192.0.2.1', 'drain'])
    pass(1000)
    await overrides.tick()
    expect(calls.slice(2)).toEqual(['drain', 'unban sshd 192.0.2.1'])
    expect([...memory.overrides.keys()]).toEqual(['sshd|192.0.2.2'])
  },
)
