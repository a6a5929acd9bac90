import { withoutUndefined } from '@stockade/contract/records.ts'
import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import type { CallInput, Client, Reply } from '@stockade/client'
import { alertSeverities, banKinds } from '@stockade/contract'
import type { AlertSeverity, BanKind } from '@stockade/contract'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printEither, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { isTargeted, targetOf, whereOf, withTarget } from './targets.ts'
import type { TargetOptions } from './targets.ts'
import { durationOf, timeText, spanOf, wholeOf } from './times.ts'

type Rule = Reply<'GET /alerts/rules'>['rules'][number]
type NewRule = CallInput<'POST /alerts/rules'>['body']
type Conditions = Rule['conditions']
type Hours = NonNullable<Rule['quiet_hours']>

interface RuleOptions extends TargetOptions {
  readonly kind?: BanKind
  readonly severity?: AlertSeverity
  readonly grace?: number
  readonly quiet?: Hours | 'none'
  /** False with `--no-recovery`. */
  readonly recovery: boolean
  readonly threshold?: number
  readonly window?: number
  readonly factor?: number
  readonly minimum?: number
  readonly jail?: string
  readonly country?: string
  readonly asn?: number
}

/** `22-7`: from 22 to 7 o'clock. */
export const hoursOf = (text: string): Hours => {
  const [from, to] = (/^(\d{1,2})-(\d{1,2})$/.exec(text) ?? []).slice(1).map(Number)
  if (from === undefined || to === undefined || from > 23 || to > 23)
    throw new InvalidArgumentError('Give two hours from 0 to 23, such as 22-7.')
  return { from, to }
}
const quietOf = (text: string): Hours | 'none' => (text === 'none' ? text : hoursOf(text))
const graceOf = (text: string): number => (text === '0' ? 0 : durationOf(text))
const shownHours = (hours: Hours | null): string => (hours ? `${hours.from}-${hours.to}` : '-')

const conditionsOf = ({ threshold, window, factor, minimum, jail, country, asn }: RuleOptions): Conditions =>
  withoutUndefined({ threshold, window_hours: window, factor, minimum, jail, country, asn })
/** Only what is typed; the server knows the rest. */
const settingsOf = async (client: Client, options: RuleOptions) =>
  withoutUndefined({
    severity: options.severity,
    for_seconds: options.grace,
    quiet_hours: options.quiet === 'none' ? null : options.quiet,
    recovery: options.recovery ? undefined : false,
    target: isTargeted(options) ? await targetOf(client, options) : undefined,
  })

const ruleNamed = async (client: Client, typed: string): Promise<Rule> => {
  const { rules } = await client.call('GET /alerts/rules')
  const rule = rules.find(({ id, name }) => id === typed || name.toLowerCase() === typed.toLowerCase())
  if (!rule) throw new Failure(`There is no rule ${typed}. See: stockade alerts rules`)
  return rule
}

