import { plural } from '../../texts/catalogue.ts'
import type { Catalogue } from '../../texts/catalogue.ts'

const en = {
  title: 'Servers',
  what: 'the servers',
  add: 'Add a server',
  counts: (total: number, online: number, offline: number, pending: number) =>
    `${plural(total, { one: '1 server', other: `${total} servers` })} · ${online} online · ${offline} offline · ${pending} pending`,
  search: 'Search by name or address',
  status: 'State',
  all: 'All states',
  columns: {
    state: 'State',
    name: 'Name',
    address: 'Address',
    description: 'Description',
    jails: 'Jails',
    bans: 'Bans',
    metrics: 'CPU · memory · disk',
    engine: 'fail2ban',
    agent: 'Agent',
    heartbeat: 'Last heartbeat',
  },
  caption: 'Servers by name',
  never: 'Not seen yet',
  continue: 'Continue',
  continueWith: (name: string) => `Continue to add ${name}`,
  cpu: 'CPU',
  memory: 'Memory',
  disk: 'Disk',
  unknown: 'unknown',
  seen: 'Seen',
  jailsAndBans: (jails: number, bans: string) =>
    `${plural(jails, { one: '1 jail', other: `${jails} jails` })} · ${bans} bans`,
  emptyTitle: 'No servers yet',
  empty:
    'Stockade shows and controls the bans of your servers. Each one runs a small agent beside fail2ban. Adding one takes a name here and one command there.',
  emptyForOthers: 'No server was added yet, or you have access to none. Ask an admin.',
  noMatch: 'No server matches.',
  clear: 'Clear the search',
}
export const serversTexts: Catalogue<typeof en> = { name: 'servers', en }
