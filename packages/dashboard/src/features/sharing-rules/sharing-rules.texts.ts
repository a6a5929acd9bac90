import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${number(count)} servers` })
const bans = (count: number) => plural(count, { one: '1 ban', other: `${number(count)} bans` })

const en = {
  title: 'Sharing rules',
  what: 'the sharing rules',
  lead: 'When several servers ban an address, all of them can. A rule shows what it would have done before it is turned on.',
  add: 'New rule',
  emptyTitle: 'No sharing rules yet',
  empty: 'Write one, see what it would have done in the last 30 days, and turn it on.',
  states: { draft: 'Off', simulated: 'Off, simulated', armed: 'On', tripped: 'Stopped' },
  sentence: (rule: { servers: number; bans: number; within: string; jails: string; from: string }) =>
    `When an address is banned ${rule.jails && `by ${rule.jails} `}on ${servers(rule.servers)}${rule.bans > rule.servers ? ` (${bans(rule.bans)})` : ''}${rule.from && ` of ${rule.from}`} within ${rule.within},`,
  result: (rule: { target: string; length: string; grows: boolean }) =>
    `ban it on ${rule.target} ${rule.length}${rule.grows ? ', longer each time' : ''}.`,
  everywhere: 'all servers',
  forLength: (length: string) => `for ${length}`,
  forGood: 'for good',
  made: (count: number) => `${bans(count)} in 30 days`,
  wouldHave: (count: number, days: number) =>
    `Simulated: ${bans(count)} in ${plural(days, { one: '1 day', other: `${days} days` })}`,
  stopped: (reason: string) => `It stopped by itself: ${reason}.`,
  turnOn: 'Turn on',
  turnOnOf: (name: string) => `Turn on ${name}`,
  turnOff: 'Turn off',
  turnOffOf: (name: string) => `Turn off ${name}`,
  turnedOn: (name: string) => `${name} is on. The first ban comes with the next match.`,
  turnedOff: (name: string) => `${name} is off. Its bans stay until they end.`,
  liftAll: 'Lift its bans',
  lifted: 'Its bans are being lifted.',
  edit: 'Change…',
  editOf: (name: string) => `Change ${name}`,
  show: 'History',
  showOf: (name: string) => `History of ${name}`,
  remove: 'Delete',
  removeOf: (name: string) => `Delete ${name}`,
  removed: (name: string) => `${name} was deleted. Its bans stay until they end.`,
  dialog: {
    newTitle: 'New sharing rule',
    changeTitle: (name: string) => `Change ${name}`,
    name: 'Name',
    missingName: 'Give the rule a name.',
    servers: 'Servers that ban the address',
    bans: 'Bans of it on these servers',
    within: 'Within',
    withinHelp: 'Such as 1h or 1d, 7d at most.',
    wrongWithin: 'Enter a time from 1 minute to 7 days, such as 1h.',
    jails: 'Jails that count',
    jailsHelp: 'Names with commas between; all jails when empty.',
    countries: 'Countries that count',
    countriesHelp: 'Codes such as NL, DE with commas between; all when empty.',
    target: 'Ban on',
    length: 'For',
    lengthHelp: 'Such as 1d, 7d or perm.',
    wrongLength: 'Enter a time such as 1d, or perm.',
    factor: 'Each further time longer by the factor',
    perHour: 'Bans an hour at most',
    perHourHelp: 'One more, and the rule stops and tells you.',
    exclude: 'Never these',
    excludeHelp:
      'Addresses and ranges with commas between. The whitelist, your servers and addresses of users who signed in are never banned anyway.',
    armed: 'The rule is on. Name, limit and exclusions can be changed; turn it off to change the rest.',
    simulate: 'Simulate',
    save: 'Save',
    saveOn: 'Turn on',
    more: 'More conditions',
  },
  simulation: {
    title: (days: number) => `The last ${days} days`,
    running: 'Simulating…',
    would: (count: number) =>
      `Would have banned ${plural(count, { one: '1 address', other: `${number(count)} addresses` })}.`,
    none: 'Would have banned nobody.',
    returned: (count: number, spared: number) =>
      `${number(count)} of them came back to a server of the target: ${plural(spared, { one: '1 ban', other: `${spared} bans` })} that would not have been needed.`,
    refused: (count: number) =>
      plural(count, { one: '1 match is never banned.', other: `${number(count)} matches are never banned.` }),
    trips: (when: string) => `It would have met its limit and stopped (${when}).`,
    partial: (from: string) => `Only bans since ${from} were read; there are too many before.`,
    perDay: 'Bans a day',
    onServers: (count: number) => `on ${servers(count)}`,
    banned: 'Would be banned',
    never: 'Never banned',
  },
  history: {
    title: (name: string) => `History of ${name}`,
    none: 'It has not matched yet.',
    outcomes: { banned: 'Banned', refused: 'Not banned', tripped: 'Stopped' },
    until: (when: string) => `until ${when}`,
    times: (count: number) => `time ${number(count)}`,
    more: (count: number) => `${number(count)} more`,
  },
}
export const rulesTexts: Catalogue<typeof en> = { name: 'sharing-rules', en }
