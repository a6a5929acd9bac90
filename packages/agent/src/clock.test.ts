import { expect, it } from 'vitest'
import { createEvenTime, createSteadyClock, createSteps } from './clock.ts'
import { createServerTime } from './shield/server-time.ts'

/** A host whose clock can be set. */
const aHost = (now = 1_000_000_000) => {
  const clock = { now, steady: 50 }
  return {
    clock,
    clocks: { now: () => clock.now, steadyNow: () => clock.steady },
    pass(ms: number): void {
      clock.now += ms
      clock.steady += ms
    },
  }
}

it('tells by how much a clock was set, and no noise', () => {
  const { clock, clocks, pass } = aHost()
  const steps = createSteps(clocks)
  pass(86_400_000)
  clock.now += 499
  expect(steps.since()).toBe(0)
  clock.now += 3_599_501
  expect(steps.since()).toBe(3_600_000)
  pass(1000)
  expect(steps.take()).toBe(3_600_000)
  expect(steps.since()).toBe(0)
  clock.now -= 7_200_000
  expect(steps.take()).toBe(-7_200_000)
})

it('measures delays by a time that nobody sets, and tells them on the clock of the host', () => {
  const { clock, clocks, pass } = aHost()
  const time = createEvenTime(clocks)
  const before = time.now()
  clock.now -= 3_600_000
  pass(5000)
  expect(time.now() - before).toBe(5000)
  expect(time.onClock(before)).toBe(before - 3_600_000)
  clock.now += 3_600_000
  expect(time.onClock(before)).toBe(before)
})

it('goes on from the file of the last run until the server answers, whatever is done to the clock', () => {
  const { clock, clocks, pass } = aHost()
  let offset: number | null = null
  const serverNow = createServerTime({ ...clocks, clockOffset: () => offset }, { savedAt: 999_000_000, offset: 7000 })
  expect(serverNow()).toBe(1_000_007_000)
  clock.now += 3_600_000
  pass(1000)
  expect(serverNow()).toBe(1_000_008_000)
  offset = -3_600_000
  expect(serverNow()).toBe(1_000_001_000)
})

it('takes the time of the file where the clock starts in the past, and the clock once it is right', () => {
  const { clock, clocks, pass } = aHost(0)
  const serverNow = createServerTime({ ...clocks, clockOffset: () => null }, { savedAt: 1_000_000_000, offset: 0 })
  pass(5000)
  expect(serverNow()).toBe(1_000_005_000)
  clock.now = 1_000_600_000
  expect(serverNow()).toBe(1_000_600_000)
})

it('goes on while the host is suspended, and reads the time since the boot only when there may have been a sleep', () => {
  const host = { awake: 500, booted: 90_000, wall: 1_000_000_000, reads: 0 }
  const steadyNow = createSteadyClock({
    awake: () => host.awake,
    booted: () => {
      host.reads += 1
      return host.booted
    },
    wall: () => host.wall,
  })
  const pass = (ms: number, asleep = 0): void => {
    host.awake += ms
    host.booted += ms + asleep
    host.wall += ms + asleep
  }
  pass(59_999)
  expect(steadyNow()).toBe(60_499)
  expect(host.reads).toBe(1)
  pass(1)
  for (let times = 0; times < 50; times += 1) expect(steadyNow()).toBe(60_500)
  expect(host.reads).toBe(2)
  pass(10, 3_600_000)
  expect(steadyNow()).toBe(60_510 + 3_600_000)
  // The noise of two clocks is no sleep.
  pass(10, 1500)
  expect(steadyNow()).toBe(60_520 + 3_600_000)
  expect(host.reads).toBe(4)
  // Nor is a clock that somebody sets.
  host.wall -= 86_400_000
  expect(steadyNow()).toBe(60_520 + 3_600_000)
  expect(host.reads).toBe(5)
})
