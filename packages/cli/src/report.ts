import { Argument } from 'commander'
import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { print, printJson, printTable } from './print.ts'
import { addScheduleCommands, periods } from './report-schedules.ts'
import { safe } from './safe.ts'

type Report = Reply<'GET /reports'>
interface ReportOptions {
  readonly at?: string
  readonly tag?: string
}

const pause = 2000
const mostAsked = 10
/** Attackers, networks and addresses may be counted a moment longer than the rest. */
const completeReport = async (
  client: Client,
  query: ReportOptions & { readonly period: Report['period'] },
): Promise<Report> => {
  let report = await client.call('GET /reports', { query })
  for (let exitUsage = 1; report.counting && exitUsage < mostAsked; exitUsage++) {
    await new Promise(resolve => setTimeout(resolve, pause))
    report = await client.call('GET /reports', { query })
  }
  return report
}

const runReport = async (period: Report['period'], options: ReportOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const report = await completeReport(client, { ...options, period })
  if (json) return printJson(report)
  const { attacks, attention, work } = report
  const table = (title: string, rows: readonly (readonly [string, number, number?])[]) => {
    if (rows.length === 0) return
    print('')
    printTable(
      [title, 'BANS', 'BEFORE'],
      rows.map(([name, bans, before]) => [name, bans, before ?? null]),
    )
  }
  print(
    `${report.first_day} to ${report.last_day} (${safe(report.timezone)})${report.complete ? '' : ', not over yet'}`,
  )
  print(`${attacks.bans} bans, ${attacks.bans_before} in the period before; ${report.servers} servers`)
  print(`${attacks.attackers ?? '?'} attackers, ${attacks.attackers_before ?? '?'} in the period before`)
  if (work)
    print(
      `Fleet bans: ${work.fleet_bans.created} added, ${work.fleet_bans.ended} ended, ${work.fleet_bans.standing} active`,
    )
  table(
    'SERVER',
    attacks.servers.map(({ server, bans, before }) => [server.hostname, bans, before]),
  )
  table(
    'JAIL',
    attacks.jails.map(({ jail, bans, before }) => [jail, bans, before]),
  )
  table(
    'COUNTRY',
    attacks.countries.map(({ name, bans, before }) => [name, bans, before]),
  )
  table(
    'ADDRESS',
    (attacks.addresses ?? []).map(({ ip, bans }) => [ip, bans]),
  )
  if (attention.length === 0) return
  print('')
  printTable(
    ['LOOK AT', 'WHY', 'DETAIL'],
    attention.map(({ server, kind, detail }) => [server.hostname, kind.replaceAll('_', ' '), detail]),
  )
}

export const addReport = (program: Command): void => {
  program
    .command('report')
    .description('what happened in a day, a week or a month')
    .addArgument(new Argument('[period]', 'day, week or month').choices(periods).default('week'))
    .option('--at <date>', 'a date in the period; the last complete one unless given')
    .option('--tag <tag>', 'only servers with this tag')
    .action(runReport)
  addScheduleCommands(program)
}
