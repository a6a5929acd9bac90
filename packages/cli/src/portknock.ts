import { Option } from 'commander'
import type { Command } from 'commander'
import type { CallInput, Client, Reply } from '@stockade/client'
import { agree } from './ask.ts'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { findServer } from './named.ts'
import { print, printEither, printFields, printJson, printPlace, printTable } from './print.ts'
import { printReply } from './printed.ts'
import { withPage, withPeriod } from './rows.ts'
import type { PageOptions, PeriodOptions } from './rows.ts'
import { safe } from './safe.ts'
import { durationOf, timeText, wholeOf } from './times.ts'

type Sequence = Reply<'GET /portknock/sequences'>['sequences'][number]

const sequenceNamed = async (client: Client, typed: string): Promise<Sequence> => {
  const { sequences } = await client.call('GET /portknock/sequences')
  const sequence = sequences.find(({ id, name }) => String(id) === typed || name.toLowerCase() === typed.toLowerCase())
  if (!sequence) throw new Failure(`There is no sequence ${safe(typed)}. See: stockade portknock list`)
  return sequence
}
const portsOf = ({ knock_ports }: Pick<Sequence, 'knock_ports'>): string => knock_ports?.join(' ') ?? 'not for this key'
const statesOf = ({ servers }: Sequence): string => {
  const enforced = servers.filter(({ state }) => state === 'enforced').length
  return `${enforced} of ${servers.length}`
}

const runList = async (_: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /portknock/sequences')
  if (json) return printJson(list)
  printTable(
    ['NAME', 'OPENS', 'KNOCKS', 'BY', 'ENFORCED', 'ID'],
    list.sequences.map(each => [
      each.name,
      each.protected_port,
      portsOf(each),
      each.protocol,
      statesOf(each),
      String(each.id),
    ]),
  )
}
const runShow = async (typed: string, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await sequenceNamed(client, typed)
  const one = await client.call('GET /portknock/sequences/{sequenceId}', { params: { sequenceId: id } })
  if (json) return printJson(one)
  printFields([
    ['name', one.name],
    ['id', String(one.id)],
    ['opens', one.protected_port],
    ['knocks', portsOf(one)],
    ['by', one.protocol],
    ['open for', `${one.timeout} s`],
    ['knocks within', `${one.knock_timeout} s`],
    ['wrong tries', one.max_attempts],
    ['then blocked for', `${one.block_duration} s`],
    ['changed', timeText(one.updated_at)],
  ])
  print('')
  printTable(
    ['SERVER', 'STATE', 'ERROR'],
    one.servers.map(({ hostname, state, error }) => [hostname, state, error]),
  )
}

interface SequenceOptions {
  readonly name?: string
  readonly port?: number
  readonly knocks?: readonly number[]
  readonly server?: readonly string[]
  readonly protocol?: 'tcp' | 'udp'
  readonly openFor?: number
  readonly within?: number
  readonly tries?: number
  readonly blockFor?: number
}
const serverIdsOf = (client: Client, names: readonly string[]) =>
  Promise.all(names.map(name => findServer(client, name)))
