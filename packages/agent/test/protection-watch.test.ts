import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { bad, ok, warning } from '../src/protection/model.ts'
import type { Check, Finding, ProtectionReport } from '../src/protection/model.ts'
import { defaultPatience } from '../src/protection/tracker.ts'
import { createWatch } from '../src/protection/watch.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A watch over one check that takes a while for each look, with the clock of the test. */
const build = (check: Pick<Check, 'every' | 'badAfter' | 'looks'>, lookTakes: number) => {
  const reports: { at: number; report: ProtectionReport; isNews: boolean }[] = []
  let findings: readonly Finding[] = [ok('sshd')]
  let timesTold = 0
  const watch = createWatch({
    checks: [
      {
        ...check,
        id: 'enforced',
        needsEngine: true,
        look: () => new Promise(resolve => setTimeout(() => resolve(findings), lookTakes)),
      },
    ],
    patience: defaultPatience,
    onChange: (report, isNews) => void reports.push({ at: Date.now(), report, isNews }),
    time: {
      now: Date.now,
      onClock(at) {
        timesTold += 1
        return at
      },
    },
    log: { info: () => {}, warn: () => {}, debug: () => {} },
  })
  watch.start()
  return {
    reports,
    /** How many times stood in the reports that were made, told or not. */
    timesTold: () => timesTold,
    finds: (...next: Finding[]) => {
      findings = next
    },
    stop: watch.stop,
  }
}
const lost = bad('sshd', 'bans of jail sshd are not enforced')

it('tells a problem within a minute, also by a check whose looks take long', async () => {
  const { reports, finds, stop } = build({ every: 15_000, badAfter: 0, looks: 2 }, 5000)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(reports.map(({ report }) => report.level)).toEqual(['protected'])
  finds(lost)
  const brokenAt = Date.now()
  await vi.advanceTimersByTimeAsync(60_000)
  const told = reports.find(({ report }) => report.level === 'unprotected')
  expect((told?.at ?? Infinity) - brokenAt).toBeLessThan(55_000)
  stop()
})

it.each([5000, 15_000, 30_000])('tells within 20 s that a problem is mended, by a look each %i ms', async every => {
  const { reports, finds, stop } = build({ every, badAfter: 0, looks: 1 }, 100)
  finds(lost)
  await vi.advanceTimersByTimeAsync(301_000)
  expect(reports.at(-1)?.report.level).toBe('unprotected')
  const mendedAt = Date.now()
  finds(ok('sshd'))
  await vi.advanceTimersByTimeAsync(60_000)
  const told = reports.find(({ at, report }) => at >= mendedAt && report.level === 'protected')
  expect((told?.at ?? Infinity) - mendedAt).toBeLessThanOrEqual(20_000)
  stop()
})

it('calls it news when a problem or a warning begins or ends, and not when its words change', async () => {
  const { reports, finds, stop } = build({ every: 5000, badAfter: 0, looks: 1 }, 0)
  await vi.advanceTimersByTimeAsync(30_000)
  const after = async (...next: Finding[]): Promise<boolean[]> => {
    const from = reports.length
    finds(...next)
    await vi.advanceTimersByTimeAsync(60_000)
    return reports.slice(from).map(({ isNews }) => isNews)
  }
  expect(await after(ok('sshd'), warning('web', 'port 80 leads to a container'))).toEqual([true])
  expect(await after(ok('sshd'), warning('web', 'port 81 leads to a container'))).toEqual([false])
  expect(await after(lost, warning('web', 'port 81 leads to a container'))).toEqual([true])
  expect(await after(ok('sshd'), ok('web'))).toEqual([true])
  stop()
})

it('makes the report again after a look that found something else, and twice a minute at rest', async () => {
  const { timesTold, finds, stop } = build({ every: 5000, badAfter: 0, looks: 1 }, 0)
  await vi.advanceTimersByTimeAsync(30_000)
  const timesIn = async (ms: number): Promise<number> => {
    const before = timesTold()
    await vi.advanceTimersByTimeAsync(ms)
    return timesTold() - before
  }
  expect(await timesIn(60_000)).toBe(2)
  finds(lost)
  expect(await timesIn(5000)).toBeGreaterThan(0)
  stop()
})
