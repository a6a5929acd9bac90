import { describe, expect, it } from 'vitest'
import { suggest } from './suggest.ts'
import type { Known } from './suggest.ts'

const known: Known = {
  role: 'Admin',
  servers: [
    { id: 's1', hostname: 'web-01.example', status: 'online' },
    { id: 's2', hostname: 'db-01.example', status: 'offline' },
  ],
  templates: [{ id: 1, name: 'sshd', display_name: 'SSH server' }],
  users: [{ id: 7, username: 'anna', email: 'anna@corp.example' }],
  recent: ['203.0.113.7', 'db-01.example', 'gone.example'],
}
const texts = (typed: string, given: Partial<Known> = {}) =>
  suggest(typed, { ...known, ...given }).map(({ text }) => text)

describe('the find box', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['Failed password for root from 203.0.113.9 port 22', '203.0.113.9'],
  ])('offers all that can be done about %s', (typed, ip) => {
    expect(texts(typed).slice(0, 4)).toEqual([
      `About ${ip}`,
      `Unban ${ip} everywhere…`,
      `Ban ${ip}…`,
      `Whitelist ${ip}…`,
    ])
  })
  it('says that an address was taken out of a longer text', () => {
    expect(suggest('from 203.0.113.9 port 22', known)[0]?.act).toEqual({ kind: 'go', path: '/ip/203.0.113.9?taken=1' })
  })
  it('offers a viewer to look, not to act', () => {
    expect(texts('203.0.113.9', { role: 'Viewer' })).toEqual(['About 203.0.113.9'])
  })
  it('takes a range', () => {
    expect(texts('203.0.113.0/24')).toEqual(['Bans within 203.0.113.0/24', 'Whitelist 203.0.113.0/24…'])
    expect(suggest('203.0.113.0/24', known)[0]?.act).toEqual({ kind: 'go', path: '/bans?ip=203.0.113.0%2F24' })
  })
  it.each([
    ['web', { kind: 'go', path: '/servers/s1/overview' }],
    ['SSH', { kind: 'go', path: '/templates/sshd' }],
    ['corp.ex', { kind: 'go', path: '/users/7' }],
    ['inactivity', { kind: 'go', path: '/settings/security' }],
    ['audit', { kind: 'go', path: '/audit' }],
    ['add a user', { kind: 'go', path: '/users/new' }],
    ['replay', { kind: 'go', path: '/siem/replay' }],
    ['dark', { kind: 'scheme', scheme: 'dark' }],
    ['curl', { kind: 'copyRequest' }],
    ['sign out', { kind: 'signOut' }],
  ])('finds %s', (typed, act) => {
    expect(suggest(typed, known).map(line => line.act)).toContainEqual(act)
  })
  it('names servers that are offline by that word', () => {
    expect(texts('offline')).toContain('db-01.example')
  })
  it('shows nothing of an admin’s to others', () => {
    const lines = suggest('a', { ...known, role: 'Viewer', users: [] })
    expect(lines.some(({ act }) => act.kind === 'go' && /^\/(users|settings|audit|servers\/new)/.test(act.path))).toBe(
      false,
    )
  })
  it('begins with what was opened lately and still exists', () => {
    expect(texts('').slice(0, 3)).toEqual(['203.0.113.7', 'db-01.example', 'Overview'])
  })
  it('finds nothing for nonsense', () => {
    expect(texts('xyzzy-plugh')).toEqual([])
  })
})
