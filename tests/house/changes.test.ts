import { expect, test } from 'vitest'
import { endpoints } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'

/*
 * Every endpoint that changes something says in the contract whether that lasts, so that nothing which outlives a stolen session is forgotten, and every one that
 * adds something says what it leaves and how much of it there may be.
 */

type Stated = Pick<Endpoint, 'method' | 'path' | 'access' | 'status' | 'lasts' | 'leaves'>

/** What an endpoint fails to say. */
const unstated = ({ method, path, access, status, lasts, leaves }: Stated): string[] => {
  if (method === 'GET') return []
  const isByPeople = access !== 'public' && access !== 'agent'
  const name = `${method} ${path}`
  return [
    ...(isByPeople && lasts === undefined ? [`${name} does not say whether its change lasts`] : []),
    ...((method === 'POST' || method === 'PUT') && leaves === undefined ? [`${name} does not say what it leaves`] : []),
    // The status of another protocol says nothing.
    ...(status === 201 && leaves === null && !path.startsWith('/crowdsec/')
      ? [`${name} makes something and says that it leaves nothing`]
      : []),
  ]
}

test('every change says whether it lasts and what it leaves', () => {
  expect(endpoints.flatMap(unstated)).toEqual([])
})

test('a change that says nothing of it is found', () => {
  const planted: Stated = { method: 'POST', path: '/lists', access: 'write', status: 201 }
  expect(unstated(planted)).toHaveLength(2)
  expect(unstated({ ...planted, lasts: true, leaves: null })).toEqual([
    'POST /lists makes something and says that it leaves nothing',
  ])
  expect(unstated({ ...planted, lasts: false, leaves: { what: 'blocklists', most: 50, per: 'fleet' } })).toEqual([])
})
