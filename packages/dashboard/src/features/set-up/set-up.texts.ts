import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Set up',
  heading: 'Set up Stockade',
  intro: 'Two steps here, then your first server.',
  account: '1. Your account',
  accountHelp: 'It may do everything. More people can be added later.',
  username: 'Username',
  usernameHelp: '3 to 50 letters, digits and _',
  email: 'E-mail',
  password: 'Password',
  rules: { length: '8 characters', lower: 'a small letter', upper: 'a capital letter', digit: 'a digit' },
  met: 'met',
  notMet: 'missing',
  place: '2. Address and time zone',
  address: 'Address of this service',
  addressHelp: 'Hosts and mails use it: it has to be reachable from your servers.',
  local:
    'Only this machine can reach this address: other hosts would call themselves. Enter the name or the address under which they reach this machine.',
  differs: (address: string) => `You are using another address at the moment: ${address}`,
  timezone: 'Time zone',
  timezoneHelp: 'For summaries and mails. Every page shows times in the zone of the browser.',
  submit: 'Create and add the first server',
  noCode: 'A set-up code is needed',
  noCodeText:
    'The link with the code stands where the server was started, and in its log. On the server, this command prints it again:',
  codeCommand: 'npx stockade admin setup-code',
  commandLabel: 'Command that prints the set-up code',
  code: 'Set-up code',
  go: 'Go on',
  wrongCode: 'This set-up code is wrong or was used already. Take the newest one from the server.',
  invalidUsername: 'Use 3 to 50 letters, digits and _.',
  invalidEmail: 'Enter an e-mail address, such as anna@stockade.example.',
  invalidPassword: 'The password does not have all of these yet.',
  invalidAddress: 'Enter an address that begins with http:// or https://.',
}
export const setUpTexts: Catalogue<typeof en> = { name: 'set-up', en }
