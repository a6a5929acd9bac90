import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvHeader, csvLine, readCsv, readJson, readPlain } from './formats.ts'

const entry = fc.record({ ip: fc.ipV4(), description: fc.string({ unit: 'binary', maxLength: 30 }) })
const hostile = fc.record({
  ip: fc.ipV4(),
  description: fc.string({ unit: fc.constantFrom(...`'"=+-@,;# \t\r\nx＝`), maxLength: 12 }),
})

test('what is written as CSV is read as it was, and begins no cell with a formula', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(entry, hostile), { maxLength: 8 }), entries => {
      const read = [...readCsv(csvHeader + entries.map(csvLine).join(''))]
      expect(read.map(({ ip, description }) => ({ ip, description }))).toEqual(entries)
      for (const { ip, description } of entries)
        expect(csvLine({ ip, description }).slice(ip.length + 1, -2)).not.toMatch(/^"?[=+\-@\t\r\n＝＋－＠]/)
    }),
    { numRuns: 500 },
  )
})
test('no text makes a reader throw', () => {
  const unit = fc.constantFrom(...'",;\n\r#\'= \ufeffip1.', 'ip,description\n', '[', '{"ip":', 'null')
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit }), fc.string({ unit: 'binary' })), text => {
      for (const read of [readPlain, readCsv]) for (const { line } of read(text)) expect(line).toBeGreaterThan(0)
      for (const { line } of readJson(text) ?? []) expect(line).toBeGreaterThan(0)
    }),
    { numRuns: 500 },
  )
})
test.each([
  ['quotes', '""'.repeat(4_000_000)],
  ['cells', ','.repeat(8_000_000)],
  ['quoted cells', '"",'.repeat(2_500_000)],
  ['a quote that is never closed', `"${'x'.repeat(8_000_000)}`],
  ['one cell', 'x'.repeat(8_000_000)],
  ['line ends in quotes', `"${'\n'.repeat(8_000_000)}`],
  ['rows', '"\n"\n'.repeat(500_000)],
])('8 MB of %s are read to the end', (_, content) => {
  // A reader that goes back and forth would take hours, and the test's own limit ends it.
  for (const _candidate of readCsv(content));
})
test('deep nesting is an error of its entry', () => {
  const deep = `[${'['.repeat(5000)}${']'.repeat(5000)},{"ip":${'['.repeat(5000)}${']'.repeat(5000)}}]`
  expect([...(readJson(deep) ?? [])].map(({ line, error }) => [line, error !== undefined])).toEqual([
    [1, true],
    [2, true],
  ])
})
