import { AsyncLocalStorage } from 'node:async_hooks'
import { inspect } from 'node:util'

/*
 * How all tests wait. No test judges a clock, a share of a core or memory: `bench/` does, with a goal beside each figure. A limit is
 * there only so that a test that hangs ends.
 *
 * On an idle machine the longest waits are a minute for what comes each minute, and six seconds of work. On one core beside busy loops
 * work takes ten times as long, and a period stays a minute: two minutes hold either. A test of several such waits has five times that.
 */

/** How long a test waits for one condition, milliseconds. A small STOCKADE_TEST_PATIENCE shows sooner what does not come. */
export const conditionMs = Number(process.env.STOCKADE_TEST_PATIENCE ?? 120_000)
/** How long a test or a hook may take, milliseconds. Each wait in it ends earlier, with a sentence. */
export const testMs = Math.max(600_000, 5 * conditionMs)

const sights = new AsyncLocalStorage<Map<string, unknown>>()
/** Notes what a host, a page or a server showed, for the sentence of the wait around it, and returns it. */
export const sight = <T>(what: string, value: T): T => {
  sights.getStore()?.set(what, value)
  return value
}
const mostText = 1500
/** Of a list its end, and how long it is. */
const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  const [list, more] =
    Array.isArray(value) && value.length > 5 ? [value.slice(-5), `${value.length}, the last: `] : [value, '']
  return more + inspect(list, { depth: 6, breakLength: Infinity })
}
const sightText = (seen: ReadonlyMap<string, unknown>): string =>
  [...seen]
    .map(([what, value]) => {
      const text = textOf(value)
      // What came last stands at the end.
      return `\nLast seen, ${what}: ${text.length > mostText ? `...${text.slice(-mostText)}` : text}`
    })
    .join('')

const late = Symbol('late')
/** The promise, which must settle in time. `seen` gives what there is to see when it does not. */
export const within = async <T>(event: Promise<T>, what: string, seen?: () => unknown): Promise<T> => {
  const limit = Promise.withResolvers<typeof late>()
  const timer = setTimeout(limit.resolve, conditionMs, late)
  const first = await Promise.race([event, limit.promise]).finally(() => clearTimeout(timer))
  if (first !== late) return first
  throw new Error(
    `${what} did not come within ${conditionMs / 1000} s${seen ? sightText(new Map([[what, seen()]])) : ''}`,
  )
}

/** Tries until the check passes; throws its last failure, and what it saw then, when it never does. */
export const eventually = async <T>(check: () => Promise<T> | T, pauseMs = 25): Promise<T> => {
  const end = performance.now() + conditionMs
  for (;;) {
    const sightByName = new Map<string, unknown>()
    try {
      return await within(
        sights.run(sightByName, async () => check()),
        'the end of one look',
      )
    } catch (error) {
      if (performance.now() > end) {
        if (error instanceof Error) error.message += sightText(sightByName)
        throw error
      }
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
}

/** Waits until the check is true. A check that throws is not true yet. `seen` gives what there is to see when it never is. */
export const until = (check: () => boolean | Promise<boolean>, what: string, seen?: () => unknown): Promise<void> =>
  eventually(async () => {
    if (await check()) return
    if (seen) sight(what, seen())
    throw new Error(`${what} did not come within ${conditionMs / 1000} s: ${String(check)}`)
  }, 100)
