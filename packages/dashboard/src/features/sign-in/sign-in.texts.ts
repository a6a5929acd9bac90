import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Sign in',
  madeUp: 'This is a demo with sample data.',
  username: 'Username',
  password: 'Password',
  show: 'Show',
  hide: 'Hide',
  showPassword: 'Show the password',
  hidePassword: 'Hide the password',
  submit: 'Sign in',
  wrong: 'Wrong username or password.',
  fill: 'Enter your username and your password.',
  limited: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
  limitOver: 'You can try again now.',
  ended: 'Your session ended. Sign in to continue where you left off.',
  why: {
    tries: 'Five wrong codes. Sign in again.',
    time: 'The code was not entered within 5 minutes. Sign in again.',
  },
  errors: {
    disabled: 'This sign-in method is disabled.',
    state: 'The sign-in took too long or began in another browser. Try again.',
    denied: 'The provider did not confirm the sign-in, or you did not allow it there.',
    provider_unavailable: 'The provider can’t be reached. Try it again in a moment.',
    not_allowed: 'Your account at the provider is not allowed to sign in here. Ask an admin.',
    email_unverified: 'The provider has not verified your email address. Verify it there, then try again.',
    email_missing: 'The provider does not name your email address. Ask an admin.',
    clock_differs: 'The clock of the provider differs from the clock of this server. Ask an admin to set both.',
    account_exists: 'An account with your email address already exists. Sign in with its password, or ask an admin.',
    other: 'The sign-in with the provider failed. Try it again.',
  },
  clockDiffers: (by: string) =>
    `The clock of the provider differs from the clock of this server by ${by}. Ask an admin to set both.`,
  or: 'or',
  continueWith: (provider: string) => `Continue with ${provider}`,
  lastUsed: (provider: string) => `Last time, you used ${provider} on this device.`,
  localDisabled: 'Password sign-in is disabled.',
  noWay: 'No provider is set up either. The recovery command on the server that runs Stockade enables passwords again.',
  needsHttps: 'Sign-in requires https. Open this URL instead:',
  otherAddress: (address: string) =>
    `Stockade is set up as ${address}, and you opened it at another URL. Links and install commands use the first.`,
  titleOf: (site: string) => `Sign in to ${site}`,
  demoAccount: (username: string, password: string) => `Username ${username}, password ${password}.`,
  fillIn: 'Fill in',
}
export type SignInTexts = typeof en
export const signInTexts: Catalogue<SignInTexts> = { name: 'sign-in', en }
