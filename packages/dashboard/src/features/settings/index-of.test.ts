import { expect, it } from 'vitest'
import { findSettings } from './index-of.ts'

it.each([
  ['time z', 'general', 'Time zone'],
  ['discord', 'notifications', 'Webhook URL'],
  ['SMTP pass', 'notifications', 'Password'],
  ['2fa', 'security', 'Require 2FA'],
  ['self-test', 'security', 'Self-tests of servers'],
  ['licence key', 'licence', 'Enter a licence key'],
])('%s is found in %s', (typed, section, name) => expect(findSettings(typed)).toContainEqual({ section, name }))
it('puts names that begin so first', () => expect(findSettings('api')[0]?.name).toBe('API key'))
it.each(['', '  ', 'zebra'])('%j finds nothing', typed => expect(findSettings(typed)).toEqual([]))