const runRules = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /alerts/rules')
  if (json) return printJson(list)
  printTable(
    ['ID', 'NAME', 'STATE', 'SEVERITY', 'AFTER', 'WHERE', 'QUIET', 'FIRING'],
    list.rules.map(rule => [
      rule.id,
      rule.name,
      rule.state,
      rule.severity,
      spanOf(rule.for_seconds),
      whereOf(rule),
      shownHours(rule.quiet_hours),
      String(rule.firing),
    ]),
  )
}
const bodyOf = async (client: Client, name: string, options: RuleOptions): Promise<NewRule> => {
  if (!options.kind) throw new Misuse(`Say what it watches: --kind ${banKinds.join(', ')}.`)
  return { name, kind: options.kind, ...(await settingsOf(client, options)), conditions: conditionsOf(options) }
}
const runAdd = async (name: string, options: RuleOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const rule = await client.call('POST /alerts/rules', { body: await bodyOf(client, name, options) })
  printEither(json, rule, `Rule ${rule.id} ${safe(rule.name)} is on.`)
}
const runTry = async (options: RuleOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const preview = await client.call('POST /alerts/rules/preview', { body: await bodyOf(client, 'preview', options) })
  if (json) return printJson(preview)
  if (!preview.supported) throw new Failure('No sums are kept for this condition, so it cannot be tried on the past.')
  if (preview.times.length === 0) return print('It would not have fired in the last 7 days.')
  printTable(
    ['FROM', 'TO', 'HIGHEST'],
    preview.times.map(({ from, to, highest }) => [timeText(from), timeText(to), String(highest)]),
  )
}
const runChange = async (typed: string, options: RuleOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const conditions = conditionsOf(options)
  const settings = await settingsOf(client, options)
  const hasConditions = Object.keys(conditions).length > 0
  if (!hasConditions && Object.keys(settings).length === 0) throw new Misuse('Say what to change, such as --grace 5m.')
  const rule = await ruleNamed(client, typed)
  const done = await client.call('PATCH /alerts/rules/{id}', {
    params: { id: rule.id },
    // The API takes all conditions at once; those that are not named stay.
    body: { ...settings, ...(hasConditions ? { conditions: { ...rule.conditions, ...conditions } } : {}) },
  })
  printEither(json, done, `${safe(done.name)} is changed.`)
}
const runRemove = async (typed: string, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await ruleNamed(client, typed)
  const done = await client.call('DELETE /alerts/rules/{id}', { params: { id } })
  printEither(json, done, done.message)
}
const switching = (enabled: boolean) => async (typed: string, _options: object, command: Command) => {
  const { client, json } = contextOf(command)
  const { id } = await ruleNamed(client, typed)
  const rule = await client.call('PATCH /alerts/rules/{id}', { params: { id }, body: { enabled } })
  printEither(json, rule, `${safe(rule.name)} is ${enabled ? 'on' : 'off'}.`)
}

const withSettings = (command: Command): Command =>
  withTarget(command)
    .addOption(new Option('--severity <severity>', 'how grave it is').choices(alertSeverities))
    .option('--grace <time>', 'how long a condition must hold before it fires, such as 5m', graceOf)
    .option('--quiet <hours>', 'hours in which it is not told, such as 22-7; none for no such hours', quietOf)
    .option('--no-recovery', 'do not tell its end')
const withConditions = (command: Command): Command =>
  command
    .option('--threshold <bans>', 'for bans-over: fires at so many bans', wholeOf)
    .option('--window <hours>', 'for bans-over: hours that are counted (default: 1)', wholeOf)
    .option('--factor <number>', 'for bans-unusual: so many times the usual (default: 10)', Number)
    .option('--minimum <bans>', 'for bans-unusual: fewer never fire (default: 20)', wholeOf)
    .option('--jail <name>', 'only bans of this jail')
    .option('--country <code>', 'only bans of this country')
    .option('--asn <number>', 'only bans of this network, by its AS number', wholeOf)
const kindOption = () => new Option('--kind <kind>', 'what it watches').choices(banKinds)

/** `stockade alerts rules …` */
export const addAlertRuleCommands = (alerts: Command): void => {
  const rules = alerts.command('rules').description('List the rules.').action(runRules)
  const ruleCommand = (name: string, description: string) =>
    rules.command(name).description(description).argument('<rule>', 'id or name of the rule')
  withConditions(withSettings(rules.command('add').description('Add a rule over bans.').addOption(kindOption())))
    .argument('<name>', 'how it is called')
    .action(runAdd)
  withConditions(withSettings(rules.command('try').description('When it would have fired in the last 7 days.')))
    .addOption(kindOption())
    .action(runTry)
  withConditions(withSettings(ruleCommand('change', 'Change a rule.'))).action(runChange)
  ruleCommand('remove', 'Delete a rule of your own.').action(runRemove)
  ruleCommand('on', 'Switch a rule on.').action(switching(true))
  ruleCommand('off', 'Switch a rule off.').action(switching(false))
}
