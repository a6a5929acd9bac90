import { expect, it } from 'vitest'
import { asTyped, isTimeZone, readNames, readTimeout, readWhole } from './typed.ts'

it.each([
  [604_800, '7d'],
  [90_000, '25h'],
  [5400, '90m'],
  [61, '61s'],
])('%i seconds: %s, and back', (seconds, typed) => {
  expect(asTyped(seconds)).toBe(typed)
  expect(readTimeout(typed)).toBe(seconds)
})
it.each(['59s', '91d', 'perm', '', '-1d', 'soon'])('%j is no time of a session', typed =>
  expect(readTimeout(typed)).toBeNull(),
)
it('reads names in lines and with commas', () =>
  expect(readNames(' anna\n\nberta, carla;anna ')).toEqual(['anna', 'berta', 'carla']))
it.each([
  ['0', 0],
  [' 1000 ', 1000],
  ['1,000', 1000],
  ['1.000.000', 1_000_000],
  ['7.5', null],
  ['1000001', null],
  ['-1', null],
  ['1e3', null],
  ['', null],
])('%j as a whole number up to a million: %j', (typed, value) => expect(readWhole(typed, 0, 1_000_000)).toBe(value))
it('knows time zones', () => {
  expect(isTimeZone('Europe/Vienna')).toBe(true)
  expect(isTimeZone('Moon/Sea')).toBe(false)
  expect(isTimeZone('')).toBe(false)
})
