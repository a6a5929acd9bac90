import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  sections: 'Account',
  profile: 'Profile',
  security: 'Security',
  keys: 'API keys',
  what: 'your account',
  username: 'Username',
  email: 'E-mail',
  role: 'Role',
  access: 'Servers',
  allServers: 'All',
  someServers: (count: number) => (count === 1 ? '1 chosen server' : `${count} chosen servers`),
  provider: 'Signs in with',
  password: 'Password',
  created: 'Created',
  lastLogin: 'Last sign-in',
  changes: 'An admin can change these.',
  passwordText: 'A change ends your other sessions.',
  byProvider: (provider: string) => `You sign in with ${provider}, so there is no password here to change.`,
  current: 'Current password',
  fresh: 'New password',
  change: 'Change the password',
  changed: 'The password is changed. Your other sessions have ended.',
  same: 'The new password is the current one.',
  factor: 'Second factor',
  factorOn: 'Signing in asks for a code of your authenticator app.',
  codesLeft: (count: number) =>
    count === 0
      ? 'No backup code is left. Make new ones before you lose the phone.'
      : plural(count, { one: '1 backup code is left.', other: `${count} backup codes are left.` }),
  addresses: {
    title: 'Addresses I use',
    text: 'Where your open sessions began. A whitelisted address is never banned, on any server.',
    here: 'You are here',
    banned: (count: number) => plural(count, { one: 'Banned on 1 server', other: `Banned on ${count} servers` }),
    free: 'Not banned',
    whitelisted: 'Whitelisted',
    whitelist: 'Whitelist this',
    whitelistOf: (ip: string) => `Whitelist this: ${ip}`,
    note: (name: string) => `${name}’s address`,
  },
  newCodes: 'New backup codes',
  newCodesText: 'The present backup codes stop working, whether they were used or not.',
  newCodesVerb: 'Make new codes',
  turnOff: 'Turn it off…',
  turnOffTitle: 'Turn the second factor off',
  turnOffText: 'Your password alone is enough to sign in then. The backup codes stop working too.',
  turnOffVerb: 'Turn it off',
  turnedOff: 'The second factor is off.',
  factorByProvider: (provider: string) =>
    `${provider} asks for its own second factor; this one is for a password only.`,
  endOthersText: 'Everywhere but in this browser you will have to sign in again.',
}
export const accountTexts: Catalogue<typeof en> = { name: 'account', en }
