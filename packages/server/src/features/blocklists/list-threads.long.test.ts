import { expect, test } from 'vitest'
import { gzipSync } from 'node:zlib'
import { packSpans, spansOfNetworks } from '@stockade/contract/spans.ts'
import type { BuildJob } from './content.ts'
import { createListThreads } from './list-threads.ts'

const nothing = packSpans(spansOfNetworks([]))
const jobOf = (text: string, more: Partial<BuildJob> = {}): BuildJob => ({
  given: { kind: 'answer', body: gzipSync(text) },
  reading: { format: 'auto', column: null, allowsWide: false },
  cuts: { private: nothing, whitelisted: nothing, own: nothing, managed: nothing, people: nothing },
  most: 200_000,
  before: null,
  named: null,
  ...more,
})
const limits = { time: 60_000, memory: 192, waiting: 1 }
const threads = createListThreads()

test('the event loop turns while a content is read', async () => {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  turn()
  const built = await threads.run('build', jobOf('198.51.100.1\n'.repeat(100_000)))
  isOver = true
  expect(built).toMatchObject({ entries: 1, left_out: { duplicates: 99_999 } })
  // Reading all of it in one turn, or in slices of 8 ms, takes some dozen.
  expect(turns).toBeGreaterThan(1000)
})

test.each([['IPv6', (n: number) => `2001:db8:${(n >> 15).toString(16)}:${((n & 0x7fff) * 2).toString(16)}`]])(
  'spans of %s that hide many entries are refused',
  async (_, network) => {
    const text = Array.from({ length: 5000 }, (_, n) => `${network(n)}::1-${network(n)}:ffff:ffff:ffff:fffe`).join('\n')
    await expect(threads.run('build', jobOf(text))).rejects.toThrow(/more than 200,000 entries/)
  },
)
test('spans of IPv4 that hide many entries are refused', async () => {
  const text = Array.from(
    { length: 20_000 },
    (_, n) =>
      `${8 + (n >> 12)}.${(n >> 4) & 255}.${(n & 15) * 16}.1-${8 + (n >> 12)}.${(n >> 4) & 255}.${(n & 15) * 16 + 15}.254`,
  )
  await expect(threads.run('build', jobOf(text.join('\n')))).rejects.toThrow(/more than 200,000 entries/)
})

test.each([
  ['JSON of millions of values', `[${'{},'.repeat(7_000_000)}{}]`, /JSON of more than/],
  ['deep JSON', '['.repeat(20 * 1024 * 1024), /nested deeper/],
  ['what expands to much', ' '.repeat(30 * 1024 * 1024), /expands to more than 24 MiB/],
])('%s is refused', async (_, text, reason) => {
  await expect(threads.run('build', jobOf(text))).rejects.toThrow(reason)
})

test.each([
  ['spaces', `198.51.100.1 ${' '.repeat(4070)}x\n`],
  ['spaces and dashes', `198.51.100.1-198.51.100.1${' -'.repeat(2020)}\n`],
  ['commas', `198.51.100.1${','.repeat(4070)}x\n`],
  ['quotes', `198.51.100.1,${'"'.repeat(4070)}\n`],
  ['signs of comments', `198.51.100.1 ${'/ '.repeat(2030)}\n`],
])('lines of %s are read in time: an expression that begins anew at each sign would take minutes', async (_, line) => {
  const strict = createListThreads({ ...limits, time: 15_000 })
  expect(await strict.run('build', jobOf(line.repeat(1450)))).toMatchObject({ entries: 1 })
})

test('a content that takes too long is given up, and the next one is read', async () => {
  const hasty = createListThreads({ ...limits, time: 1 })
  await expect(hasty.run('build', jobOf('198.51.100.1'))).rejects.toThrow(/takes longer to read/)
  await expect(hasty.run('build', jobOf('198.51.100.1'))).rejects.toThrow(/takes longer to read/)
})

test('a content that takes too much memory is given up, and the next one is read', async () => {
  const poor = createListThreads({ ...limits, memory: 24 })
  const large = Array.from(
    { length: 190_000 },
    (_, n) => `2001:db8:${(n >> 15).toString(16)}:${((n & 0x7fff) * 2).toString(16)}::1`,
  ).join('\n')
  await expect(poor.run('build', jobOf(large))).rejects.toThrow(/takes more memory/)
  expect(await poor.run('build', jobOf('198.51.100.1'))).toMatchObject({ entries: 1 })
})

test('one content is read at a time, and few wait', async () => {
  const busy = createListThreads(limits)
  const both = [busy.run('build', jobOf('198.51.100.1')), busy.run('build', jobOf('198.51.100.2'))]
  await expect(busy.run('build', jobOf('198.51.100.3'))).rejects.toThrow(/Many lists are being read/)
  expect((await Promise.all(both)).map(({ samples }) => samples)).toEqual([['198.51.100.1'], ['198.51.100.2']])
})
