import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${count} servers` })

const en = {
  title: 'Ban an address',
  ip: 'Address or range',
  ipHelp: 'Such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/64.',
  wrongIp: 'Enter an address or a range, such as 203.0.113.7 or 203.0.113.0/24.',
  server: 'Server',
  chooseServer: 'Choose a server',
  noServer: 'Choose the server that shall ban it.',
  every: (count: number) => `All ${servers(count)}`,
  several: 'Several, chosen below',
  onMany: servers,
  waitMany: (count: number) =>
    plural(count, {
      one: '1 of them is away. It will ban the address when it is back.',
      other: `${count} of them are away. They will ban the address when they are back.`,
    }),
  waits: (name: string) => `${name} is away. It will ban the address when it is back.`,
  jail: 'Jail',
  jailHelp: 'Left empty: stockade, a jail that the agent keeps for bans from here.',
  duration: 'Duration',
  durationHelp: 'Such as 10m, 1h, 1d or perm. Left empty: 1 day in stockade, elsewhere as the jail says.',
  wrongDuration: 'Enter a duration such as 10m, 1h, 1d (up to 365d), or perm.',
  reason: 'Reason',
  reasonHelp: 'Optional. Stands in the audit log.',
  submit: 'Ban',
  submitOn: (count: number) => `Ban on ${servers(count)}`,
  forceOn: (count: number) => `Ban it on ${servers(count)} all the same`,
  force: 'Ban it all the same',
  banned: 'Banned',
  queued: (ip: string, server: string) => `Banning ${ip} on ${server}`,
  done: 'Done',
  another: 'Ban another',
}
export const banDialogTexts: Catalogue<typeof en> = { name: 'ban-dialog', en }
