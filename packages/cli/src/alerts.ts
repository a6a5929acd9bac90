import type { Command } from 'commander'
import type { CallInput, Reply } from '@stockade/client'
import { addAlertRouteCommands } from './alert-routes.ts'
import { addAlertRuleCommands } from './alert-rules.ts'
import { contextOf } from './context.ts'
import { findServer } from './named.ts'
import { print, printEither, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { timeText, wholeOf } from './times.ts'

type Alert = Reply<'GET /alerts'>['alerts'][number]
type State = NonNullable<NonNullable<CallInput<'GET /alerts'>['query']>['state']>
const hour = 3_600_000

const notesOf = ({ flapping, silenced, acknowledged, covered_by: cover }: Alert): string =>
  [
    cover !== null && `same cause as ${cover}`,
    flapping && 'comes and goes',
    silenced && 'silenced',
    acknowledged && `acknowledged by ${acknowledged.by}`,
  ]
    .filter(Boolean)
    .join(', ')

const runList = async (options: { state?: State }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /alerts', {
    query: { limit: 200, ...(options.state ? { state: options.state } : {}) },
  })
  if (json) return printJson(list)
  if (list.total === 0) return print('There are no alerts.')
  printTable(
    ['ID', 'STATE', 'SEVERITY', 'SINCE', 'ALERT', 'NOTES'],
    list.alerts.map(alert => [
      String(alert.id),
      alert.state,
      alert.severity,
      timeText(alert.since) ?? '-',
      alert.title,
      notesOf(alert),
    ]),
  )
}

const runAck = async (id: number, options: { note?: string }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const done = await client.call('POST /alerts/{id}/ack', {
    params: { id },
    body: options.note ? { note: options.note } : {},
  })
  printEither(json, done, `Acknowledged: ${safe(done.title)}`)
}

interface SilenceOptions {
  readonly reason: string
  readonly hours: number
  readonly rule?: string
  readonly server?: readonly string[]
  readonly tag?: readonly string[]
}
const runSilence = async (options: SilenceOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { reason, hours, rule, server, tag } = options
  const server_ids = server && (await Promise.all(server.map(name => findServer(client, name))))
  const target = server_ids ? { server_ids } : tag ? { tags: [...tag] } : { all: true as const }
  const silence = await client.call('POST /alerts/silences', {
    body: { target, reason, ends_at: new Date(Date.now() + hours * hour).toISOString(), ...(rule ? { rule } : {}) },
  })
  printEither(json, silence, `Silence ${silence.id} lasts until ${timeText(silence.ends_at) ?? ''}.`)
}
const runSilences = async (_options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /alerts/silences')
  if (json) return printJson(list)
  printTable(
    ['ID', 'RULE', 'UNTIL', 'BY', 'REASON'],
    list.silences.map(({ id, rule, ends_at, created_by, reason }) => [
      String(id),
      rule ?? 'all',
      timeText(ends_at) ?? '-',
      created_by,
      reason,
    ]),
  )
}
const runUnsilence = async (id: number, _options: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const done = await client.call('DELETE /alerts/silences/{id}', { params: { id } })
  printEither(json, done, done.message)
}

export const addAlertCommands = (program: Command): void => {
  const alerts = program
    .command('alerts')
    .description('What is wrong; without a command, lists the alerts.')
    .action(runList)
  alerts
    .command('list')
    .description('List alerts, those that fire first.')
    .option('--state <state>', 'pending, firing or resolved')
    .action(runList)
  alerts
    .command('ack')
    .argument('<id>', 'number of the alert', wholeOf)
    .description('Acknowledge an alert: it is told no more.')
    .option('--note <text>', 'words for the others')
    .action(runAck)
  alerts
    .command('silence')
    .description('Keep alerts from being told for a while; all of them unless named.')
    .requiredOption('--reason <text>', 'why')
    .option('--hours <number>', 'for how long, 1 unless given', wholeOf, 1)
    .option('--rule <rule>', 'only of this rule')
    .option('--server <name...>', 'only of these servers')
    .option('--tag <tag...>', 'only of servers with one of these tags')
    .action(runSilence)
  alerts.command('silences').description('List the silences.').action(runSilences)
  alerts
    .command('unsilence')
    .argument('<id>', 'number of the silence', wholeOf)
    .description('End a silence.')
    .action(runUnsilence)
  addAlertRuleCommands(alerts)
  addAlertRouteCommands(alerts)
}
