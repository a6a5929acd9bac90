import type { Catalogue } from '../../texts/catalogue.ts'

const en = {
  title: 'Sign in',
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
  secondFactor: 'This account needs a second factor, which this version of the dashboard can not ask for yet.',
  localDisabled: 'Signing in with a password is turned off here. On the server, the recovery command can turn it on.',
  needsHttps: 'Signing in works only over https here. Open this address instead:',
  otherAddress: (address: string) =>
    `Stockade calls itself ${address}, and you opened it at another address. Links and install commands use the first.`,
}
export const signInTexts: Catalogue<typeof en> = { en }
