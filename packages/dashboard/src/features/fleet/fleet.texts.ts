import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${count} servers` })

const en = {
  servers,
  what: 'the servers',
  which: 'Servers',
  find: 'Search the servers',
  all: 'All',
  allOnline: 'All online',
  nobody: 'None',
  chosen: (count: number) => `${servers(count)} chosen`,
  noServers: 'There are no servers yet.',
  noneFound: 'No server of that name.',
  moreFound: (count: number) => `${count} more: type a name to find them.`,
  willWait: 'Waits until it is back',
  waiting: (count: number) =>
    plural(count, {
      one: '1 of them is away: its command waits until it is back.',
      other: `${count} of them are away: their commands wait until they are back.`,
    }),
  palisade: {
    label: 'All servers',
    keys: 'Arrow keys go from server to server.',
    group: (name: string, well: string, all: string) => `${name}: ${well} of ${all} protected`,
    of: (well: string, all: string) => `${well} of ${all}`,
    server: (name: string, health: string, reason: string | null) =>
      reason === null ? `${name}: ${health}` : `${name}: ${health}. ${reason}`,
    healths: {
      protected: 'Protected',
      degraded: 'Degraded',
      unprotected: 'Unprotected',
      offline: 'Offline',
      pending: 'Pending',
      unknown: 'Protection unknown',
    },
  },
  progress: {
    done: (count: number) => `Done on ${servers(count)}`,
    going: (done: number, total: number) => `${done} of ${total} done`,
    failed: (count: number) => `failed on ${servers(count)}`,
    doneOrders: (count: number) => plural(count, { one: 'Done: 1 command', other: `Done: ${count} commands` }),
    failedOrders: (count: number) => `${count} failed`,
    toBatch: 'Follow it server by server',
    label: 'Progress',
  },
  types: {
    'ban-ip': 'Ban',
    'unban-ip': 'Unban',
    'jail-status': 'Status of a jail',
    'jail-enable': 'Enable a jail',
    'jail-disable': 'Disable a jail',
    'jail-reload': 'Reload a jail',
    'reload-all': 'Reload all jails',
    'service-restart': 'Restart fail2ban',
    'deploy-template': 'Deploy a template',
    'remove-template': 'Remove a template',
    'approve-whitelist': 'Approve a wide whitelist entry',
    'approve-port': 'Approve a closed port',
    'self-test': 'Self-test',
  },
  said: {
    ban: (ip: string, jail: string) => `Ban ${ip} in ${jail}`,
    unban: (ip: string, jail: string) => `Unban ${ip} from ${jail}`,
    everyJail: 'every jail',
    'jail-status': (jail: string) => `Status of ${jail}`,
    'jail-enable': (jail: string) => `Enable ${jail}`,
    'jail-disable': (jail: string) => `Disable ${jail}`,
    'jail-reload': (jail: string) => `Reload ${jail}`,
    deploy: (template: string) => `Deploy ${template}`,
    remove: (template: string) => `Remove ${template}`,
  },
  chart: {
    empty: 'No bans in this time',
    table: 'Show as a table',
    at: 'Begins',
    count: 'Bans',
    bar: (time: string, count: string) => `${time}: ${count}`,
    sum: (count: string, from: string, most: string) => `${count} bans since ${from}, at most ${most} in one bar`,
  },
  periods: { day: '24 hours', week: '7 days', month: '30 days' },
  period: 'Time',
}
export const fleetTexts: Catalogue<typeof en> = { name: 'fleet', en }
