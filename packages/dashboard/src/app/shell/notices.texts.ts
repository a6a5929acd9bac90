import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  elsewhere: (here: string) => `You opened Stockade at ${here}. Install commands and mails name another address:`,
  licence: (used: string, limit: string) =>
    `${used} servers are in use, the licence is for ${limit}. All of them go on; new ones are refused.`,
  toLicence: 'Go to the licence',
  offline: (first: string, count: number) =>
    plural(count, { one: `${first} is offline.`, other: `${count} servers are offline, ${first} among them.` }),
  toOffline: 'Show them',
  siem: (waiting: string) => `Events do not reach the SIEM. ${waiting} wait.`,
  toSiem: 'Go to the delivery',
  version: 'There is a new version of this dashboard.',
  reload: 'Reload',
  dismiss: 'Dismiss until the next sign-in',
}
export const noticesTexts: Catalogue<typeof en> = { name: 'notices', en }
