import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  ask: 'What would it have banned?',
  title: (name: string) => `What would ${name} have banned?`,
  help: 'Each server reads its own log. Nobody is banned, and no line leaves the server.',
  days: 'How far back',
  dayCount: (days: number) => plural(days, { one: '1 day', other: `${days} days` }),
  run: (servers: number) => plural(servers, { one: 'Ask 1 server', other: `Ask ${number(servers)} servers` }),
  again: 'Ask again',
  noServers: 'Choose a server.',
  answers: 'Answers of the servers',
  reading: 'Reads its log…',
  silent: 'No answer.',
  banned: (count: number) =>
    count === 0
      ? 'Nobody would have been banned.'
      : plural(count, {
          one: '1 address would have been banned.',
          other: `${number(count)} addresses would have been banned.`,
        }),
  spared: (count: number) => `${number(count)} spared by the whitelist.`,
  signedIn: (count: number) => `From ${number(count)} of them somebody signed in later.`,
  lines: (count: number) => `${number(count)} lines of the log were read.`,
  noLines: 'The log has no line of this time.',
  cuts: {
    bytes: 'Older lines were left out: the log is too long.',
    entries: 'Older messages were left out: the journal has too many.',
    cpu: 'Newer lines were left out: reading took too long.',
    addresses: 'Newer lines were left out: there are too many addresses.',
  },
  addresses: (server: string) => `Addresses on ${server}`,
  attempts: (count: number) => plural(count, { one: '1 attempt', other: `${number(count)} attempts` }),
  first: 'first ban',
  whitelisted: 'Whitelisted',
  later: 'Signed in later:',
  more: (count: number) => `${number(count)} more.`,
  moreServers: (count: number) => `${number(count)} more servers: see Commands.`,
}
export const previewTexts: Catalogue<typeof en> = { name: 'preview', en }
