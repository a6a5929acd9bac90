import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commandTypeNames } from '../src/commands.ts'
import {
  matchesValue,
  parseQuery,
  printQuery,
  queryBounds,
  queryFields,
  rangeOfQuery,
  readsAsIp,
  spanOfQuery,
  termsOf,
} from '../src/query/index.ts'
import type { QueryListing, QueryNode } from '../src/query/index.ts'

const { bans } = queryFields
const read = (text: string) => {
  const parsed = parseQuery(text, bans)
  if (!parsed.ok) throw new Error(parsed.problem.message)
  return parsed.tree
}
const problem = (text: string) => {
  const parsed = parseQuery(text, bans)
  return parsed.ok ? null : parsed.problem
}
/** What a tree says, without places. */
const meaning = (node: QueryNode | null): unknown =>
  node === null
    ? null
    : node.kind === 'term'
      ? [node.field, ...node.values.map(({ text, quoted, compare }) => [text, quoted, compare])]
      : node.kind === 'not'
        ? { not: meaning(node.item) }
        : { [node.kind]: node.items.map(meaning) }
const short = (text: string) => JSON.stringify(meaning(read(text)))

describe('a query', () => {
  test('reads as the page describes it', () => {
    expect(read('  ')).toBeNull()
    expect(short('a b OR c')).toBe(short('(a AND b) OR c'))
    expect(short('a OR b c')).toBe(short('a OR (b c)'))
    expect(short('NOT a b')).toBe(short('-a AND b'))
    expect(short('-(a OR b)')).toBe(short('NOT (a OR b)'))
    expect(short('((a b) c)')).toBe(short('a b c'))
    expect(meaning(read('jail:sshd,"x y" -country:NL times:>=3'))).toEqual({
      and: [
        ['jail', ['sshd', false, '='], ['x y', true, '=']],
        { not: ['country', ['NL', false, '=']] },
        ['times', ['3', false, '>=']],
      ],
    })
    expect(meaning(read('or and not'))).toEqual({
      and: [
        [null, ['or', false, '=']],
        [null, ['and', false, '=']],
        [null, ['not', false, '=']],
      ],
    })
    expect(meaning(read('"OR" "a \\"b\\" \\\\"'))).toEqual({
      and: [
        [null, ['OR', true, '=']],
        [null, ['a "b" \\', true, '=']],
      ],
    })
  })
  test('an IPv6 address is no field', () => {
    for (const ip of ['dead:beef::1', 'fe80::1', 'a::b', '::1', '2001:db8::/32'])
      expect(meaning(read(ip))).toEqual([null, [ip, false, '=']])
    expect(meaning(read('ip:dead:beef::1'))).toEqual(['ip', ['dead:beef::1', false, '=']])
  })
  test('says where each term stands', () => {
    const text = 'x (-jail:sshd,"a b" OR  server:web-*)'
    const places = termsOf(read(text)).map(({ term, excluded }) => [
      text.slice(term.at, term.at + term.length),
      excluded,
      ...term.values.map(value => text.slice(value.at, value.at + value.length)),
    ])
    expect(places).toEqual([
      ['x', false, 'x'],
      ['jail:sshd,"a b"', true, 'sshd', '"a b"'],
      ['server:web-*', false, 'web-*'],
    ])
  })
  test.each([
    ['jial:sshd', 0, 4, 'jail'],
    ['a sever:x', 2, 5, 'server'],
    ['zzzzzz:x', 0, 6, undefined],
    ['state:activ', 6, 5, 'active'],
    ['-state:unbaned', 7, 7, 'unbanned'],
    ['reported:maybe', 9, 5, undefined],
    ['ip:1.2.3', 3, 5, undefined],
    ['ip:203.0.113.0/33', 3, 14, undefined],
    ['score:high', 6, 4, undefined],
    ['score:>', 6, 1, undefined],
    ['times:>=-1', 6, 4, undefined],
    ['banned:2026-02-31', 7, 10, undefined],
    ['country:Germany', 8, 7, undefined],
    ['asn:AS', 4, 2, undefined],
    ['jail:', 0, 5, undefined],
    ['jail:a,', 0, 7, undefined],
    ['"a', 0, 2, undefined],
    ['jail:"a b', 5, 4, undefined],
    ['""', 0, 2, undefined],
    ['(a', 0, 1, undefined],
    ['a)', 1, 1, undefined],
    ['a ()', 2, 2, undefined],
    ['a OR', 2, 2, undefined],
    ['OR a', 0, 2, undefined],
    ['a AND', 2, 3, undefined],
    ['AND a', 0, 3, undefined],
    ['a NOT', 2, 3, undefined],
    ['-(', 1, 1, undefined],
    ['a*b*c*d*e*f*g*h*i*j', 0, 19, undefined],
  ])('%s is wrong, and where', (text, at, length, nearest) => {
    expect(problem(text)).toMatchObject({ at, length, message: expect.stringMatching(/[.?]$/) })
    expect(problem(text)?.nearest).toBe(nearest)
  })
  test('has bounds', () => {
    expect(problem('a'.repeat(1001))).toMatchObject({ at: 1000, length: 1 })
    expect(problem('a '.repeat(queryBounds.terms))).toBeNull()
    expect(problem('a '.repeat(queryBounds.terms + 1))?.message).toMatch(/50 terms/)
    const deep = (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`
    expect(problem(deep(queryBounds.depth))).toBeNull()
    expect(problem(deep(queryBounds.depth + 1))?.message).toMatch(/10 deep/)
    expect(problem(`${'NOT '.repeat(11)}a`)?.message).toMatch(/10 deep/)
    expect(problem('('.repeat(1000))).not.toBeNull()
  })
})

const pieces = fc.constantFrom(
  ...'a|b*|-|"|\\|(|)|,|:| |  |AND|OR|NOT|jail:|server:web|-state:active|ip:|203.0.113.|dead:beef::1|score:>|80|banned:|now|é|\ud800|"x y"|foo:bar|*'.split(
    '|',
  ),
)
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 20 }).map(parts => parts.join('')),
  fc.array(pieces, { maxLength: 12 }).map(parts => parts.join(' ')),
  fc.string({ maxLength: 60 }),
)
const fitting = texts.filter(text => text.length < 500 && parseQuery(text, bans).ok)

describe('for any text', () => {
  test('reading never throws, and a problem lies within it', () => {
    fc.assert(
      fc.property(texts, text => {
        const found = problem(text)
        if (!found) return
        expect(found.at).toBeGreaterThanOrEqual(0)
        expect(found.at + found.length).toBeLessThanOrEqual(text.length)
        expect(found.length).toBeGreaterThan(0)
      }),
      { numRuns: 1000 },
    )
  })
  test('what is printed reads as the same', () => {
    fc.assert(
      fc.property(fitting, text => {
        const tree = read(text)
        expect(meaning(read(printQuery(tree)))).toEqual(meaning(tree))
      }),
      { numRuns: 700 },
    )
  })
})

test('values match whole names, or anywhere in a text', () => {
  const plain = (text: string) => ({ text, quoted: false })
  expect(matchesValue(plain('SSHD'), 'sshd', true)).toBe(true)
  expect(matchesValue(plain('ssh'), 'sshd', true)).toBe(false)
  expect(matchesValue(plain('web-*'), 'WEB-01', true)).toBe(true)
  expect(matchesValue(plain('a*a'), 'a', true)).toBe(false)
  expect(matchesValue(plain('a*b*c'), 'aXbYc', true)).toBe(true)
  expect(matchesValue({ text: 'web-*', quoted: true }, 'web-01', true)).toBe(false)
  expect(matchesValue(plain('ample*ing'), 'Example Hosting Ltd', false)).toBe(true)
  expect(matchesValue(plain('ing*ample'), 'Example Hosting Ltd', false)).toBe(false)
})

test('addresses, ranges and times', () => {
  for (const ip of ['203.0.113.7', '203.0.113.0/24', '::', '2001:db8::1/64', '::ffff:203.0.113.7', '1:2:3:4:5:6:7:8'])
    expect([ip, readsAsIp(ip)]).toEqual([ip, true])
  for (const ip of [
    '1.2.3',
    '256.1.1.1',
    '01.2.3.4',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    'g::',
    '1.2.3.4/',
    '::/129',
  ])
    expect([ip, readsAsIp(ip)]).toEqual([ip, false])
  expect(rangeOfQuery('203.0.113.')).toBe('203.0.113.0/24')
  expect(rangeOfQuery('10.*')).toBe('10.0.0.0/8')
  expect(rangeOfQuery('300.')).toBeNull()
  const day = Date.parse('2026-11-01T00:00:00Z')
  expect(spanOfQuery('2026-11-01', 0)).toEqual({ from: day, to: day + 86_400_000 })
  expect(spanOfQuery('2026-11-01T02:00+02:00', 0)).toEqual({ from: day, to: day + 60_000 })
  expect(spanOfQuery('now-2h', day)).toEqual({ from: day - 7_200_000, to: day - 7_200_000 + 1 })
  expect(spanOfQuery('2026-11-01T25:00Z', 0)).toBeNull()
})

test('every list describes fields that read as they say', () => {
  for (const language of Object.values(queryFields))
    for (const field of language.fields)
      expect([field.example, parseQuery(field.example, language).ok]).toEqual([field.example, true])
  expect(queryFields.commands.fields.find(({ name }) => name === 'type')?.choices).toEqual(commandTypeNames)
})

test('the guide names every field and every choice', () => {
  const guide = readFileSync(new URL('../../../docs/guides/search.md', import.meta.url), 'utf8')
  const sections = { bans: '## Bans', commands: '## Commands', audit: '## Audit log', servers: '## Servers' }
  for (const [listing, title] of Object.entries(sections)) {
    const section = (guide.split(`${title}\n`)[1] ?? '').split('\n## ')[0] ?? ''
    const { fields } = queryFields[listing as QueryListing]
    for (const { name, choices = [] } of fields) {
      expect([listing, name, section.includes(`\`${name}:`)]).toEqual([listing, name, true])
      if (name !== 'type')
        for (const choice of choices) expect([name, section]).toEqual([name, expect.stringContaining(`\`${choice}\``)])
    }
  }
})
