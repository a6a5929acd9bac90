import { plural } from '../../texts/catalogue.ts'
import type { Catalogue } from '../../texts/catalogue.ts'

const en = {
  sections: 'Settings',
  security: 'Security',
  oauth: 'Sign-in providers',
  what: 'the settings',
  saved: 'Saved.',
  discard: 'Discard',
  willChange: 'Not saved yet:',
  change: (name: string, from: string, to: string) => `${name}: ${from} → ${to}`,
  on: 'on',
  off: 'off',
  set: 'set',
  notSet: 'not set',
  changedTo: 'a new one',
  empty: 'nobody',
  timeout: 'Sessions end without use after',
  timeoutHelp: 'Such as 12h, 7d or 90d; at least 1 minute, at most 90 days. 7d unless changed.',
  timeoutWrong: 'Enter a time between 1m and 90d.',
  length: 'Shortest password',
  lengthHelp: '8 to 128 characters. It counts for passwords that are chosen from now on.',
  lengthWrong: 'Enter a number from 8 to 128.',
  factor: 'Require a second factor',
  factorHelp: 'Whoever has none can do nothing but set one up. A sign-in with a provider counts as having one.',
  without: (none: number, total: number) =>
    none === 0
      ? plural(total, { one: 'The only user has one.', other: `All ${total} users have one.` })
      : `${none} of ${total} ${plural(total, { one: 'user', other: 'users' })} ${plural(none, { one: 'has', other: 'have' })} none.`,
  withoutMany: 'There are too many users to count those who have none.',
  youToo: 'You are one of them: set yours up before or right after saving.',
  toAccount: 'Go to your account',
  provider_a: 'GitHub',
  provider_b: 'OpenID Connect',
  aboutA:
    'Register an OAuth app at GitHub with this callback address. A GitHub Enterprise is named in the environment of the server.',
  aboutB:
    'Register a client at your provider with this redirect address. Which provider it is stands in the environment of the server.',
  redirect: 'Redirect address to register',
  enabled: 'Offer it at the sign-in',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  isSet: 'One is set. Leave this empty to keep it.',
  isNotSet: 'None is set yet.',
  users: 'Allowed users',
  usersHelp: 'One GitHub login on each line. With no user and no organisation nobody gets in.',
  org: 'Allowed organisation',
  orgHelp: 'Its members get in.',
  domains: 'Allowed domains',
  domainsHelp:
    'One on each line, such as stockade.example. Only verified addresses of these domains get in; with none nobody does.',
  nobody: 'It is offered, and the lists are empty: nobody gets in.',
  incomplete: 'It needs a client ID and a secret before anybody can use it.',
  defaultRole: 'Role of newcomers',
  local: 'Passwords',
  localOff: 'Turn signing in with a password off',
  localHelp:
    'Possible once an admin has signed in with a provider, so that this locks nobody out: sign in with a provider, let another admin give that account the role Admin, then come back.',
  localRefused: 'No admin signs in with a provider yet.',
}
export const settingsTexts: Catalogue<typeof en> = { en }
