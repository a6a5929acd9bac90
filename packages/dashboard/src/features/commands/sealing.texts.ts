import { number } from '../../lib/numbers.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Sign commands',
  needs: (hosts: string) => `${hosts}: this is taken only with an operator’s signature.`,
  youSign: 'You sign',
  hosts: 'For',
  until: 'Good until',
  more: (count: number) => `and ${number(count)} more`,
  template: 'What will be installed',
  checked: 'Your browser has compared: it is what you asked for, for these servers and no longer.',
  wrong: (what: string) =>
    `The server wants something else signed than you asked for: ${what}. Nothing is signed; ask who runs it.`,
  sign: 'Sign with a passkey',
  preparing: 'Preparing…',
  noPasskey: 'You have no passkey that could sign.',
  toAccount: 'Add one in your account',
  orCli: 'or sign on the command line with --sign.',
  unknownKey: 'This passkey is not one of your account.',
  approve: (what: string) => `Approve ${what}`,
  approveOf: (what: string, host: string) => `Approve ${what} on ${host}`,
  approvalSent: 'The approval is on its way.',
}
export const sealingTexts: Catalogue<typeof en> = { name: 'sealing', en }
