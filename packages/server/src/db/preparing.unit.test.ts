import { expect, test } from 'vitest'
import { createNames } from './preparing.ts'

const often = (nameOf: ReturnType<typeof createNames>, text: string) => {
  for (let n = 1; n < 20; n++) expect(nameOf(text)).toBeUndefined()
  return nameOf(text)
}

test('what comes for the twentieth time gets a name of its own, for good', () => {
  const nameOf = createNames()
  const one = often(nameOf, 'select id from bans where ip = $1')
  const other = often(nameOf, '\n  select count(*) as n from bans')
  expect(one).toEqual(expect.any(String))
  expect(other).toEqual(expect.any(String))
  expect(one).not.toBe(other)
  expect(nameOf('select id from bans where ip = $1')).toBe(one)
})

test.each([
  'select * from bans where id = $1',
  'select "bans".* from "bans"',
  'insert into bans (id) values ($1) returning id',
  'update bans set reported = 1 where id = $1',
  'selected',
  'begin',
])('%s gets none', text => {
  const nameOf = createNames()
  expect(often(nameOf, text)).toBeUndefined()
})

test('there is an end to names, and to what is counted', () => {
  const nameOf = createNames()
  const names = Array.from({ length: 150 }, (_, n) => often(nameOf, `select id from bans limit ${n}`))
  expect(new Set(names.slice(0, 100)).size).toBe(100)
  expect(names.slice(100).every(name => name === undefined)).toBe(true)
  const counting = createNames()
  for (let n = 0; n < 5000; n++) counting(`select id from bans limit ${n}`)
  // All counts were forgotten meanwhile, so the twentieth use is not it.
  expect(often(counting, 'select id from bans limit 0')).toEqual(expect.any(String))
})
