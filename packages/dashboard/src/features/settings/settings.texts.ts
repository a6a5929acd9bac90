import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  sections: 'Settings',
  service: 'General',
  security: 'Security',
  oauth: 'Sign-in providers',
  notifications: 'Notifications',
  reputation: 'Reputation',
  backup: 'Backup',
  licence: 'Licence',
  agents: 'Agents',
  what: 'the settings',
  find: 'Find a setting',
  found: (count: number) =>
    count === 0
      ? 'No setting matches.'
      : plural(count, { one: '1 setting matches.', other: `${number(count)} settings match.` }),
  changedBy: 'Changed by',
  empty: 'nobody',
  signInTitle: 'Sign-in and sessions',
  passwordsTitle: 'Passwords',
  serversTitle: 'Servers',
  timeout: 'Sign out after inactivity',
  timeoutHelp: 'Length of an unused session, such as 12h, 7d or 90d. Default: 7 days.',
  timeoutWrong: 'At least 1 minute, at most 90 days.',
  length: 'Minimum password length',
  lengthHelp: '8 to 128 characters. Applies to new passwords. Default: 8.',
  lengthWrong: 'Enter a number from 8 to 128.',
  factor: 'Require 2FA',
  factorHelp:
    'Users without 2FA must set it up at their next sign-in. Signing in through a provider counts as 2FA. Default: off.',
  passkey: 'Require a passkey',
  passkeyHelp: 'Passkeys can’t be guessed or phished. Users without one must add it at their next sign-in.',
  passkeyFor: { off: 'Nobody', admins: 'Admins', all: 'All users without a provider' },
  common: 'Refuse common passwords',
  commonHelp: 'New passwords must not be among the most common ones. Existing passwords stay valid.',
  ownUnban: 'Users may lift the ban of their own address',
  ownUnbanHelp:
    'Of the address that they come from, where fail2ban or a sharing rule banned it: for an hour, 3 times a day. For users with access to all servers.',
  selfTests: 'Self-tests of servers',
  selfTestsHelp:
    'A server proves with a packet that a ban stops it. A test that fails is reported like a failed command.',
  selfTestsAt: { off: 'Off', enrolment: 'After enrolment and agent upgrades', daily: 'Daily as well' },
  without: (none: number, total: number) =>
    none === 0
      ? plural(total, { one: 'The only user has one.', other: `All ${number(total)} users have one.` })
      : `${none} of ${number(total)} ${plural(total, { one: 'user', other: 'users' })} ${plural(none, { one: 'has', other: 'have' })} none.`,
  withoutWhat: 'the number of users without 2FA',
  withoutMany: 'Too many users to count those without it.',
  youToo: 'You are one of them. Set yours up first.',
  toAccount: 'Go to your account',
  provider_a: 'GitHub',
  provider_b: 'OpenID Connect',
  aboutA:
    'Register an OAuth app at GitHub with this callback URL. The environment of Stockade names a GitHub Enterprise instance.',
  aboutB: 'Register a client at your provider with this redirect URL. The environment of Stockade names the provider.',
  redirect: 'Redirect URL',
  enabled: 'Show on the sign-in page',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  users: 'Allowed users',
  usersHelp: 'One GitHub login per line. Without a user or an organisation, nobody can sign in.',
  org: 'Allowed organisation',
  orgHelp: 'Its members can sign in.',
  domains: 'Allowed domains',
  domainsHelp:
    'One per line, such as stockade.example. Only verified addresses of these domains can sign in. Without a domain, nobody can.',
  nobody: 'It is shown, but the lists are empty: nobody can sign in.',
  incomplete: 'A client ID and a secret are required.',
  defaultRole: 'Default role',
  local: 'Passwords',
  localOff: 'Disable password sign-in',
  localHelp:
    'Available once an admin signs in through a provider, so that nobody is locked out. Sign in through a provider, have another admin give that account the role Admin, then return here.',
  siteName: 'Site name',
  siteNameHelp: 'Shown in page titles, emails and chat messages. Default: Stockade.',
  siteNameWrong: 'Enter a name of 1 to 100 characters.',
  siteUrl: 'Site URL',
  siteUrlHelp:
    'Used in install commands, emails and sign-in providers. Servers and browsers must be able to reach it. Default: STOCKADE_BASE_URL.',
  siteUrlWrong: 'Enter a URL that begins with http:// or https://.',
  siteUrlOther: (here: string) => `You opened Stockade at ${here}.`,
  timezone: 'Time zone',
  timezoneHelp: 'Used for the daily summary, such as Europe/Vienna. Default: UTC.',
  timezoneWrong: 'There is no such time zone. Choose one such as Europe/Vienna.',
  timezoneNow: (time: string) => `It is ${time} there now.`,
  reputationAbout:
    'Looks up addresses at AbuseIPDB and reports the ones your servers ban. Nothing is sent without an API key.',
  reputationEnabled: 'Look up and report addresses',
  reputationEnabledHelp: 'Only public addresses are reported, with anonymised log lines. Default: off.',
  reputationKey: 'API key',
  reputationKeyHelp: 'From your AbuseIPDB account. Stored encrypted and never shown.',
  reputationNoKey: 'It is on, but no API key is set: nothing is sent.',
  reputationLimit: 'Reports per day',
  reputationLimitHelp: '0 to 1,000,000; 0 reports nothing. Default: 1,000, the limit of the free plan.',
  reputationLimitWrong: 'Enter a whole number from 0 to 1,000,000.',
  reputationUsed: 'Used today',
  reputationUsedOf: (used: string, limit: string) => `${used} of ${limit} reports`,
  reputationLast: 'Last report',
  reputationNever: 'None yet',
  reputationPaused: 'Reports pause until',
  reputationBecause: (reason: string) => `because the service answered “${reason}”`,
  localRefused: 'No admin signs in through a provider yet.',

  abouts: {
    service: 'Name, URL, time',
    security: 'Sign-in, sessions, 2FA',
    oauth: 'GitHub, SSO',
    notifications: 'Email, chat',
    reputation: 'AbuseIPDB',
    backup: 'Export, import',
    licence: 'Personal, Pro',
    agents: 'Release, upgrades, URL',
  },
}
export const settingsTexts: Catalogue<typeof en> = { name: 'settings', en }