const bodyOf = async (
  client: Client,
  options: SequenceOptions,
): Promise<CallInput<'PATCH /portknock/sequences/{sequenceId}'>['body']> => {
  const { name, port, knocks, server, protocol, openFor, within, tries, blockFor } = options
  return {
    ...(name === undefined ? {} : { name }),
    ...(port === undefined ? {} : { protected_port: port }),
    ...(knocks === undefined ? {} : { knock_ports: [...knocks] }),
    ...(server === undefined ? {} : { server_ids: await serverIdsOf(client, server) }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(openFor === undefined ? {} : { timeout: openFor }),
    ...(within === undefined ? {} : { knock_timeout: within }),
    ...(tries === undefined ? {} : { max_attempts: tries }),
    ...(blockFor === undefined ? {} : { block_duration: blockFor }),
  }
}
const warn = (warnings: readonly string[]): void => {
  for (const warning of warnings) print(`Note: ${safe(warning)}`)
}
const runAdd = async (name: string, options: SequenceOptions, command: Command): Promise<void> => {
  const { port, knocks, server, ...rest } = options
  if (port === undefined || knocks === undefined || server === undefined)
    throw new Misuse('Say --port PORT --knocks PORT PORT... --server NAME...')
  const { client, json } = contextOf(command)
  const body = {
    ...(await bodyOf(client, rest)),
    name,
    protected_port: port,
    knock_ports: [...knocks],
    server_ids: await serverIdsOf(client, server),
  }
  const newSequence = await client.call('POST /portknock/sequences', { body })
  if (json) return printJson(newSequence)
  print(
    `${safe(newSequence.name)} opens port ${newSequence.protected_port} after knocks at ${newSequence.knock_ports.join(' ')}.`,
  )
  warn(newSequence.warnings)
}
const runChange = async (
  typed: string,
  options: SequenceOptions & { rename?: string },
  command: Command,
): Promise<void> => {
  const { client, json } = contextOf(command)
  const { rename, ...rest } = options
  const body = await bodyOf(client, { ...rest, ...(rename === undefined ? {} : { name: rename }) })
  if (Object.keys(body ?? {}).length === 0) throw new Misuse('Say what to change, such as --open-for 30.')
  const { id } = await sequenceNamed(client, typed)
  const done = await client.call('PATCH /portknock/sequences/{sequenceId}', { params: { sequenceId: id }, body })
  if (json) return printJson(done)
  print(`${safe(done.name)} is changed. Its servers take it over.`)
  warn(done.warnings)
}
const runRemove = async (typed: string, { yes }: { yes?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id, name, protected_port: port } = await sequenceNamed(client, typed)
  if (!yes) await agree(`${safe(name)}: port ${port} is no longer guarded by it.`, 'Delete it?', 'Nothing was deleted.')
  const done = await client.call('DELETE /portknock/sequences/{sequenceId}', { params: { sequenceId: id } })
  printEither(json, done, safe(done.message))
}

const runOpen = async (server: string, sequence: string, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = { server_id: await findServer(client, server), sequence_name: sequence }
  const done = await client.call('POST /portknock/knock', { body })
  if (json) return printJson(done)
  print(`Port ${done.protected_port} opens for ${done.ip} until ${timeText(done.expires_at) ?? ''}.`)
}
const runActive = async ({ server }: { server?: string }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const query = server === undefined ? {} : { server_id: await findServer(client, server) }
  const list = await client.call('GET /portknock/active', { query })
  if (json) return printJson(list)
  printTable(
    ['SERVER', 'PORT', 'FOR', 'SEQUENCE', 'UNTIL', 'CONFIRMED', 'ID'],
    list.openings.map(each => [
      each.server.hostname,
      each.protected_port,
      each.ip,
      each.sequence_name,
      timeText(each.expires_at),
      each.confirmed ? 'yes' : 'no',
      each.id,
    ]),
  )
}
const runClose = async (openingId: string, { cut }: { cut?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const done = await client.call('DELETE /portknock/active/{openingId}', {
    params: { openingId },
    query: cut ? { cut } : {},
  })
  printEither(json, done, safe(done.message))
}
const runBlocked = async (_: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /portknock/blocked')
  if (json) return printJson(list)
  printTable(
    ['ADDRESS', 'SEQUENCE', 'TRIES', 'SINCE', 'UNTIL', 'SERVER ID'],
    list.blocked.map(each => [
      each.ip,
      each.sequence_name,
      each.failed_attempts,
      timeText(each.blocked_at),
      timeText(each.expires_at),
      each.server_id,
    ]),
  )
}
const runUnblock = async (ip: string, { server }: { server?: string }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const query = server === undefined ? {} : { server_id: await findServer(client, server) }
  const done = await client.call('DELETE /portknock/blocked/{ip}', { params: { ip }, query })
  printEither(json, done, safe(done.message))
}
interface HistoryOptions extends PeriodOptions, PageOptions {
  readonly server?: string
  readonly ip?: string
  readonly status?: 'success' | 'failed' | 'blocked'
}
const runHistory = async ({ server, ...rest }: HistoryOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const query = { ...rest, ...(server === undefined ? {} : { server_id: await findServer(client, server) }) }
  const list = await client.call('GET /portknock/history', { query })
  if (json) return printJson(list)
  printTable(
    ['TIME', 'SERVER', 'SEQUENCE', 'ADDRESS', 'RESULT', 'REASON'],
    list.history.map(each => [
      timeText(each.timestamp),
      each.server.hostname,
      each.sequence_name,
      each.ip,
      each.status,
      each.reason,
    ]),
  )
  printPlace('knocks', list, list.history.length)
}
const runStats = async ({ period }: { period?: 'day' | 'week' | 'month' }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const stats = await client.call('GET /portknock/stats', { query: period ? { period } : {} })
  if (json) printJson(stats)
  else printReply(stats)
}

const portsTyped = (text: string, before: readonly number[] = []): readonly number[] => [...before, wholeOf(text)]
const withSequence = (command: Command): Command =>
  command
    .option('--port <port>', 'the port that opens', wholeOf)
    .option('--knocks <port...>', 'the ports to knock at, in this order', portsTyped)
    .option('--server <name-or-id...>', 'on these servers')
    .addOption(new Option('--protocol <protocol>', 'of the knocks').choices(['tcp', 'udp']))
    .option('--open-for <time>', 'how long the port stays open: seconds, or 2m', durationOf)
    .option('--within <time>', 'how long all knocks may take', durationOf)
    .option('--tries <number>', 'wrong tries before an address is blocked', wholeOf)
    .option('--block-for <time>', 'how long it is blocked', durationOf)

export const addPortknock = (program: Command): void => {
  const knocking = program.command('portknock').description('ports that open after knocks (Pro)')
  const sequenceCommand = (name: string, description: string) =>
    knocking.command(name).description(description).argument('<name-or-id>', 'the sequence')
  knocking.command('list').description('list the sequences').action(runList)
  sequenceCommand('show', 'show a sequence, and what its servers made of it').action(runShow)
  withSequence(knocking.command('add').description('add a sequence').argument('<name>', 'how it is called')).action(
    runAdd,
  )
  withSequence(sequenceCommand('change', 'change a sequence')).option('--rename <name>', 'call it so').action(runChange)
  sequenceCommand('remove', 'delete a sequence').option('--yes', 'yes, without being asked').action(runRemove)
  knocking
    .command('open')
    .description('open a port for your own address, without knocks')
    .argument('<name-or-id>', 'hostname or id of the server')
    .argument('<sequence>', 'name of the sequence')
    .action(runOpen)
  knocking
    .command('active')
    .description('list ports that are open')
    .option('--server <name-or-id>', 'on this server')
    .action(runActive)
  knocking
    .command('close')
    .description('close a port that is open')
    .argument('<id>', 'its id in the list')
    .option('--cut', 'end its connections too')
    .action(runClose)
  knocking.command('blocked').description('list addresses that knocked wrongly too often').action(runBlocked)
  knocking
    .command('unblock')
    .description('let an address knock again')
    .argument('<ip>', 'the address')
    .option('--server <name-or-id>', 'on this server only')
    .action(runUnblock)
  const history = knocking
    .command('history')
    .description('list knocks, newest first')
    .option('--server <name-or-id>', 'at this server')
    .option('--ip <address>', 'by this address')
    .addOption(new Option('--status <status>', 'only these').choices(['success', 'failed', 'blocked']))
  withPage(withPeriod(history)).action(runHistory)
  knocking
    .command('stats')
    .description('count knocks')
    .addOption(new Option('--period <period>', 'of the last').choices(['day', 'week', 'month']))
    .action(runStats)
}
