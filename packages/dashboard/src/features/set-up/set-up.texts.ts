import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Set up',
  heading: 'Set up Stockade',
  intro: 'Two steps here, then your first server.',
  account: '1. Your account',
  accountHelp: 'This account has full access. Add more users later.',
  username: 'Username',
  usernameHelp: '3 to 50 letters, digits and underscores',
  email: 'Email',
  password: 'Password',
  rules: { length: '8 characters', lower: 'a lower-case letter', upper: 'an upper-case letter', digit: 'a digit' },
  met: 'met',
  notMet: 'missing',
  place: '2. URL and time zone',
  address: 'URL of Stockade',
  addressHelp: 'Used by agents and in emails. Your servers must be able to reach it.',
  local:
    '“localhost” means the server itself, so other servers can’t reach this URL. Enter a name or address that they can reach.',
  differs: (address: string) => `You opened Stockade at another URL: ${address}`,
  timezone: 'Time zone',
  timezoneHelp: 'For summaries and emails. Pages show times in the browser’s zone.',
  submit: 'Create and add the first server',
  noCode: 'A set-up code is needed',
  noCodeText:
    'The setup link is in Stockade’s console output and log. This command prints it again, run where Stockade runs:',
  codeCommand: 'npx stockade admin setup-code',
  commandLabel: 'Command that prints the set-up code',
  code: 'Set-up code',
  go: 'Continue',
  wrongCode: 'This set-up code is wrong or already used. Use the latest one.',
  invalidUsername: 'Use 3 to 50 letters, digits and _.',
  invalidEmail: 'Enter an email address, such as anna@stockade.example.',
  invalidPassword: 'The password does not meet all rules yet.',
  invalidAddress: 'Enter a URL that begins with http:// or https://.',
}
export const setUpTexts: Catalogue<typeof en> = { name: 'set-up', en }
