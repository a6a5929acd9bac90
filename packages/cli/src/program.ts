import { readFileSync } from 'node:fs'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { Command, Option } from 'commander'
import { addAgentCommands } from './agents.ts'
import { addAlertCommands } from './alerts.ts'
import { addBanList } from './bans.ts'
import { addChannelCommands } from './channels.ts'
import { addCommandCommands } from './commands.ts'
import { addFeedCommands } from './feeds.ts'
import { addFleetCommands } from './fleet.ts'
import { addApi } from './api.ts'
import { addAttackers } from './attackers.ts'
import { addUserCommands } from './users.ts'
import { addApprovals } from './approve.ts'
import { addJailCommands } from './jails.ts'
import { addKeyCommands } from './keys.ts'
import { addLicense } from './license.ts'
import { addListCommands } from './lists.ts'
import { addKnock } from './knock.ts'
import { addOrders } from './orders.ts'
import { addReady } from './figures.ts'
import { addPortknock } from './portknock.ts'
import { addReport } from './report.ts'
import { addRuleCommands } from './rules.ts'
import { addSelfTest } from './self-test.ts'
import { addServerCommands } from './servers.ts'
import { addOperatorKeys } from './signing.ts'
import { addSettings } from './settings.ts'
import { addSynonyms } from './synonyms.ts'
import { addSiemCommands } from './siem.ts'
import { addTemplateCommands } from './templates.ts'
import { addWhitelistCommands } from './whitelist.ts'
import { addWhoAmI } from './whoami.ts'
import { addCompletion } from './completion.ts'
import { addProfiles } from './profiles.ts'

/*
 * The commands of the API. The caller adds those of the server's own host, from `server/src/admin/commands.ts`: they belong to the same program.
 */

const { version } = recordOf(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')))

/** Set before the commands are added: they take it over. */
export const program = new Command('stockade')
  .description('Speaks to a Stockade server over its API, and on its own host works on its storage.')
  .version(String(version))
  .addOption(
    new Option('--url <address>', 'where Stockade answers').env('STOCKADE_URL').default('http://localhost:8420'),
  )
  .addOption(new Option('--profile <name>', 'address and key of this profile').env('STOCKADE_PROFILE'))
  .option('--json', 'print the answer as JSON')
  .configureHelp({ showGlobalOptions: true })
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'stockade: ')) })
  .exitOverride()

addServerCommands(program)
addAgentCommands(program)
addAlertCommands(program)
addChannelCommands(program)
addBanList(program)
addAttackers(program)
addOrders(program)
addFleetCommands(program)
addListCommands(program)
addRuleCommands(program)
addFeedCommands(program)
addReport(program)
addApprovals(program)
addJailCommands(program)
addCommandCommands(program)
addSelfTest(program)
addTemplateCommands(program)
addWhitelistCommands(program)
addKeyCommands(program)
addUserCommands(program)
addKnock(program)
addPortknock(program)
addSettings(program)
addLicense(program)
addSiemCommands(program)
addOperatorKeys(program)
addWhoAmI(program)
addReady(program)
addApi(program)
addProfiles(program)
addCompletion(program)
addSynonyms(program)
program.addHelpText(
  'after',
  `
The API key comes from STOCKADE_API_KEY, from the file that STOCKADE_API_KEY_FILE names, or from the profile.
Exit codes: 0 done, 1 refused or failed, 2 given wrongly.`,
)
