import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Servers',
  what: 'the servers',
  add: 'Add a server',
  counts: (total: number, online: number, offline: number, pending: number) =>
    `${plural(total, { one: '1 server', other: `${total} servers` })} · ${online} online · ${offline} offline · ${pending} pending`,
  search: 'Search by name or address',
  searchHint: 'web-01 status:offline jail:sshd',
  groups: (state: string, count: number) => `${state} · ${count}`,
  choose: (name: string) => `Choose ${name}`,
  chooseAll: 'Choose all on this page',
  again: (count: number) =>
    `${plural(count, { one: '1 has changed its state', other: `${count} have changed their state` })}. Sort again`,
  update: 'Update available',
  bulk: {
    label: 'Chosen servers',
    chosen: (count: number) => plural(count, { one: '1 server chosen', other: `${count} servers chosen` }),
    all: (total: number) => `Choose all ${total} that match`,
    acts: {
      'reload-all': 'Reload all jails…',
      'service-restart': 'Restart fail2ban…',
      'ban-ip': 'Ban…',
      'unban-ip': 'Unban…',
    },
    deploy: 'Deploy a template…',
    deployTitle: (count: number) => plural(count, { one: 'Deploy to 1 server', other: `Deploy to ${count} servers` }),
    templates: 'the templates',
    template: 'Template',
    noTemplate: 'Choose a template.',
    next: 'Next',
    sync: 'Sync the whitelist',
    syncing: (count: number) =>
      plural(count, { one: '1 server takes the whitelist over.', other: `${count} servers take the whitelist over.` }),
    show: 'Show',
    clear: 'Clear',
  },
  columns: {
    choose: 'Choose',
    state: 'State',
    name: 'Name',
    address: 'Address',
    description: 'Description',
    jails: 'Jails',
    bans: 'Bans',
    metrics: 'CPU · memory · disk',
    engine: 'fail2ban',
    agent: 'Agent',
    whitelist: 'Whitelist',
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
