import { expect, it } from 'vitest'
import type { Ban } from '../../api/queries.ts'
import { neighboursOf, rangeAround } from './neighbours.ts'

it.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['2001:db8::1', '2001:db8::1/64'],
])('%s has its neighbours in %s', (ip, range) => expect(rangeAround(ip)).toBe(range))

it('each is told once, with all its bans', () => {
  const ban = (ip: string, occurrences?: number) => ({ ip, ...(occurrences ? { occurrences } : {}) }) as Ban
  expect(neighboursOf([ban('192.0.2.1', 2), ban('192.0.2.9', 40), ban('192.0.2.1', 2)])).toEqual([
    { ip: '192.0.2.9', count: 40 },
    { ip: '192.0.2.1', count: 2 },
  ])
  expect(neighboursOf([ban('192.0.2.1'), ban('192.0.2.1')])).toEqual([{ ip: '192.0.2.1', count: 2 }])
})
