import { expect, it } from 'vitest'
import { toldOf } from './details.ts'

it('tells a setting from what to what', () =>
  expect(toldOf({ field: 'security.mfa_required', old_value: false, new_value: true })).toEqual([
    { name: 'security.mfa_required', from: 'false', to: 'true' },
  ]))
it('finds the old value of what has one, and tells it first', () =>
  expect(toldOf({ id: 'x', username: 'olga', old_role: 'Viewer', role: 'Operator' })).toEqual([
    { name: 'role', from: 'Viewer', to: 'Operator' },
    { name: 'username', to: 'olga' },
  ]))
it('has words for nothing and for many', () =>
  expect(toldOf({ field: 'email.recipients', old_value: [], new_value: ['a@b.example', 'c@d.example'] })).toEqual([
    { name: 'email.recipients', from: '–', to: 'a@b.example, c@d.example' },
  ]))
it('tells pairs of old and new values one by one', () =>
  expect(toldOf({ name: 'SSH', fields: ['timeout'], old: { timeout: 30 }, new: { timeout: 60 } })).toEqual([
    { name: 'timeout', from: '30', to: '60' },
    { name: 'name', to: 'SSH' },
  ]))
it('keeps an old value that has no new one', () =>
  expect(toldOf({ old_hostname: 'web-01' })).toEqual([{ name: 'old_hostname', to: 'web-01' }]))
it('tells what is within a value in words too', () =>
  expect(toldOf({ type: 'ban-ip', params: { jail: 'sshd', ip: '203.0.113.7', force: true }, settings: {} })).toEqual([
    { name: 'type', to: 'ban-ip' },
    { name: 'params', to: 'jail sshd, ip 203.0.113.7, force true' },
  ]))
