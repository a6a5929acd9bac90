import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${number(count)} servers` })

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
  moreFound: (count: number) => `${number(count)} more: type a name to find them.`,
  waiting: (count: number) =>
    plural(count, {
      one: '1 of them is offline. Its command waits until it returns.',
      other: `${number(count)} of them are offline. Their commands wait until they return.`,
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
  receipt: {
    label: 'Progress',
    servers: 'Servers',
    going: {
      ban: (ip: string) => `Banning ${ip}`,
      unban: (ip: string) => `Unbanning ${ip}`,
      enable: (jail: string) => `Enabling ${jail}`,
      disable: (jail: string) => `Disabling ${jail}`,
      whitelist: 'Syncing the whitelist',
    },
    result: {
      ban: (ip: string, where: string) => `${ip} is banned ${where}`,
      unban: (ip: string, where: string) => `${ip} is unbanned ${where}`,
      unbanFrom: (ip: string, jail: string, where: string) => `${ip} is unbanned from ${jail} ${where}`,
      enable: (jail: string, where: string) => `${jail} is enabled ${where}`,
      disable: (jail: string, where: string) =>
        `${jail} is disabled ${where}. It bans nobody until it is enabled again.`,
      other: (said: string, where: string) => `${said}: done ${where}`,
      whitelist: (where: string) => `The whitelist is synced ${where}`,
    },
    onOne: (server: string) => `on ${server}`,
    on: (count: number) => `on ${servers(count)}`,
    progress: (done: number, total: number) => `${number(done)} of ${number(total)} done`,
    goingNamed: (what: string, done: number, total: number) => `${what}: ${number(done)} of ${number(total)} done`,
    ratio: (done: number, total: number) => `${number(done)} of ${number(total)}`,
    done: (count: number) => `Done on ${servers(count)}`,
    doneCommands: (count: number) =>
      plural(count, { one: 'Done: 1 command', other: `Done: ${number(count)} commands` }),
    failed: (count: number) => `Failed on ${servers(count)}`,
    failedCommands: (count: number) =>
      plural(count, { one: '1 command failed', other: `${number(count)} commands failed` }),
    failedNamed: (what: string, failed: string) => `${what}: ${failed}`,
    partly: (done: string, failed: number) => `${done}, failed on ${failed}`,
    partlyCommands: (done: string, failed: number) => `${done}, ${failed} failed`,
    cancelled: (count: number) => `Cancelled on ${servers(count)}`,
    cancelledCommands: (count: number) =>
      plural(count, { one: '1 command cancelled', other: `${number(count)} commands cancelled` }),
    follow: (names: string, count: number) =>
      plural(count, { one: `${names} will follow when it returns.`, other: `${names} will follow when they return.` }),
    moreServers: (count: number) => plural(count, { one: '1 more server', other: `${number(count)} more servers` }),
    cause: (server: string, why: string) => `${server}: ${why}`,
    noAnswer: 'no answer in time',
    moreFailed: (count: number) => `${number(count)} more failed.`,
    more: (count: number) => `${number(count)} more`,
    offlineSince: (moment: string) => `Offline since ${moment}`,
    retry: (count: number) => `Retry failed (${number(count)})`,
    cancelRest: 'Cancel rest',
    toBatch: 'View progress per server',
  },
  took: { none: '–', ms: (ms: string) => `${ms} ms`, s: (s: string) => `${s} s` },
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
    'approve-ban': 'Approve a wide ban',
    'self-test': 'Self-test',
    'upgrade-agent': 'Upgrade agent',
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
    table: 'Show as table',
    at: 'Begins',
    count: 'Bans',
    bar: (time: string, count: string) => `${time}: ${count}`,
    sum: (count: string, from: string, most: string) => `${count} bans since ${from}, at most ${most} in one bar`,
  },
  periods: { day: '24 hours', week: '7 days', month: '30 days' },
  period: 'Time',
}
export const fleetTexts: Catalogue<typeof en> = { name: 'fleet', en }
