import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Feeds',
  what: 'the feeds',
  lead: 'A feed is a URL that firewalls and other programs can download bans from.',
  add: 'New feed',
  emptyTitle: 'No feeds yet',
  empty: 'Create one for a firewall or a proxy without an agent. Its URL holds the only credential.',
  hosts: (search: string) => (search ? `Bans of servers that match ${search}` : 'All bans of servers'),
  hostsAndFleet: (search: string) =>
    search ? `Bans of servers that match ${search}, and fleet bans` : 'All bans of servers, and fleet bans',
  fleetOnly: 'Fleet bans',
  families: { both: 'IPv4 and IPv6', ipv4: 'IPv4 only', ipv6: 'IPv6 only' },
  atMost: (count: string) => `at most ${count} entries`,
  never: 'Never downloaded',
  used: 'Downloaded',
  usedFrom: (address: string) => `by ${address}`,
  use: 'Use…',
  useOf: (name: string) => `Use ${name}`,
  edit: 'Change…',
  editOf: (name: string) => `Change ${name}`,
  rotate: 'New token…',
  rotateOf: (name: string) => `New token for ${name}`,
  remove: 'Delete…',
  removeOf: (name: string) => `Delete ${name}`,
  removed: (name: string) => `${name} was deleted.`,
  rotateText: 'The old URL ends at once. Programs that use it need the new one.',
  rotateNow: 'Create a new token',
  removeText: (name: string) => `The URL of ${name} ends at once. Programs that use it keep what they downloaded last.`,
  removeNow: 'Delete the feed',
  dialog: {
    newTitle: 'New feed',
    changeTitle: (name: string) => `Change ${name}`,
    name: 'Name',
    missingName: 'Give the feed a name.',
    bans: 'Bans of servers',
    fleetBans: 'Fleet bans',
    nothing: 'Choose at least one of the two.',
    search: 'Only bans that match',
    searchHelp: 'A search such as jail:sshd -country:NL; all bans when empty.',
    family: 'Addresses',
    maximum: 'Entries at most',
    maximumHelp: 'The newest bans stay.',
    wrongMaximum: 'Enter a number from 1 to 200,000.',
    preview: 'Preview',
    create: 'Create feed',
    save: 'Save',
  },
  size: (total: number, ipv4: string, ipv6: string) =>
    plural(total, {
      one: `Holds 1 entry now (${ipv4} IPv4, ${ipv6} IPv6).`,
      other: `Holds ${number(total)} entries now (${ipv4} IPv4, ${ipv6} IPv6).`,
    }),
  none: 'Holds nothing now.',
  joined: (count: string) => `${count} when neighbours are joined into ranges.`,
  truncated: 'Older bans are left out, because there are more than the maximum.',
  leftOut: {
    wide: (count: number) =>
      plural(count, {
        one: 'Leaves out 1 range of a server that is wider than /24 (IPv4) or /48 (IPv6).',
        other: `Leaves out ${number(count)} ranges of servers that are wider than /24 (IPv4) or /48 (IPv6).`,
      }),
    of_one_server: (count: number) =>
      plural(count, {
        one: 'Leaves out 1 ban beyond what one server may bring.',
        other: `Leaves out ${number(count)} bans beyond what one server may bring.`,
      }),
    of_some_servers: (count: number) =>
      plural(count, {
        one: 'Leaves out 1 fleet ban that is not for all servers.',
        other: `Leaves out ${number(count)} fleet bans that are not for all servers.`,
      }),
    protected: (count: number) =>
      plural(count, {
        one: 'Takes protected addresses out of 1 entry.',
        other: `Takes protected addresses out of ${number(count)} entries.`,
      }),
  },
  samples: (entries: string) => `Such as ${entries}`,
  once: {
    title: (name: string) => `URL of ${name}`,
    text: 'Copy it now. It holds the token, which is not shown again.',
    url: 'URL of the feed',
    done: 'Done',
  },
  consumer: {
    title: (name: string) => `Use ${name}`,
    program: 'Program',
    lines: 'Lines for the program',
    help: 'Run the first line by a timer, every few minutes. A change shows within 5 s.',
    placeholder: 'FEED stands for the URL of the feed. It was shown once; create a new token if it is lost.',
  },
}
export const feedsTexts: Catalogue<typeof en> = { name: 'feeds', en }
