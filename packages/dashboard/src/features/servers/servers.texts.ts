import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Servers',
  what: 'the servers',
  add: 'Add a server',
  search: 'Search by name or address',
  searchHint: 'web-01 status:offline jail:sshd',
  groups: (state: string, count: number) => `${state} · ${number(count)}`,
  again: (count: number) =>
    `${plural(count, { one: '1 changed its state', other: `${number(count)} changed their state` })}. Sort again`,
  update: 'Agent update available',
  bulk: {
    chosen: (count: number) => plural(count, { one: '1 server selected', other: `${number(count)} servers selected` }),
    all: (total: number) => `Select all ${number(total)} that match`,
    acts: {
      'reload-all': 'Reload all jails…',
      'service-restart': 'Restart fail2ban…',
      'ban-ip': 'Ban…',
      'unban-ip': 'Unban…',
    },
    deploy: 'Deploy a template…',
    deployTitle: (count: number) =>
      plural(count, { one: 'Deploy to 1 server', other: `Deploy to ${number(count)} servers` }),
    templates: 'the templates',
    template: 'Template',
    noTemplate: 'Choose a template.',
    next: 'Next',
    sync: 'Sync the whitelist',
  },
  columns: {
    name: 'Server',
    about: 'Role or problem',
    protection: 'Protection',
    jails: 'Jails',
    banned: 'Banned',
    hours: '24 hours',
    cpu: 'CPU',
    memory: 'Memory',
    disk: 'Disk',
    seen: 'Last seen',
  },
  terms: { engine: 'fail2ban', agent: 'Agent' },
  levels: 'Protection',
  allLevels: 'All',
  groupNames: { attention: 'Needs attention', waiting: 'Waiting for a report', protected: 'Protected' },
  hours: (bans: string) => `${bans} bans in 24 hours`,
  banned: (count: string) => `${count} banned`,
  offline: 'Offline: no sign of life',
  cloned: 'Two servers share its identity',
  rowActions: {
    reload: 'Reload jails…',
    reloadOn: (name: string) => `Reload jails of ${name}`,
    ban: 'Ban an address…',
    banOn: (name: string) => `Ban an address on ${name}`,
  },
  caption: 'Servers by name',
  never: 'Not seen yet',
  continue: 'Continue',
  continueWith: (name: string) => `Continue to add ${name}`,
  cpu: 'CPU',
  memory: 'Memory',
  disk: 'Disk',
  emptyTitle: 'No servers yet',
  empty:
    'Stockade shows and controls the bans of your servers. Each one runs a small agent beside fail2ban. Adding one takes a name here and one command there.',
  emptyForOthers: 'No server was added yet, or you have access to none. Ask an admin.',
  noMatch: 'No server matches.',
}
export const serversTexts: Catalogue<typeof en> = { name: 'servers', en }
