import { expect, it } from 'vitest'
import { asTyped, readNames, readTimeout } from './typed.ts'

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
