import { Option } from 'commander'
import type { Command } from 'commander'
import { contextOf } from './context.ts'
import { Misuse } from './failure.ts'
import { findServer } from './named.ts'
import { print, printEither, printFields, printJson, printTable } from './print.ts'
import { printReply, writeOut } from './printed.ts'
import { safe, safeLines } from './safe.ts'
import { timeText, wholeOf } from './times.ts'
import type { Client, Reply } from '@stockade/client'

/* Figures of bans, servers and commands, and single ones of them. */

type Period = 'day' | 'week' | 'month'
const withPeriod = (command: Command): Command =>
  command.addOption(new Option('--period <period>', 'of the last').choices(['day', 'week', 'month']))
const ofServer = async (client: Client, server: string | undefined) =>
  server === undefined ? {} : { server_id: await findServer(client, server) }

interface FigureOptions {
  readonly server?: string
  readonly limit?: number
  readonly period?: Period
  readonly out?: string
  readonly page?: number
  readonly [name: string]: unknown
}
/** Options that the command above has as well, such as `--server`, arrive there. */
const optionsOf = (command: Command) => {
  const { url: _url, json: _json, profile: _profile, ...options } = command.optsWithGlobals<FigureOptions>()
  return options
}

type Shown = 'GET /bans/stats' | 'GET /bans/top' | 'GET /commands/stats'
const runFigures = (name: Shown) => async (_: object, command: Command) => {
  const { client, json } = contextOf(command)
  const { server, period, limit } = optionsOf(command)
  const query = {
    ...(period ? { period } : {}),
    ...(limit !== undefined && name === 'GET /bans/top' ? { limit } : {}),
    ...(await ofServer(client, server)),
  }
  const reply = await client.call(name, { query })
  if (json) printJson(reply)
  else printReply(reply)
}
const runExport = async (_: object, command: Command): Promise<void> => {
  const { client } = contextOf(command)
  const { server, out, limit, page, ...query } = optionsOf(command)
  if (limit !== undefined || page !== undefined) throw new Misuse('An export has no pages.')
  writeOut(out, await client.call('GET /bans/export', { query: { ...query, ...(await ofServer(client, server)) } }))
}
const reasonOf = ({ reason }: Reply<'GET /bans/{banId}'>): string | null => (reason ? JSON.stringify(reason) : null)
const runBan = async (banId: number, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const ban = await client.call('GET /bans/{banId}', { params: { banId } })
  if (json) return printJson(ban)
  printFields([
    ['address', ban.ip],
    ['jail', ban.jail],
    ['server', ban.server.hostname],
    ['country', ban.country_name],
    ['network', ban.asn === null ? null : `${ban.asn} ${ban.asn_org ?? ''}`],
    ['banned', timeText(ban.banned_at)],
    ['until', ban.ban_duration === -1 ? 'permanent' : timeText(ban.unbanned_at ?? ban.expires_at)],
    ['state', ban.active ? 'active' : 'ended'],
    ['by', ban.banned_by],
    ['dropped packets', ban.dropped_packets],
    ['whitelisted', ban.whitelisted ? 'yes' : 'no'],
    ['reported', ban.reported_to_reputation_db ? 'yes' : 'no'],
    ['reason', reasonOf(ban)],
  ])
  if (ban.log_lines.trim()) print(`\n${safeLines(ban.log_lines.trimEnd())}`)
}
const runReport = async (banId: number, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const reply = await client.call('POST /bans/{banId}/report', { params: { banId } })
  printEither(json, reply, safe(reply.message))
}

export const addBanFigures = (bans: Command): void => {
  const one = (name: string, description: string) =>
    bans.command(name).description(description).argument('<id>', 'its id, as --json shows it', wholeOf)
  one('show', 'show one ban with its log lines').action(runBan)
  one('report', 'report the address of a ban to the reputation service').action(runReport)
  withPeriod(bans.command('stats').description('count bans by jail, country and time')).action(
    runFigures('GET /bans/stats'),
  )
  withPeriod(bans.command('top').description('addresses, networks and servers with the most bans')).action(
    runFigures('GET /bans/top'),
  )
  bans
    .command('export')
    .description('print all bans that the filters of "bans" find')
    .addOption(new Option('--format <format>', 'in which form').choices(['json', 'csv', 'plain']).default('json'))
    .option('--out <file>', 'into this file, which must not be there yet')
    .action(runExport)
}

