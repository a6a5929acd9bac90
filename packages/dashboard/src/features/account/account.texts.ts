import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  sections: 'Account',
  profile: 'Profile',
  security: 'Security',
  keys: 'API keys',
  what: 'your account',
  username: 'Username',
  email: 'Email',
  role: 'Role',
  access: 'Servers',
  allServers: 'All',
  someServers: (count: number) => (count === 1 ? '1 chosen server' : `${number(count)} chosen servers`),
  provider: 'Signs in with',
  password: 'Password',
  created: 'Created',
  lastLogin: 'Last sign-in',
  changes: 'An admin can change these.',
  passwordText: 'Changing it ends your other sessions.',
  byProvider: (provider: string) => `You sign in with ${provider}, so there is no password here to change.`,
  current: 'Current password',
  fresh: 'New password',
  change: 'Change the password',
  changed: 'The password is changed. Your other sessions have ended.',
  same: 'The new password is the current one.',
  factor: 'Two-factor authentication (2FA)',
  factorOn: 'Signing in asks for a code of your authenticator app.',
  codesLeft: (count: number) =>
    count === 0
      ? 'No backup codes left. Create new ones.'
      : plural(count, { one: '1 backup code left.', other: `${number(count)} backup codes left.` }),
  addresses: {
    title: 'Addresses I use',
    text: 'Addresses of your current sessions. A whitelisted address is never banned, on any server.',
    here: 'You are here',
    banned: (count: number) =>
      plural(count, { one: 'Banned on 1 server', other: `Banned on ${number(count)} servers` }),
    free: 'Not banned',
    whitelisted: 'Whitelisted',
    whitelist: 'Whitelist this',
    whitelistOf: (ip: string) => `Whitelist this: ${ip}`,
    note: (name: string) => `${name}’s address`,
  },
  newCodes: 'New backup codes',
  newCodesText: 'The current backup codes stop working.',
  newCodesVerb: 'Create new codes',
  turnOff: 'Disable 2FA…',
  turnOffTitle: 'Disable 2FA',
  turnOffText: 'Your password alone will be enough to sign in. The backup codes stop working.',
  turnOffVerb: 'Disable 2FA',
  turnedOff: '2FA is disabled.',
  factorByProvider: (provider: string) => `${provider} has its own 2FA. This one applies to passwords only.`,
  endOthersText: 'You will be signed out everywhere except in this browser.',
}
export const accountTexts: Catalogue<typeof en> = { name: 'account', en }
