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

const plain = (text: string) => [...readPlain(text)].map(({ line, ip, description }) => [line, ip, description])
test.each<[string, readonly (readonly [number, string, string])[]]>([
  ['192.0.2.2 ; branch', [[1, '192.0.2.2', 'branch']]],
  ['192.0.2.3 // vpn', [[1, '192.0.2.3', 'vpn']]],
  ['; a comment\n// another\n192.0.2.4', [[3, '192.0.2.4', '']]],
  [
    '192.0.2.1, 192.0.2.3, 192.0.2.5',
    [
      [1, '192.0.2.1', ''],
      [1, '192.0.2.3', ''],
      [1, '192.0.2.5', ''],
    ],
  ],
  [
    '192.0.2.1 192.0.2.2 # two',
    [
      [1, '192.0.2.1', 'two'],
      [1, '192.0.2.2', 'two'],
    ],
  ],
  [
    '192.0.2.1;192.0.2.2;192.0.2.3',
    [
      [1, '192.0.2.1', ''],
      [1, '192.0.2.2', ''],
      [1, '192.0.2.3', ''],
    ],
  ],
  ['192.0.2.4-192.0.2.7', [[1, '192.0.2.4/30', '']]],
  ['192.0.2.0/255.255.255.0', [[1, '192.0.2.0/24', '']]],
  ['192.0.2.1 office Hamburg', [[1, '192.0.2.1', 'office Hamburg']]],
  [
    'ignoreip = 127.0.0.1/8 ::1 198.51.100.2\n           203.0.113.0/24',
    [
      [1, '127.0.0.1/8', ''],
      [1, '::1', ''],
      [1, '198.51.100.2', ''],
      [2, '203.0.113.0/24', ''],
    ],
  ],
  [
    'ignoreip = 192.0.2.1 home.dyn.example',
    [
      [1, '192.0.2.1', ''],
      [1, 'home.dyn.example', ''],
    ],
  ],
])('%j is read as other programs write it', (text, expected) => expect(plain(text)).toEqual(expected))
test('a range that is no few networks is an error of its line', () =>
  expect([...readPlain('::1-ffff::')]).toMatchObject([{ line: 1, error: expect.stringContaining('more than 64') }]))

const end = '2030-01-01T00:00:00Z'
test.each([
  [`value,description,expiration,created_at\n192.0.2.1,x,${end},2020\n192.0.2.2,y,never,2020\n`],
  [`IP Address;Comment;Expires\n192.0.2.1;x;${end}\n192.0.2.2;y;\n`],
  [`cidr,expiry,remark\n192.0.2.1/32,${end},x\n192.0.2.2,permanent,y\n`],
])('CSV %j keeps its ends', text =>
  expect([...readCsv(text)]).toMatchObject([
    { ip: '192.0.2.1', description: 'x', expires_at: end },
    { ip: '192.0.2.2', description: 'y' },
  ]),
)
test('a column that may tell of ends and is not read is an error of each row that has a value there', () => {
  const [first, second] = [...readCsv('ip,duration\n192.0.2.1,1h\n192.0.2.2,\n')]
  expect(first?.error).toContain('The column duration was not read')
  expect(second?.error).toBeUndefined()
})
test('JSON of other programs keeps its ends', () => {
  const items = [
    { value: '192.0.2.1', reason: 'x', expiration: end },
    { value: '192.0.2.2', expiration: null },
    { value: '192.0.2.3', ttl: 60 },
  ]
  expect([...(readJson(JSON.stringify({ items })) ?? [])]).toMatchObject([
    { ip: '192.0.2.1', description: 'x', expires_at: end },
    { ip: '192.0.2.2' },
    { ip: '192.0.2.3', error: expect.stringContaining('ttl was not read') },
  ])
})
