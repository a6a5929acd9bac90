import { describe, expect, it } from 'vitest'
import { guardsSsh } from './guards-ssh.ts'

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
