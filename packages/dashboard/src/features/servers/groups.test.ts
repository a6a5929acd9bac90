import { expect, it } from 'vitest'
import { inGroups, isOlder, placesOf, strayed } from './groups.ts'

const states = {
  fine: ['online', 'protected'],
  degraded: ['online', 'degraded'],
  offline: ['offline', 'unknown'],
  pending: ['pending', 'unknown'],
} as const
const row = (id: string, is: keyof typeof states) => {
  const [status, level] = states[is]
  return { id, status, protection: { level } }
}

it('puts what needs attention on top', () => {
  const rows = [row('a', 'fine'), row('b', 'offline'), row('c', 'pending'), row('d', 'degraded')]
  const places = placesOf(rows)
  expect(inGroups(rows, places).map(({ id }) => [places.get(id), id])).toEqual([
    ['attention', 'b'],
    ['attention', 'd'],
    ['waiting', 'c'],
    ['protected', 'a'],
  ])
})
it('leaves a server where it is when its state changes, and puts new ones where they belong', () => {
  const places = placesOf([row('a', 'fine'), row('b', 'fine')])
  const later = [row('a', 'offline'), row('b', 'fine'), row('c', 'offline')]
  const kept = placesOf(later, places)
  expect(inGroups(later, kept).map(({ id }) => [kept.get(id), id])).toEqual([
    ['attention', 'c'],
    ['protected', 'a'],
    ['protected', 'b'],
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
