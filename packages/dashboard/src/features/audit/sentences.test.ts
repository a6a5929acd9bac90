import { expect, it } from 'vitest'
import { detailsOf, sentenceOf } from './sentences.ts'

it.each<[string, string, Record<string, unknown>, string]>([
  ['a ban', 'command.create', { type: 'ban-ip', params: { ip: '203.0.113.7', jail: 'sshd' } }, 'Banned 203.0.113.7'],
  [
    'where it was asked',
    'command.create',
    { type: 'unban-ip', params: { ip: '203.0.113.7' }, hostname: 'git-01' },
    'Unbanned 203.0.113.7 on git-01',
  ],
  [
    'where an unban was asked for',
    'ban.remove',
    { ip: '203.0.113.7', jail: 'sshd', hostname: 'git-01' },
    'Requested an unban: 203.0.113.7 on git-01',
  ],
  ['a server that something was done to', 'server.create', { hostname: 'git-01' }, 'Added the server git-01'],
  [
    'a fleet ban',
    'fleet_ban.create',
    { entry: '203.0.113.0/24', reason: 'spam' },
    'Banned on the fleet: 203.0.113.0/24',
  ],
  [
    'another command',
    'command.create',
    { type: 'jail-reload', params: { jail: 'sshd' } },
    'Sent a command: Reload sshd',
  ],
  ['a command of a later version', 'command.create', { type: 'dance', params: {} }, 'Sent a command: dance'],
  [
    'what was cancelled',
    'command.cancel',
    { type: 'unban-ip', params: { ip: '203.0.113.7' } },
    'Cancelled a command: Unbanned 203.0.113.7',
  ],
  ['a thing', 'whitelist.add', { ip: '192.0.2.0/24', description: 'Office' }, 'Whitelisted 192.0.2.0/24'],
  [
    'a setting by its name',
    'settings.update',
    { field: 'security.session_timeout' },
    'Changed Sign out after inactivity',
  ],
  ['nothing but the action', 'auth.login', { method: 'password' }, 'Signed in'],
  ['an action of a later version', 'moon.rise', { name: 'Luna' }, 'moon.rise: Luna'],
])('says %s', (_, action, details, said) => expect(sentenceOf({ action, details })).toBe(said))

it('leaves the server out where one entry stands for several', () => {
  const details = { type: 'ban-ip', params: { ip: '203.0.113.7' }, hostname: 'git-01' }
  expect(sentenceOf({ action: 'command.create', details }, 10)).toBe('Banned 203.0.113.7')
})

it('says the rest in words: what changed first, without what the sentence has', () => {
  expect(
    detailsOf({
      action: 'settings.update',
      details: { field: 'security.session_timeout', old_value: 3600, new_value: 86_400 },
    }),
  ).toEqual([{ name: '', from: '1 h', to: '1 d' }])
  expect(
    detailsOf({
      action: 'user.update',
      details: { username: 'olga', old_role: 'Viewer', role: 'Operator', mfa_on: true },
    }),
  ).toEqual([
    { name: 'Role', from: 'Viewer', to: 'Operator' },
    { name: '2FA', to: 'on' },
  ])
  expect(
    detailsOf({
      action: 'list.update',
      details: { id: 3, name: 'DROP', old_mode: 'observe', mode: 'enforce', fields: ['q', 'moon_phase'] },
    }),
  ).toEqual([
    { name: 'Effect', from: 'Only counts', to: 'Drops' },
    { name: 'Changed', to: 'Search, moon phase' },
  ])
  expect(
    detailsOf({
      action: 'command.create',
      details: { id: 'x', type: 'ban-ip', params: { ip: '203.0.113.7', jail: '*', duration: 600, reason: 'spam' } },
    }),
  ).toEqual([
    { name: 'Duration', to: '10 min' },
    { name: 'Reason', to: 'spam' },
  ])
})