const runRetry = async (ids: readonly string[], _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const rows = []
  for (const commandId of ids)
    rows.push(await client.call('POST /commands/{commandId}/retry', { params: { commandId } }))
  if (json) return printJson(rows)
  printTable(
    ['COMMAND', 'TYPE', 'STATUS', 'RETRY OF'],
    rows.map(({ id, type, status, retry_of }) => [id, type, status, retry_of]),
  )
}
export const addCommandFigures = (commands: Command): void => {
  commands
    .command('retry')
    .description('order commands again that failed')
    .argument('<id...>', 'their ids')
    .action(runRetry)
  withPeriod(commands.command('stats').description('count commands by state and type')).action(
    runFigures('GET /commands/stats'),
  )
}

const runJails = async (typed: string, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /servers/{serverId}/jails', {
    params: { serverId: await findServer(client, typed) },
  })
  if (json) return printJson(list)
  printTable(
    ['JAIL', 'STATE', 'BANNED NOW', 'BANS', 'FILTER', 'TRIES', 'WITHIN', 'BAN TIME', 'LOG'],
    list.jails.map(jail => [
      jail.name,
      jail.enabled ? 'enabled' : 'disabled',
      jail.current_bans,
      jail.total_bans,
      jail.filter,
      jail.maxretry,
      jail.findtime,
      jail.bantime,
      jail.logpath,
    ]),
  )
  const others = list.jails.flatMap(({ name, other_ids: other }) => (other ? [{ name, ...other }] : []))
  if (others.length > 0) print('')
  for (const { name, count, ids } of others) {
    const what = count === 1 ? '1 id that is no address' : `${count} ids that are no address`
    print(safe(`${name} bans ${what}${ids.length > 0 ? `: ${ids.join(', ')}` : ''}`))
  }
}
const runServerStats = async (typed: string, { period }: { period?: Period }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const params = { serverId: await findServer(client, typed) }
  const stats = await client.call('GET /servers/{serverId}/stats', { params, query: period ? { period } : {} })
  if (json) printJson(stats)
  else printReply(stats)
}
const runMetrics = async (typed: string, { hours }: { hours?: number }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const params = { serverId: await findServer(client, typed) }
  const { points, ...reply } = await client.call('GET /servers/{serverId}/metrics', {
    params,
    query: hours === undefined ? {} : { hours },
  })
  if (json) return printJson({ ...reply, points })
  const from = Date.parse(reply.from)
  printTable(
    ['TIME', 'CPU %', 'MEMORY %', 'DISK %', 'BANNED'],
    points.cpu.map((cpu, index) => [
      timeText(new Date(from + index * reply.step_seconds * 1000).toISOString()),
      cpu,
      points.memory[index] ?? null,
      points.disk[index] ?? null,
      points.banned[index] ?? null,
    ]),
  )
}
const runChange = async (
  typed: string,
  options: { rename?: string; description?: string },
  command: Command,
): Promise<void> => {
  const { client, json } = contextOf(command)
  const { rename, description } = options
  const body = {
    ...(rename === undefined ? {} : { hostname: rename }),
    ...(description === undefined ? {} : { description }),
  }
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --rename web-02.example.')
  const params = { serverId: await findServer(client, typed) }
  const done = await client.call('PATCH /servers/{serverId}', { params, body })
  printEither(json, done, `${safe(done.hostname)} is changed.`)
}
export const addServerFigures = (servers: Command): void => {
  const serverCommand = (name: string, description: string) =>
    servers.command(name).description(description).argument('<name-or-id>', 'hostname or id')
  serverCommand('jails', 'list the jails of a server with their settings').action(runJails)
  withPeriod(serverCommand('stats', 'count the bans of a server')).action(runServerStats)
  serverCommand('metrics', 'processor, memory and disk of a server')
    .option('--hours <number>', 'of the last hours, at most 24', wholeOf)
    .action(runMetrics)
  serverCommand('change', 'rename or describe a server; see also "servers tag"')
    .option('--rename <hostname>', 'call it so')
    .option('--description <text>', 'what it is')
    .action(runChange)
}

const patience = 60
/** Asks whether the server is ready; `--wait` repeats it for `timeout` seconds. */
const runReady = async (
  { wait, timeout = patience }: { wait?: boolean; timeout?: number },
  command: Command,
): Promise<void> => {
  const { client, json } = contextOf(command, false)
  const until = Date.now() + timeout * 1000
  for (;;)
    try {
      const reply = await client.call('GET /ready')
      return json ? printJson(reply) : print('The server is ready.')
    } catch (error) {
      if (!wait || Date.now() > until) throw error
      await new Promise(resolve => setTimeout(resolve, 500))
    }
}
export const addReady = (program: Command): void => {
  program
    .command('ready')
    .description('ask whether the server is ready; exit 1 when it is not')
    .option('--wait', 'until it is')
    .option('--timeout <seconds>', `with --wait: how long at most (default: ${patience})`, wholeOf)
    .action(runReady)
}
