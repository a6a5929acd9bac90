import { describe, expect, it } from 'vitest'
import { guardedAmong, guardedByTemplate, guardsSsh } from '../src/guards-ssh.ts'

describe('a jail that guards SSH', () => {
  it.each(['sshd', 'ssh', 'SSHD', 'sshd-ddos', 'sshd_aggressive', 'ssh-iptables', 'my-sshd', 'dropbear', 'Dropbear-2'])(
    'is told by its name: %s',
    name => expect(guardsSsh(name)).toBe(true),
  )
  it('or by its filter', () => {
    expect(guardsSsh('logins', 'sshd[mode=aggressive]')).toBe(true)
    expect(guardsSsh('logins', 'dropbear')).toBe(true)
    expect(guardsSsh('logins', null)).toBe(false)
  })
  it.each(['postfix', 'nginx-http-auth', 'recidive', 'sshguards', 'selinux', ''])('is not %s', name =>
    expect(guardsSsh(name, 'nginx-http-auth')).toBe(false),
  )
})

describe('the servers that lose a guard', () => {
  const servers = ['a', 'b', 'c'].map(id => ({ id, hostname: `web-${id}` }))
  const told = [
    { server: { id: 'a' }, filter: 'sshd[mode=aggressive]' },
    { server: { id: 'b' }, filter: 'dovecot' },
    { server: { id: 'elsewhere' }, filter: 'sshd' },
  ]
  it('are those that say so of its filter', () =>
    expect(guardedAmong('logins', servers, told).map(({ id }) => id)).toEqual(['a']))
  it('are all by its name, also such that have said nothing yet', () =>
    expect(guardedAmong('sshd', servers, told).map(({ id }) => id)).toEqual(['a', 'b', 'c']))
  it('with a template are those that have it, and where it runs', () => {
    const jail = { server: { id: 'a' }, filter: null, enabled: true, template: 'sshd' }
    const of = (more: object, name = 'sshd') => guardedByTemplate(name, servers, [{ ...jail, ...more }]).length
    expect([of({}), of({ enabled: false }), of({ template: null }), of({ server: { id: 'elsewhere' } })]).toEqual([
      1, 0, 0, 0,
    ])
    expect([of({ template: 'logins', filter: 'sshd' }, 'logins'), of({ template: 'logins' }, 'logins')]).toEqual([1, 0])
  })
})
