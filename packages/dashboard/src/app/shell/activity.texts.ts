import { number } from '../../lib/numbers.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'
import { plural } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Activity',
  what: 'the last commands',
  unread: 'Not loaded',
  running: (count: number) => `${number(count)} running`,
  waiting: (count: number) => `${number(count)} waiting`,
  failed: (count: number) => `${number(count)} failed`,
  none: 'Nothing was asked of the servers yet.',
  lead: 'The last commands, newest first. Each leads to its output.',
  all: 'All commands',
  undo: 'Undo',
  cancel: 'Cancel',
  undoOf: (what: string, server: string) => `Undo: ${what}, ${server}`,
  cancelOf: (what: string, server: string) => `Cancel: ${what}, ${server}`,
  close: 'Close the activity',
  more: (count: number) =>
    plural(count, {
      one: '1 command is on its way or failed',
      other: `${number(count)} commands are on their way or failed`,
    }),
}
export const activityTexts: Catalogue<typeof en> = { name: 'activity', en }
