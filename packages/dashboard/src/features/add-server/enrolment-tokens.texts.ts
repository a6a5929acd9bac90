import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Add many servers',
  what: 'the enrolment tokens',
  whatOne: 'the enrolment token',
  lead: 'An enrolment token enrols as many servers as you allow: by cloud-init, Ansible or a machine image, where a command for each server can’t be handed out.',
  add: 'New token',
  emptyTitle: 'No enrolment tokens yet',
  empty: 'Create one for the servers that are to come. It is bound in number and time, and you see who used it.',
  states: { open: 'Open', suspended: 'Suspended', used_up: 'Used up', ended: 'Ended', revoked: 'Revoked' },
  suspended: (maker: string) => `${maker}, who made it, may not add servers any more. It enrols nothing.`,
  used: (used: number, most: string) =>
    plural(used, { one: `1 of ${most} servers`, other: `${number(used)} of ${most} servers` }),
  ends: (time: string) => `ends ${time}`,
  ended: (time: string) => `ended ${time}`,
  by: (maker: string) => `by ${maker}`,
  tagged: (tags: string) => `tags: ${tags}`,
  refused: (count: number) =>
    plural(count, {
      one: '1 request was refused, from',
      other: `${number(count)} requests were refused, the last from`,
    }),
  revoke: 'Revoke…',
  revokeOf: (name: string) => `Revoke ${name}`,
  revokeText: (name: string) => `${name} enrols nothing from now on. Servers that it enrolled stay.`,
  revokeNow: 'Revoke the token',
  revoked: (name: string) => `${name} was revoked.`,
  dialog: {
    title: 'New enrolment token',
    name: 'Name',
    nameHelp: 'What it is for, such as “autumn racks”.',
    missingName: 'Give the token a name.',
    servers: 'Number of servers',
    wrongServers: 'Enter a number from 1 to 10,000.',
    life: 'Ends after',
    lives: { 3600: '1 hour', 86400: '1 day', 604800: '7 days', 2592000: '30 days', 31536000: '365 days' },
    tagsHelp: 'Each server gets these tags.',
    create: 'Create token',
  },
  once: {
    title: (name: string) => `Command of ${name}`,
    text: 'Copy it now. It holds the token, which is not shown again. Whoever has it can add servers until it ends.',
    done: 'Done',
  },
  enrolled: 'Enrolled servers',
  nobody: 'No server used it yet.',
  from: 'from',
  gone: 'This enrolment token does not exist. It may have made room for newer ones.',
  more: (count: number) => `${number(count)} more: ask the command line for all.`,
}
export const enrolmentTokensTexts: Catalogue<typeof en> = { name: 'enrolment-tokens', en }
