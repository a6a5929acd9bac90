import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'URL of Stockade',
  what: 'the URL that servers use',
  now: 'Current',
  none: 'All servers use this URL.',
  ordered: 'Ordered',
  by: (name: string) => `by ${name}`,
  states: { moved: 'Moved', trying: 'On trial', waiting: 'Waiting', failed: 'Failed' },
  counts: {
    moved: (_count: number, shown: string) => `${shown} moved`,
    trying: (_count: number, shown: string) => `${shown} on trial`,
    waiting: (count: number, shown: string) => plural(count, { one: '1 waits', other: `${shown} wait` }),
    failed: (_count: number, shown: string) => `${shown} failed`,
  },
  noServers: 'No server is enrolled yet.',
  servers: 'Servers',
  more: (count: number, shown: string) => plural(count, { one: 'and 1 more', other: `and ${shown} more` }),
  order: 'Move to a new URL…',
  again: 'Try again now',
  withdraw: 'Withdraw the order',
  withdrawTitle: 'Withdraw the order?',
  withdrawText: 'Servers on trial go back to the URL before. Servers that moved stay.',
  dialogTitle: 'Order all servers to another URL',
  url: 'New URL of this Stockade',
  urlHelp:
    'Set STOCKADE_BASE_URL to it first, or let Stockade serve https itself. Both URLs must lead here until all servers moved.',
  urlMissing: 'Enter a URL that begins with https:// or http://.',
  trial:
    'Each server lets Stockade prove itself there before it sends its key, uses the URL on trial for 10 minutes and goes back when it does not answer.',
  submit: 'Order all servers',
}

export const agentAddressTexts: Catalogue<typeof en> = { name: 'agent-address', en }
