import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${number(count)} servers` })

const en = {
  title: 'Fleet bans',
  what: 'the fleet bans',
  lead: 'Bans that hold on every server, now and on servers you add later. The whitelist always wins.',
  caption: 'Fleet bans',
  add: 'New fleet ban',
  addKey: 'New fleet ban',
  search: 'Search entry, reason or author',
  standing: 'Active',
  ended: 'Ended',
  show: 'Show',
  columns: {
    entry: 'Address or range',
    reason: 'Why',
    target: 'Where',
    by: 'By',
    ends: 'Ends',
    held: 'In the firewall',
  },
  noReason: 'No reason given',
  by: (name: string, when: string) => `${name}, ${when}`,
  permanent: 'Permanent',
  expired: (when: string) => `Expired ${when}`,
  removed: (when: string) => `Lifted ${when}`,
  held: (held: number, all: number) => `${held} of ${number(all)}`,
  heldTitle: (held: number, all: number) => `Held in the firewall of ${held} of ${servers(all)}.`,
  pending: (count: number) =>
    plural(count, { one: '1 has not confirmed it yet.', other: `${number(count)} have not confirmed it yet.` }),
  failed: (count: number) => plural(count, { one: '1 refused it.', other: `${number(count)} refused it.` }),
  notCovered: (count: number) => plural(count, { one: '1 can’t hold it.', other: `${number(count)} can’t hold it.` }),
  details: 'Details…',
  open: (entry: string) => `Details of ${entry}`,
  lift: 'Lift everywhere',
  liftOf: (entry: string) => `Lift everywhere: the fleet ban of ${entry}`,
  change: 'Change…',
  changeOf: (entry: string) => `Change the fleet ban of ${entry}`,
  lifted: (entry: string) => `${entry} is no longer banned on the fleet. Other bans of it stay.`,
  noMatch: 'No fleet ban matches.',
  emptyTitle: 'No fleet bans yet',
  empty: 'Ban an address or a range on all servers as one entry. Servers that are offline or added later hold it too.',
  emptyEnded: 'Nothing ended in the last 90 days.',
  inJail: (hosts: number) => `On ${servers(hosts)} without a shield, fail2ban holds it.`,
  states: { held: 'Held', pending: 'Waiting', refused: 'Refused', not_covered: 'Not covered' },
  serversOf: 'Servers that don’t hold it',
  allHold: 'Every server holds it.',
  more: (count: number) => `${servers(count)} more`,
  dialog: {
    changeTitle: (entry: string) => `Change ${entry}`,
    newDuration: 'New duration, from now',
    newDurationHelp: 'Leave empty to keep the end.',
    reason: 'Reason',
    reasonHelp: 'Optional. Shown to everyone who sees the ban.',
  },
}
export const fleetBansTexts: Catalogue<typeof en> = { name: 'fleet-bans', en }
