import { expect, it } from 'vitest'
import { banEnds } from './attack.ts'

const ban = (server: string, expires_at: string | null) => ({ server_id: `id of ${server}`, server, expires_at })

it('bans of one minute are one end', () => {
  expect(banEnds([ban('a', '2026-11-29T08:31:05Z'), ban('b', '2026-11-29T08:31:40Z')])).toEqual([
    { servers: ['a', 'b'], end: Date.parse('2026-11-29T08:31:40Z') },
  ])
})
it('a server lets an address in after the last of its bans, the others before that', () => {
  const ends = banEnds([
    ban('git', '2026-12-02T16:16:00Z'),
    ban('web', '2026-11-29T08:31:00Z'),
    ban('git', '2026-11-29T08:31:00Z'),
    ban('db', null),
  ])
  expect(ends).toEqual([
    { servers: ['web'], end: Date.parse('2026-11-29T08:31:00Z') },
    { servers: ['git'], end: Date.parse('2026-12-02T16:16:00Z') },
    { servers: ['db'], end: Infinity },
  ])
})
it('without bans there is no end', () => expect(banEnds([])).toEqual([]))
