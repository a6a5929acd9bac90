import type { Catalogue } from '../lib/texts/catalogue.ts'

const en = {
  away: (server: string) => `${server} is away. It will run when it is back.`,
  timeout: 'The server did not answer in time.',
}
export const commandTexts: Catalogue<typeof en> = { name: 'command', en }
