import { expect, it } from 'vitest'
import { changesOf, labelOf, secretsOf } from './form-changes.ts'

const is = { name: 'Stockade', on: false, users: 'anna\nben', key: '' as string | null, knocks: '7000', level: 3 }
const fields = {
  name: 'Site name',
  on: { within: 'Chat', label: 'Post' },
  users: 'Users',
  key: { label: 'API key', isSet: true },
  knocks: { label: 'Knock ports', isPrivate: true },
  level: { label: 'Level', say: (level: number) => `from ${level}` },
}
const lines = (change: Partial<typeof is>) =>
  changesOf(fields, is, { ...is, ...change }, new Set(Object.keys(change) as (keyof typeof is)[])).map(
    ({ name, from, to }) => `${name}: ${from} → ${to}`,
  )

it('says what changes in one line each', () => {
  expect(lines({})).toEqual([])
  expect(lines({ name: ' Fence ', on: true, level: 5 })).toEqual([
    'Site name: Stockade → Fence',
    'Chat, Post: off → on',
    'Level: from 3 → from 5',
  ])
  expect(lines({ users: '', name: '' })).toEqual(['Users: anna, ben → not set', 'Site name: Stockade → not set'])
  expect(lines({ name: 'x'.repeat(500) })[0]?.length).toBeLessThan(160)
})

it('never says a secret', () => {
  expect(lines({ key: 'hush' })).toEqual(['API key: set → a new one'])
  expect(lines({ key: null })).toEqual(['API key: set → not set'])
  expect(secretsOf(fields)).toEqual(['key', 'knocks'])
})

it('names the part of the page where two have the same field', () =>
  expect([labelOf('Name'), labelOf(fields.on)]).toEqual(['Name', 'Chat, Post']))
