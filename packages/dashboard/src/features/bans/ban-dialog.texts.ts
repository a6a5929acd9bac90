import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${number(count)} servers` })

const en = {
  title: 'Ban an address',
  banning: (ip: string) => `Ban ${ip}`,
  ip: 'Address or range',
  ipHelp: 'Such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/64.',
  wrongIp: 'Enter an address or a range, such as 203.0.113.7 or 203.0.113.0/24.',
  activeBans: (said: string, count: number) =>
    count === 0
      ? 'No address of it is banned now.'
      : count === 1
        ? '1 ban of it is active now.'
        : `${said} bans of it are active now.`,
  jail: 'Jail',
  jailHelp: 'Default: stockade, the jail for manual bans.',
  duration: 'Duration',
  jailLength: 'Default: the ban time of the jail.',
  reason: 'Reason',
  reasonHelp: 'Optional. Shown to everyone who sees the ban.',
  cut: 'End open connections too',
  cutMeans: 'Ends TCP connections that are open, and drops answers to connections that the server itself opens.',
  submitOnAll: 'Ban on all servers',
  submitOn: (count: number) => (count === 0 ? 'Ban' : `Ban on ${servers(count)}`),
  forceOnAll: 'Ban anyway on all servers',
  forceOn: (count: number) => (count === 0 ? 'Ban anyway' : `Ban anyway on ${servers(count)}`),
  banned: 'Banned',
  done: 'Done',
  another: 'Ban another',
}
export const banDialogTexts: Catalogue<typeof en> = { name: 'ban-dialog', en }
