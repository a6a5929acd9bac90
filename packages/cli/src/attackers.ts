import { Option } from 'commander'
import type { Command } from 'commander'
import type { CallInput } from '@stockade/client'
import { contextOf } from './context.ts'
import { Misuse } from './failure.ts'
import { findServer } from './named.ts'
import { printJson, printPlace, printTable } from './print.ts'
import { writeOut } from './printed.ts'
import { withPeriod } from './rows.ts'
import { timeText, wholeOf } from './times.ts'

type Query = NonNullable<CallInput<'GET /bans/attackers'>['query']>
interface AttackerOptions extends Pick<Query, 'q' | 'jail' | 'from' | 'to' | 'sort' | 'order' | 'limit' | 'page'> {
  readonly server?: string
}

const runAttackers = async (options: AttackerOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { server, ...query } = options
  const list = await client.call('GET /bans/attackers', {
    query: { ...query, ...(server === undefined ? {} : { server_id: await findServer(client, server) }) },
  })
  if (json) return printJson(list)
  printTable(
    ['ADDRESS', 'COUNTRY', 'NETWORK', 'BANS', 'SERVERS', 'JAILS', 'LAST', 'STATE'],
    list.attackers.map(row => [
      row.ip,
      row.country,
      row.network,
      row.bans,
      row.servers,
      row.jails.join(','),
      timeText(row.last_banned_at),
      row.state,
    ]),
  )
  printPlace('attackers', list, list.attackers.length)
}

type LogOptions = Pick<
  NonNullable<CallInput<'GET /settings/audit'>['query']>,
  'q' | 'action' | 'from' | 'to' | 'limit' | 'page'
>
const runLog = async (query: LogOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /settings/audit', { query })
  if (json) return printJson(list)
  printTable(
    ['TIME', 'WHO', 'WHAT', 'FROM', 'DETAILS'],
    list.entries.map(entry => [
      timeText(entry.timestamp),
      entry.user,
      entry.action,
      entry.ip_address,
      JSON.stringify(entry.details),
    ]),
  )
  printPlace('entries', list, list.entries.length)
}

/** The filters are those of the command above. */
const runExport = async (_: object, command: Command): Promise<void> => {
  const { client } = contextOf(command)
  const { q, action, from, to, limit, page, format, out } = command.optsWithGlobals<
    LogOptions & { format: 'json' | 'csv'; out?: string }
  >()
  if (limit !== undefined || page !== undefined) throw new Misuse('An export has no pages.')
  const query = {
    ...(q === undefined ? {} : { q }),
    ...(action === undefined ? {} : { action }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    format,
  }
  writeOut(out, await client.call('GET /settings/audit/export', { query }))
}

const withTimes = (command: Command): Command =>
  withPeriod(command.option('-q, --q <search>', 'a search as in the dashboard, such as "jail:sshd -country:NL"'))
    .option('--limit <number>', 'rows on a page', wholeOf)
    .option('--page <number>', 'which page', wholeOf)

export const addAttackers = (program: Command): void => {
  withTimes(program.command('attackers').description('list banned addresses, one row each'))
    .option('--server <name-or-id>', 'of this server')
    .option('--jail <jail>', 'of this jail')
    .addOption(new Option('--sort <by>', 'order').choices(['last', 'first', 'bans', 'servers']))
    .addOption(new Option('--order <direction>', 'of the order').choices(['asc', 'desc']))
    .action(runAttackers)
  const log = withTimes(program.command('log').description('read the audit log, newest first'))
    .option('--action <name>', 'a whole name, or its beginning up to a dot, such as auth.')
    .action(runLog)
  log
    .command('export')
    .description('print all entries that the filters of "log" find')
    .addOption(new Option('--format <format>', 'in which form').choices(['json', 'csv']).default('json'))
    .option('--out <file>', 'into this file, which must not be there yet')
    .action(runExport)
}
