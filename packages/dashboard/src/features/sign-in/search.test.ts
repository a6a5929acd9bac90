import { expect, it } from 'vitest'
import { providerErrors, readSignInSearch } from './search.ts'

it('reads what it knows', () =>
  expect(readSignInSearch({ next: '/bans', ended: '1', why: 'tries', colour: 'red' })).toEqual({
    next: '/bans',
    ended: '1',
    why: 'tries',
  }))
it.each([[{ ended: 'yes' }], [{ why: '<b>' }], [{ next: '' }], [{ error: '' }]])('leaves out %j', raw =>
  expect(readSignInSearch(raw)).toEqual({}),
)
it.each(providerErrors)('keeps the error %s', error => expect(readSignInSearch({ error })).toEqual({ error }))
it('does not hide an error that it does not know', () =>
  expect(readSignInSearch({ error: '<script>' })).toEqual({ error: 'other' }))
