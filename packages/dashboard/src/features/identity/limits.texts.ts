import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  legend: 'What it is for',
  help: 'None chosen: everything that its permission allows.',
  all: 'All scopes',
  scopes: {
    bans: 'Bans',
    whitelist: 'Whitelist',
    commands: 'Commands',
    servers: 'Servers',
    templates: 'Templates',
    portknock: 'Port knocking',
    siem: 'SIEM',
    settings: 'Settings',
    users: 'Users and keys',
    audit: 'Audit log',
    metrics: 'Metrics',
    agent: 'Agent',
  },
  networks: 'Used from',
  networksHelp: 'Addresses or ranges, with spaces or commas between them. Empty: from anywhere.',
  from: (networks: string) => `Only from ${networks}`,
  keep: 'Keep the API keys of this user',
  keepHelp: 'Otherwise they are revoked: an intruder may have created one.',
  revoked: (count: number) =>
    plural(count, { one: '1 API key has ended.', other: `${number(count)} API keys have ended.` }),
}
export const limitsTexts: Catalogue<typeof en> = { name: 'limits', en }
