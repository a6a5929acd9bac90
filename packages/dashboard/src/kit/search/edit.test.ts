import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseQuery, queryBounds, queryFields, termsOf } from '@stockade/contract/query/index.ts'
import { completionAt } from './completion-at.ts'
import { addTerm, excludeTerm, removeTerm } from './edit.ts'
import { meaningOf } from './completion.ts'

const { bans } = queryFields
const read = (text: string) => {
  const parsed = parseQuery(text, bans)
  if (!parsed.ok) throw new Error(parsed.problem.message)
  return parsed.tree
}

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

describe('any text', () => {
  const values = fc.oneof(
    fc.constantFrom('sshd', 'a b', 'x"y', 'a*', '>3', 'a,b', '(x)', 'AND', '-', '\\'),
    fc.string({ minLength: 1, maxLength: 8 }),
  )
  test.each([
    ['added', addTerm],
    ['excluded', excludeTerm],
  ])('a term that is %s is there, and can be taken out again', (_, change) => {
    fc.assert(
      fc.property(fitting, values, (text, value) => {
        if (removeTerm(text, bans, 'jail', value) !== text) return
        const added = change(text, bans, 'jail', value)
        if (!parseQuery(added, bans).ok) {
          expect(termsOf(read(text)).length + 1).toBeGreaterThan(queryBounds.terms)
          return
        }
        const all = termsOf(read(added)).filter(({ term }) => term.field === 'jail' && term.values[0]?.text === value)
        expect(all.length).toBeGreaterThan(0)
        expect(change(added, bans, 'jail', value)).toBe(added)
        expect(removeTerm(added, bans, 'jail', value)).toBe(text)
      }),
      { numRuns: 700 },
    )
  })
  test('a place in it can be completed, within the text', () => {
    fc.assert(
      fc.property(texts, fc.nat(70), (text, caret) => {
        const found = completionAt(text, Math.min(caret, text.length), bans)
        if (!found) return
        expect(found.at + found.length).toBeLessThanOrEqual(text.length)
        expect(found.at).toBeLessThanOrEqual(Math.min(caret, text.length))
      }),
      { numRuns: 400 },
    )
  })
})

test('adding and excluding a value change places', () => {
  expect(addTerm('a OR b', bans, 'jail', 'sshd')).toBe('jail:sshd (a OR b)')
  expect(excludeTerm('jail:sshd country:NL', bans, 'jail', 'sshd')).toBe('country:NL -jail:sshd')
  expect(addTerm('-org:"Example Hosting" x', bans, 'org', 'Example Hosting')).toBe('x org:"Example Hosting"')
  expect(removeTerm('a OR jail:sshd', bans, 'jail', 'sshd')).toBe('a OR jail:sshd')
})

test('what is typed is known: a field, a value, nothing', () => {
  const at = (text: string) => completionAt(text, text.length, bans)
  expect(at('')).toMatchObject({ kind: 'field', at: 0, length: 0 })
  expect(at('')?.options).toHaveLength(bans.fields.length)
  expect(at('a -ja')).toMatchObject({ kind: 'field', at: 3, length: 2, options: ['jail:'] })
  expect(at('state:')).toMatchObject({ kind: 'value', at: 6, length: 0, options: ['active', 'expired', 'unbanned'] })
  expect(at('state:active,ex')).toMatchObject({ kind: 'value', at: 13, length: 2, options: ['expired'] })
  expect(at('(org:"Exa')).toMatchObject({ kind: 'value', at: 5, length: 4, typed: 'Exa', field: { name: 'org' } })
  expect(at('"Exa')).toBeNull()
  expect(completionAt('jail:sshd x', 7, bans)).toMatchObject({ kind: 'value', at: 5, length: 4, typed: 'ss' })
})

test('every field of every list has a meaning in words', () => {
  for (const language of Object.values(queryFields))
    for (const { name } of language.fields)
      expect([name, meaningOf(language, name)]).toEqual([name, expect.stringMatching(/\S/)])
})
