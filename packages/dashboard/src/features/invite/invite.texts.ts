import { number } from '../../lib/numbers.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Welcome',
  what: 'the invitation',
  text: 'You were invited. Choose a password; then you are in.',
  textFactor: 'You were invited. Choose a password; then an authenticator app is set up.',
  username: 'You will sign in as',
  until: (time: string) => `This link works once, until ${time}.`,
  password: 'Password',
  rules: {
    length: (count: number) => `${number(count)} characters`,
    lower: 'a small letter',
    upper: 'a capital letter',
    digit: 'a digit',
  },
  met: 'met',
  notMet: 'missing',
  invalid: 'The password does not have all of these yet.',
  submit: 'Set the password and go on',
  noCode: 'This link is not complete. Open it again as it was sent to you.',
  gone: 'This link was used already, is too old or was replaced by a newer one. Ask the admin who sent it for a new one.',
  toSignIn: 'Go to the sign-in',
}
export const inviteTexts: Catalogue<typeof en> = { name: 'invite', en }
