import type * as Waiting from './waiting.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

/* With a limit of its own: what does not come is told after 50 ms. */
let waiting: typeof Waiting
beforeAll(async () => {
  vi.stubEnv('STOCKADE_TEST_PATIENCE', '50')
  vi.resetModules()
  waiting = await import('./waiting.ts')
})
afterAll(() => {
  vi.unstubAllEnvs()
  // The next file of this process must not meet the module with the small limit.
  vi.resetModules()
})

test('a wait that ends in vain says what was expected, and what it saw last', async () => {
  const { sight, until } = waiting
  let looks = 0
  const inVain = until(() => {
    sight('nft list ruleset', `table ${++looks}`)
    return looks < 0
  }, 'the ban in the firewall')
  await expect(inVain).rejects.toThrow(/^the ban in the firewall did not come within 0\.05 s: \(\) =>[^]*looks < 0/)
  await expect(inVain).rejects.toThrow(`Last seen, nft list ruleset: table ${looks}`)
  await expect(
    until(
      () => false,
      'a report',
      () => ({ rows: 3 }),
    ),
  ).rejects.toThrow('Last seen, a report: { rows: 3 }')
  const throws = until(() => {
    throw new Error('fail2ban is away')
  }, 'its answer')
  await expect(throws).rejects.toThrow('fail2ban is away')
})
test('what waits side by side sees what is its own', async () => {
  const { sight, until } = waiting
  const looking = (name: string) => until(async () => sight(name, name) === '', name).catch(String)
  const [left, right] = await Promise.all(['left', 'right'].map(looking))
  expect(left).not.toContain('right')
  expect(right).toContain('Last seen, right: right')
})
test('a check that passes gives its value, also after failures', async () => {
  let looks = 0
  const value = waiting.eventually(() => {
    if (++looks < 3) throw new Error('not yet')
    return looks
  })
  expect(await value).toBe(3)
})
test('an event that does not come is named, one that fails fails', async () => {
  const { within } = waiting
  expect(await within(Promise.resolve(7), 'the exit')).toBe(7)
  await expect(within(Promise.reject(new Error('ended')), 'the exit')).rejects.toThrow('ended')
  await expect(within(new Promise(() => {}), 'the exit', () => 'its log')).rejects.toThrow(
    'the exit did not come within 0.05 s\nLast seen, the exit: its log',
  )
  // A look that hangs ends too.
  await expect(waiting.eventually(() => new Promise(() => {}))).rejects.toThrow('the end of one look did not come')
})
test('a test may take several waits', () => expect(waiting.testMs).toBe(600_000))
