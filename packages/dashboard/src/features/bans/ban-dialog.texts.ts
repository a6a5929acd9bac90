import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${number(count)} servers` })

const en = {
  title: 'Ban an address',
  ip: 'Address or range',
  ipHelp: 'Such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/64.',
  wrongIp: 'Enter an address or a range, such as 203.0.113.7 or 203.0.113.0/24.',
  server: 'Server',
  chooseServer: 'Choose a server',
  noServer: 'Choose a server.',
  every: (count: number) => `All ${servers(count)}`,
  several: 'Several servers',
  onMany: servers,
  waitMany: (count: number) =>
    plural(count, {
      one: '1 of them is offline. It follows when it returns.',
      other: `${number(count)} of them are offline. They follow when they return.`,
    }),
  waits: (name: string) => `${name} is offline. It follows when it returns.`,
  jail: 'Jail',
  jailHelp: 'Default: stockade, the jail for manual bans.',
  duration: 'Duration',
  durationHelp: 'Such as 10m, 1h, 1d or perm. Default: 1 day in stockade, else the ban time of the jail.',
  wrongDuration: 'Enter a duration such as 10m, 1h, 1d (up to 1y), or perm.',
  reason: 'Reason',
  reasonHelp: 'Optional. Recorded in the audit log.',
  cut: 'End open connections too',
  cutMeans: 'Ends TCP connections that are open, and drops answers to connections that the server itself opens.',
  submit: 'Ban',
  submitOn: (count: number) => `Ban on ${servers(count)}`,
  forceOn: (count: number) => `Ban anyway on ${servers(count)}`,
  force: 'Ban anyway',
  banned: 'Banned',
  queued: (ip: string, server: string) => `Banning ${ip} on ${server}`,
  done: 'Done',
  another: 'Ban another',
}
export const banDialogTexts: Catalogue<typeof en> = { name: 'ban-dialog', en }
