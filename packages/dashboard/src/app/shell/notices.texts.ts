import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  title: 'Notices',
  count: (count: number) => plural(count, { one: '1 notice', other: `${number(count)} notices` }),
  close: 'Close the notices',
  elsewhere: (here: string) => `You opened Stockade at ${here}. Install commands and emails name another URL:`,
  licence: (used: string, limit: string) =>
    `${used} servers are in use, the licence covers ${limit}. All of them keep working; new ones are refused.`,
  toLicence: 'View licence',
  siem: (waiting: string) => `Events do not reach the SIEM; ${waiting} are waiting.`,
  toSiem: 'View delivery status',
  version: 'There is a new version of this dashboard.',
  reload: 'Reload',
  dismiss: 'Dismiss until the next sign-in',
}
export const noticesTexts: Catalogue<typeof en> = { name: 'notices', en }
