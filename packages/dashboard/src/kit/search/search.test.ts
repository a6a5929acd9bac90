import { describe, expect, it } from 'vitest'
import { queryFields } from '@stockade/contract/query/index.ts'
import { choose, offersAt } from './completion.ts'
import type { Suggested } from './completion.ts'
import { conditionsOf, merged, narrowing, valueOf, withValue } from './terms.ts'

const language = queryFields.bans
const known: Readonly<Record<string, readonly Suggested[]>> = {
  jail: [{ value: 'sshd' }, { value: 'nginx-http-auth' }, { value: 'my jail' }],
  country: [
    { value: 'NL', label: 'Netherlands' },
    { value: 'DE', label: 'Germany' },
  ],
}
const valuesOf = (field: string) => known[field] ?? []
const offered = (text: string, caret = text.length, asked = false) =>
  offersAt(text, caret, language, valuesOf, asked)?.list.map(({ text }) => text) ?? []

describe('what is offered', () => {
  it.each([
    ['ja', ['jail:']],
    ['jail:', ['sshd', 'nginx-http-auth', '"my jail"']],
    ['jail:ng', ['nginx-http-auth']],
    ['-jail:auth', ['nginx-http-auth']],
    ['jail:sshd', []],
    ['country:germ', ['DE']],
    ['state:', ['active', 'expired', 'unbanned']],
    ['banned:>now-2', ['>now-24h']],
    ['nether', ['country:NL']],
    ['ss', ['jail:sshd']],
    ['', []],
    ['jail:sshd ', []],
    ['"jail', []],
    ['nowhere:x', []],
  ])('%j: %j', (text, list) => expect(offered(text)).toEqual(list))
  it('is every field when it is asked for', () =>
    expect(offered('jail:sshd ', 10, true)).toEqual(language.fields.map(({ name }) => `${name}:`)))
  it.each([
    ['ja', 'jail:', 5],
    ['jail:s', 'jail:sshd ', 10],
    ['(jail:s)', '(jail:sshd)', 10],
  ])('%j becomes %j', (text, then, caret) => {
    const at = text.replace(')', '').length
    const offers = offersAt(text, at, language, valuesOf)
    const [first] = offers?.list ?? []
    expect(offers && first && choose(text, offers, first)).toEqual({ text: then, caret })
  })
})

describe('the conditions of a query', () => {
  it('are told with what is left without each', () =>
    expect(conditionsOf('jail:sshd AND -country:NL (a OR b)', language)).toEqual([
      { text: 'jail:sshd', rest: '-country:NL (a OR b)', field: 'jail', value: 'sshd' },
      { text: '-country:NL', rest: 'jail:sshd (a OR b)', field: null, value: null },
      { text: 'a OR b', rest: 'jail:sshd -country:NL', field: null, value: null },
    ]))
  it('are none where it can not be read', () => expect(conditionsOf('jail:', language)).toEqual([]))
  it.each([
    ['', 'NL', 'country:NL'],
    ['country:DE jail:sshd', 'NL', 'jail:sshd country:NL'],
    ['country:DE,FR jail:sshd', '', 'jail:sshd'],
    ['a OR b', 'NL', 'country:NL (a OR b)'],
  ])('%j with the country %j is %j', (query, value, then) => {
    expect(withValue(query, language, 'country', value)).toBe(then)
    expect(valueOf(then, language, 'country')).toBe(value || undefined)
  })
})

describe('what is typed while a click changes the query', () => {
  it.each([
    ['root', '', 'state:active', 'state:active root'],
    ['jail:sshd root ', 'jail:sshd', 'jail:sshd state:active', 'state:active jail:sshd root '],
    ['state:active root', 'state:active', '', 'root'],
    ['a OR b', '', 'jail:sshd', 'jail:sshd (a OR b)'],
    ['a', '', 'b OR c', '(b OR c) a'],
    ['', 'jail:sshd', 'jail:sshd state:active', 'state:active'],
    ['state:active', '', 'state:active', 'state:active'],
  ])('%j, and %j becomes %j: %j', (typed, before, asked, then) =>
    expect(merged(typed, before, asked, language)).toBe(then),
  )
})

describe('narrowing a list', () => {
  const narrowed = (query: string) => {
    const asked: string[] = []
    const by = narrowing(language, change => asked.push(change(query)))
    by.only('jail', 'sshd')
    by.without('jail', 'sshd')
    return asked
  }
  it('adds to what it is searched by', () =>
    expect(narrowed('country:NL')).toEqual(['country:NL jail:sshd', 'country:NL -jail:sshd']))
  it('takes back what would leave nothing', () => {
    expect(narrowed('jail:sshd')).toEqual(['jail:sshd', '-jail:sshd'])
    expect(narrowed('-jail:sshd')).toEqual(['jail:sshd', '-jail:sshd'])
  })
})
