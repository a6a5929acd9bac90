import { expect, test } from 'vitest'
import { Type } from 'typebox'
import { auth, bans, common, shapes } from '@stockade/contract'
import { compileBody, compileText, detailsOf } from './validation.ts'
import type { TextValidator } from './validation.ts'

const messagesOf = (schema: object, data: unknown, compile: (schema: object) => TextValidator = compileBody) => {
  const check = compile(schema)
  return check(data) ? [] : detailsOf(check.errors).map(({ message }) => message)
}

test('a refusal says what the contract says beside the pattern', () => {
  const body = shapes.shape({
    username: auth.username,
    jail: shapes.nullable(common.jailName),
    path: Type.String({ pattern: '^/' }),
  })
  expect(messagesOf(body, { username: 'anna-b', jail: '-x', path: 'x' })).toEqual([
    'username may hold letters, digits and underscores only',
    'jail must begin with a letter or digit; letters, digits, dot, underscore and hyphen follow, 64 in all',
    'path is not one of the allowed values',
  ])
  expect(messagesOf(body, { username: 'anna_b', jail: null, path: '/' })).toEqual([])
  expect(messagesOf(bans.listBans.query, { country: 'NLD' }, compileText)).toEqual([
    'country must be a country code of two letters',
  ])
})

test('only decimal integers count in a query', () => {
  for (const limit of ['1e1', '+5', ' 5', '0x10'])
    expect(messagesOf(bans.listBans.query, { limit }, compileText)).toEqual(['limit must be of type integer'])
  expect(messagesOf(bans.listBans.query, { limit: '50' }, compileText)).toEqual([])
})
