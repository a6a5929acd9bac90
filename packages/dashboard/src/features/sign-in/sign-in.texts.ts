import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Sign in',
  madeUp: 'Everything here is made up.',
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
  ended: 'Your session has ended. Sign in again to go on where you were.',
  why: {
    tries: 'Five codes were wrong. Sign in again from the beginning.',
    time: 'The five minutes for the code are over. Sign in again from the beginning.',
  },
  errors: {
    disabled: 'This way to sign in is turned off.',
    state: 'The sign-in took too long, or was begun in another browser. Try it again.',
    denied: 'The provider did not confirm the sign-in, or you did not allow it there.',
    provider_unavailable: 'The provider can’t be reached. Try it again in a moment.',
    not_allowed: 'Your account at the provider is not on the list of those who may sign in here. Ask an admin.',
    email_unverified: 'The provider has not verified your e-mail address. Verify it there, then try again.',
    account_exists:
      'There is an account with your e-mail address already. Sign in to it with its password, or ask an admin.',
    other: 'The sign-in with the provider failed. Try it again.',
  },
  or: 'or',
  continueWith: (provider: string) => `Continue with ${provider}`,
  lastUsed: (provider: string) => `The last time you used ${provider}.`,
  localDisabled: 'Signing in with a password is turned off here.',
  noWay: 'No provider is set up either. On the server, the recovery command can turn passwords on again.',
  needsHttps: 'Signing in works only over https here. Open this address instead:',
  otherAddress: (address: string) =>
    `Stockade calls itself ${address}, and you opened it at another address. Links and install commands use the first.`,
}
export type SignInTexts = typeof en
export const signInTexts: Catalogue<SignInTexts> = { name: 'sign-in', en }
