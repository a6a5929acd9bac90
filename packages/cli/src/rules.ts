import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printEither, printFields, printJson, printPlace, printTable } from './print.ts'
import { withPage } from './rows.ts'
import type { PageOptions } from './rows.ts'
import { safe } from './safe.ts'
import { isTargeted, targetOf, whereOf, withTarget } from './targets.ts'
import type { TargetOptions } from './targets.ts'
import { durationOf, timeText, spanOf, wholeOf } from './times.ts'

type Rule = Reply<'GET /rules/{id}'>
type Simulation = Reply<'POST /rules/simulate'>

interface RuleOptions extends TargetOptions {
  readonly servers?: number
  readonly bans?: number
  readonly within?: number
  readonly jail?: readonly string[]
  readonly country?: readonly string[]
  readonly asn?: readonly string[]
  readonly duration?: number
  readonly factor?: number
  readonly maxDuration?: number
  readonly perHour?: number
  readonly standing?: number
  readonly exclude?: readonly string[]
  readonly dryRun?: boolean
}

const numberOf = (text: string): number => {
  const value = Number(text)
  if (!Number.isFinite(value)) throw new InvalidArgumentError('Give a number.')
  return value
}

/** Only what is typed; the server knows the rest. */
const bodyOf = async (client: Client, options: RuleOptions) => {
  const { servers, bans, within, jail, country, asn, duration, factor, maxDuration, perHour, standing, exclude } =
    options
  const fields = {
    min_servers: servers,
    min_bans: bans,
    within,
    jails: jail && [...jail],
    countries: country && [...country],
    asns: asn?.map(text => Number(text.replace(/^as/i, ''))),
    duration,
    factor,
    max_duration: maxDuration,
    per_hour: perHour,
    standing,
    exclude: exclude && [...exclude],
    target: isTargeted(options) ? await targetOf(client, options) : undefined,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const ruleNamed = async (client: Client, typed: string): Promise<Rule> => {
  const { rules } = await client.call('GET /rules')
  const rule = rules.find(({ id, name }) => name === typed || String(id) === typed)
  if (!rule) throw new Failure(`There is no sharing rule ${typed}. See: stockade rules`)
  return rule
}
const lengthOf = (seconds: number): string => (seconds < 0 ? 'for good' : `for ${spanOf(seconds)}`)
const sentenceOf = (rule: Rule): string => {
  const of = [...(rule.jails ?? []), ...(rule.countries ?? []), ...(rule.asns ?? []).map(asn => `AS${asn}`)]
  const bans = rule.min_bans > rule.min_servers ? ` (${rule.min_bans} bans)` : ''
  return `banned${of.length > 0 ? ` by ${of.join(', ')}` : ''} on ${rule.min_servers} servers${bans} within ${spanOf(rule.within)}: banned on ${whereOf(rule)} ${lengthOf(rule.duration)}`
}

const runList = async (_: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /rules')
  if (json) return printJson(list)
  printTable(
    ['ID', 'NAME', 'STATE', 'BANS 30 D', 'RULE'],
    list.rules.map(rule => [String(rule.id), rule.name, rule.state, String(rule.banned_30_days), sentenceOf(rule)]),
  )
}

const runShow = async (typed: string, query: PageOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const rule = await ruleNamed(client, typed)
  const matches = await client.call('GET /rules/{id}/matches', { params: { id: rule.id }, query })
  if (json) return printJson({ ...rule, matches: matches.matches })
  printFields([
    ['id', String(rule.id)],
    ['name', rule.name],
    ['rule', sentenceOf(rule)],
    ['state', rule.state],
    ['stopped', rule.reason],
    ['limits', `${rule.per_hour} bans an hour, ${rule.standing} at the same time`],
    ['never', rule.exclude.join(', ')],
    ['simulated', timeText(rule.simulated_at)],
    ['armed', rule.armed_at && `${timeText(rule.armed_at) ?? ''} by ${rule.armed_by ?? ''}`],
  ])
  print('')
  printTable(
    ['TIME', 'ENTRY', 'OUTCOME', 'SERVERS', 'UNTIL', 'WHY'],
    matches.matches.map(({ at, entry, outcome, server_count, until, cause }) => [
      timeText(at),
      entry,
      outcome,
      String(server_count),
      timeText(until) ?? 'permanent',
      cause,
    ]),
  )
  printPlace('matches', matches, matches.matches.length)
}

const runAdd = async (name: string, options: RuleOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = { name, ...(await bodyOf(client, options)) }
  if (options.dryRun)
    return json ? printJson({ dry_run: true, ...body }) : print(`Would create ${safe(name)}. Nothing was done.`)
  const rule = await client.call('POST /rules', { body })
  if (json) printJson(rule)
  else
    print(
      `Rule ${rule.id} ${safe(rule.name)}: ${safe(sentenceOf(rule))}. It is off. Next: stockade rules simulate ${rule.id}`,
    )
}

const runChange = async (typed: string, options: RuleOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = await bodyOf(client, options)
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --per-hour 20.')
  const { id, name } = await ruleNamed(client, typed)
  if (options.dryRun)
    return json
      ? printJson({ dry_run: true, id, ...body })
      : print(`Would change ${safe(name)}: ${safe(JSON.stringify(body))}. Nothing was done.`)
  const rule = await client.call('PATCH /rules/{id}', { params: { id }, body })
  printEither(json, rule, `${safe(rule.name)} (${rule.state}): ${safe(sentenceOf(rule))}.`)
}

const printSimulation = (simulation: Simulation): void => {
  const { banned, addresses, refused, returned, spared, tripped_at: trippedAt, matches } = simulation
  printFields([
    ['from', timeText(simulation.from)],
    ['would ban', `${addresses} addresses, ${banned} bans`],
    ['came back', returned === 0 ? null : `${returned}, ${spared} bans would not have been needed`],
    ['never banned', refused === 0 ? null : String(refused)],
    ['would stop', timeText(trippedAt)],
    ['read', simulation.complete ? null : 'only the newest bans; there are too many'],
  ])
  if (matches.length === 0) return
  print('')
  printTable(
    ['TIME', 'ENTRY', 'OUTCOME', 'SERVERS', 'WHY'],
    matches
      .slice(0, 20)
      .map(({ at, entry, outcome, server_count, cause }) => [
        timeText(at),
        entry,
        outcome,
        String(server_count),
        cause,
      ]),
  )
}
const runSimulate = async (typed: string, { days }: { days?: number }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await ruleNamed(client, typed)
  const body = days === undefined ? {} : { days }
  const simulation = await client.call('POST /rules/{id}/simulate', { params: { id }, body })
  if (json) printJson(simulation)
  else printSimulation(simulation)
}

const runArm = async (typed: string, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await ruleNamed(client, typed)
  const rule = await client.call('POST /rules/{id}/arm', { params: { id } })
  printEither(json, rule, `${safe(rule.name)} is armed. The first ban comes with the next match.`)
}
const runDisarm = async (typed: string, { lift = false }: { lift?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await ruleNamed(client, typed)
  const rule = await client.call('POST /rules/{id}/disarm', { params: { id }, body: { lift } })
  printEither(
    json,
    rule,
    `${safe(rule.name)} is off. ${lift ? 'Its bans are being lifted.' : 'Its bans stay until they end.'}`,
  )
}
const runRemove = async (
  typed: string,
  { lift = false, dryRun }: { lift?: boolean; dryRun?: boolean },
  command: Command,
): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id, name } = await ruleNamed(client, typed)
  if (dryRun) return json ? printJson({ dry_run: true, id }) : print(`Would delete ${safe(name)}. Nothing was done.`)
  const reply = await client.call('DELETE /rules/{id}', { params: { id }, query: { lift } })
  printEither(json, reply, safe(reply.message))
}

const withConditions = (command: Command): Command =>
  withTarget(command)
    .option('--servers <number>', 'servers that must have banned the address (default: 2)', wholeOf)
    .option('--bans <number>', 'bans that it takes on them (default: one a server)', wholeOf)
    .option('--within <time>', 'time within which these lie, such as 1h (default: 1d)', durationOf)
    .option('--jail <name...>', 'only bans of these jails')
    .option('--country <code...>', 'only addresses of these countries')
    .option('--asn <number...>', 'only addresses of these networks')
    .option('--duration <time>', 'length of the ban, such as 7d or perm (default: 1d)', durationOf)
    .option('--factor <number>', 'each further ban of an address is so many times longer', numberOf)
    .option('--max-duration <time>', 'longest ban', durationOf)
    .option('--per-hour <number>', 'bans an hour; one more, and the rule stops (default: 50)', wholeOf)
    .option('--standing <number>', 'bans at the same time; one more, and the rule stops (default: 1000)', wholeOf)
    .option('--exclude <entry...>', 'addresses and ranges that it never bans')
    .addOption(new Option('--dry-run', 'say what would be done'))

export const addRuleCommands = (program: Command): void => {
  const rules = program
    .command('rules')
    .description('sharing rules: bans of some servers that become bans of many')
    .action(runList)
  const ruleCommand = (name: string, description: string) =>
    rules.command(name).description(description).argument('<name-or-id>', 'its name, or its id')
  withPage(ruleCommand('show', 'show a rule, and what it did'), 'matches').action(runShow)
  withConditions(rules.command('add').description('create a rule; it is off until it is simulated and armed'))
    .argument('<name>', 'how it is called')
    .action(runAdd)
  withConditions(ruleCommand('change', 'change a rule')).action(runChange)
  ruleCommand('simulate', 'what it would have done in the last days')
    .option('--days <number>', 'days before now (default: 30)', wholeOf)
    .action(runSimulate)
  ruleCommand('arm', 'let a simulated rule ban').action(runArm)
  ruleCommand('disarm', 'stop a rule').option('--lift', 'also lift its bans').action(runDisarm)
  ruleCommand('remove', 'delete a rule')
    .option('--lift', 'also lift its bans')
    .option('--dry-run', 'say what would be done')
    .action(runRemove)
}
