import { expect, it } from 'vitest'
import { groupsOf, isOlder, placesOf, strayed } from './groups.ts'
import type { Status } from './groups.ts'

const row = (id: string, status: Status) => ({ id, status })

it('puts what needs a look on top', () => {
  const rows = [row('a', 'online'), row('b', 'offline'), row('c', 'pending'), row('d', 'offline')]
  expect(groupsOf(rows, placesOf(rows)).map(({ status, rows: of }) => [status, of.map(({ id }) => id)])).toEqual([
    ['offline', ['b', 'd']],
    ['pending', ['c']],
    ['online', ['a']],
  ])
})
it('leaves a server where it is when its state changes, and puts new ones where they belong', () => {
  const places = placesOf([row('a', 'online'), row('b', 'online')])
  const later = [row('a', 'offline'), row('b', 'online'), row('c', 'offline')]
  const kept = placesOf(later, places)
  expect(groupsOf(later, kept).map(({ status, rows: of }) => [status, of.map(({ id }) => id)])).toEqual([
    ['offline', ['c']],
    ['online', ['a', 'b']],
  ])
  expect(strayed(later, kept)).toBe(1)
  expect(strayed(later, placesOf(later))).toBe(0)
})
it.each([
  ['0.1.0', '0.2.0', true],
  ['0.9.0', '0.10.0', true],
  ['1.0.0', '0.9.9', false],
  ['0.2.0', '0.2.0', false],
  [null, '0.2.0', false],
  ['dev', '0.2.0', false],
])('an agent %s beside a server %s: %j', (agent, newest, older) => expect(isOlder(agent, newest)).toBe(older))
