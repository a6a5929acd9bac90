import { expect, test } from 'vitest'
import { clockJudgements } from './clocks.ts'
import { allSources } from './sources.ts'

/** Tests and what only tests use. The generators of `tests/fuzz` are programs, which say how long they have run. */
const isTest = (path: string) =>
  /\.test\.tsx?$|^tests\/|^packages\/\w+\/test\/|^packages\/server\/src\/testing\//.test(path) &&
  !/^tests\/(fuzz|house)\/|\/testing\/waiting\.ts$/.test(path)

test('no test judges a clock or memory, and each wait has the limit of all', () => {
  const sources = allSources().filter(({ path }) => isTest(path))
  expect(sources.length).toBeGreaterThan(400)
  expect(sources.flatMap(clockJudgements)).toEqual([])
})

test.each([
  ['a time that went by', 'expect(Date.now() - started).toBeLessThan(3000)', /judges a clock\. Count what/],
  [
    'one that has a name',
    'const took = performance.now() - began\nexpect(took).toBeLessThanOrEqual(900)',
    /judges a clock/,
  ],
  [
    'one of several',
    'const delays: number[] = []\ndelays.push(Date.now() - sentAt)\nexpect(delays.toSorted()[1]).toBeLessThan(2000)',
    /judges a clock/,
  ],
  ['the distance from now', 'expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(5000)', /judges a clock/],
  [
    'memory',
    'const resident = Number(/VmRSS:\\s+(\\d+)/.exec(status)?.[1]) / 1024\nexpect(resident).toBeLessThan(110)',
    /judges memory or processor time\. Bound/,
  ],
  [
    'memory by way of a function',
    "const megabytes = (field: 'VmRSS' | 'VmHWM') => {\n  const status = readFileSync('/proc/self/status')\n  return Number(new RegExp(field).exec(status)?.[1])\n}\nexpect(megabytes('VmHWM')).toBeLessThan(128)",
    /judges memory/,
  ],
  [
    'memory, waited for',
    'await expect.poll(() => process.memoryUsage().rss).toBeLessThanOrEqual(most)',
    /judges memory/,
  ],
  [
    'a share of a core',
    "const busy = () => Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[13])\nconst share = busy() / 10\nexpect(share).toBeLessThan(0.05)",
    /processor time/,
  ],
  ['a loop with a deadline', 'while (Date.now() < deadline) await pause(10)', /deadline of its own\. Wait with until/],
  [
    'a limit of a wait',
    'await page.getByText("Live").waitFor({ timeout: 180_000 })',
    /limit of its own\. Leave it out/,
  ],
  ['a limit of a test', "test('hangs', async () => {\n  await work()\n}, 900_000)", /limit of its own/],
  ['a limit of a hook', 'beforeAll(async () => {\n  await work()\n}, 2 * 60_000)', /limit of its own/],
  ['a wait of vitest', 'await vi.waitFor(() => expect(turns()).toBe(3))', /gives up after a second/],
  ['an event', "await once(child, 'exit')", /no limit\. Wrap it: within/],
  ['an event by hand', "const over = new Promise(resolve => child.once('exit', resolve))\nawait over", /no limit/],
  ['a promise of the test', 'const sent = Promise.withResolvers<null>()\nawait sent.promise', /no limit/],
])('%s is refused with its place', (_, text, sentence) => {
  const found = clockJudgements({ path: 'tests/planted.test.ts', text })
  expect(found).toEqual([expect.stringMatching(sentence)])
  expect(found[0]).toMatch(/^tests\/planted\.test\.ts:\d+: /)
})

test.each([
  ['at least so long', 'expect(Date.now() - started).toBeGreaterThanOrEqual(900)'],
  ['a clock of the test', 'expect(Date.parse(ban.expires_at) - clock()).toBeLessThan(3_600_000)'],
  ['a moment before now', 'expect(Date.parse(saved.at)).toBeLessThanOrEqual(Date.now())'],
  [
    'the limit of all',
    "test('long', async () => {\n  await work()\n}, 10 * testMs)\nawait page.getByText('x').waitFor({ timeout: conditionMs })",
  ],
  ['an event with the limit of all', "await within(once(child, 'exit'), 'the end of the child')"],
  ['a size', 'expect(Buffer.byteLength(text)).toBeLessThan(4096)'],
  ['what a server has as a limit', 'expect(await line.send(events, { timeout: 150 })).toMatchObject({ ok: false })'],
])('%s is no judgement of time', (_, text) =>
  expect(clockJudgements({ path: 'tests/planted.test.ts', text })).toEqual([]),
)
