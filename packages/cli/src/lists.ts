import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from 'commander'
import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printEither, printFields, printJson, printPlace, printTable } from './print.ts'
import { withPage } from './rows.ts'
import type { PageOptions } from './rows.ts'
import { safe } from './safe.ts'
import { isTargeted, targetOf, withTarget } from './targets.ts'
import type { TargetOptions } from './targets.ts'
import { timeText, wholeOf } from './times.ts'
import { patiently } from './wait.ts'

type Blocklist = Reply<'GET /lists/{id}'>
type Mode = Blocklist['mode']

interface SourceOptions {
  readonly from?: string
  readonly country?: readonly string[]
  readonly asn?: readonly string[]
  readonly format?: Blocklist['format']
  readonly column?: number
  readonly allowWide?: boolean
  readonly allowPrivate?: boolean
}
interface ListOptions extends SourceOptions, TargetOptions {
  readonly mode?: Mode
  readonly interval?: number
  readonly maxEntries?: number
  readonly maxChange?: number
  readonly maxAddresses?: number
  readonly maxNetworks?: number
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly timeout?: number
}

/** How long servers are awaited unless told otherwise, in seconds. */
const patience = 60
const formats = ['auto', 'plain', 'spamhaus-json', 'hosts', 'csv'] as const
const modes = ['enforce', 'observe', 'off'] as const

const sourceOf = ({ from: url, country, asn }: SourceOptions) => {
  if ([url, country, asn].filter(given => given !== undefined).length !== 1)
    throw new Misuse('Say what: --from URL, --country CODE..., or --asn NUMBER...')
  if (url !== undefined) return { kind: 'url' as const, url }
  if (country) return { kind: 'countries' as const, countries: country.map(code => code.toUpperCase()) }
  return { kind: 'networks' as const, asns: (asn ?? []).map(text => Number(text.replace(/^as/i, ''))) }
}
const readingOf = ({ format, column, allowWide, allowPrivate }: SourceOptions) => ({
  ...(allowWide === undefined ? {} : { allow_wide: allowWide }),
  ...(allowPrivate === undefined ? {} : { allow_private: allowPrivate }),
  ...(format === undefined ? {} : { format }),
  ...(column === undefined ? {} : { column }),
})
const boundsOf = ({ mode, interval, maxEntries, maxAddresses, maxNetworks, maxChange }: ListOptions) => ({
  ...(mode === undefined ? {} : { mode }),
  ...(interval === undefined ? {} : { interval }),
  ...(maxEntries === undefined ? {} : { max_entries: maxEntries }),
  ...(maxAddresses === undefined ? {} : { max_addresses: maxAddresses }),
  ...(maxNetworks === undefined ? {} : { max_networks: maxNetworks }),
  ...(maxChange === undefined ? {} : { max_change: maxChange / 100 }),
})
const stateOf = ({ held: { applied, pending, failed, not_covered } }: Blocklist): string =>
  [
    [applied, 'held'],
    [pending, 'pending'],
    [failed, 'refused'],
    [not_covered, 'not covered'],
  ]
    .flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]))
    .join(', ')

/** A list by its id or its name. */
const listNamed = async (client: Client, typed: string): Promise<Blocklist> => {
  const { lists } = await client.call('GET /lists', { query: { limit: 100 } })
  const list = lists.find(({ id, name }) => name === typed || String(id) === typed)
  if (!list) throw new Failure(`There is no blocklist ${typed}. See: stockade lists`)
  return list
}

const untilApplied = async (client: Client, id: number, seconds: number): Promise<Blocklist> => {
  const until = Date.now() + seconds * 1000
  for (;;) {
    const list = await patiently(until, () => client.call('GET /lists/{id}', { params: { id } }))
    if ((list.version > 0 && list.held.pending === 0) || list.last_error !== null || Date.now() >= until) return list
    await sleep(Math.min(1000, Math.max(0, until - Date.now())))
  }
}
const failUnlessHeld = ({ held, last_error }: Blocklist, timeout: number): void => {
  if (last_error !== null) throw new Failure(last_error)
  if (held.failed > 0) throw new Failure(`${held.failed} servers refused it.`)
  if (held.pending > 0) throw new Failure(`${held.pending} servers have not confirmed it within ${timeout} seconds.`)
}
const printProgress = async (client: Client, list: Blocklist, options: ListOptions, json: boolean): Promise<void> => {
  const { timeout = patience } = options
  const now = options.wait ? await untilApplied(client, list.id, timeout) : list
  if (json) printJson(now)
  else
    print(
      `${safe(now.name)} (blocklist ${now.id}): ${now.mode}, ${now.entries} entries. Servers: ${stateOf(now) || 'none yet'}.`,
    )
  if (options.wait) failUnlessHeld(now, timeout)
}

const runList = async (_: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const reply = await client.call('GET /lists', { query: { limit: 100 } })
  if (json) return printJson(reply)
  printTable(
    ['ID', 'NAME', 'MODE', 'ENTRIES', 'HITS 24 H', 'READ', 'SERVERS', 'PROBLEM'],
    reply.lists.map(list => [
      String(list.id),
      list.name,
      list.mode,
      String(list.entries),
      String(list.hits.last_day),
      timeText(list.checked_at),
      stateOf(list),
      list.last_error,
    ]),
  )
  printPlace('blocklists', reply, reply.lists.length)
}

const runShow = async (typed: string, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await listNamed(client, typed)
  const query = { limit: 100 }
  const { servers } = await client.call('GET /lists/{id}/servers', { params: { id: list.id }, query })
  if (json) return printJson({ ...list, servers })
  printFields([
    ['id', String(list.id)],
    ['name', list.name],
    ['source', list.source.url ?? list.source.countries?.join(', ') ?? list.source.asns?.join(', ') ?? ''],
    ['mode', list.mode],
    ['entries', `${list.entries}, ${list.addresses} IPv4 addresses`],
    [
      'left out',
      Object.entries(list.left_out)
        .flatMap(([what, n]) => (!n ? [] : [`${n} ${what.replace('_', ' ')}`]))
        .join(', '),
    ],
    ['hits 24 h', String(list.hits.last_day)],
    ['read', timeText(list.checked_at)],
    ['problem', list.last_error],
  ])
  print('')
  printTable(
    ['SERVER', 'STATE', 'ENTRIES', 'PACKETS', 'WHY NOT'],
    servers.map(({ server, state, entries, packets, reason }) => [
      server.hostname,
      state,
      entries === null ? null : String(entries),
      String(packets),
      reason,
    ]),
  )
}

const runAdd = async (name: string, options: ListOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = {
    name,
    source: sourceOf(options),
    target: await targetOf(client, options),
    ...readingOf(options),
    ...boundsOf(options),
  }
  if (options.dryRun) {
    if (json) return printJson({ dry_run: true, ...body })
    return print(`Would subscribe to ${safe(name)}. Nothing was done. See: stockade lists preview`)
  }
  await printProgress(client, await client.call('POST /lists', { body }), options, json)
}

const runChange = async (typed: string, options: ListOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id, name } = await listNamed(client, typed)
  const body = {
    ...boundsOf(options),
    ...readingOf(options),
    ...(options.from === undefined ? {} : { source: sourceOf(options) }),
    ...(isTargeted(options) ? { target: await targetOf(client, options) } : {}),
  }
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --mode enforce.')
  if (options.dryRun) {
    if (json) return printJson({ dry_run: true, id, ...body })
    return print(`Would change ${safe(name)}: ${safe(JSON.stringify(body))}. Nothing was done.`)
  }
  await printProgress(client, await client.call('PATCH /lists/{id}', { params: { id }, body }), options, json)
}

const runRemove = async (typed: string, { dryRun }: { dryRun?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id, name } = await listNamed(client, typed)
  if (dryRun)
    return json ? printJson({ dry_run: true, id }) : print(`Would unsubscribe from ${safe(name)}. Nothing was done.`)
  const reply = await client.call('DELETE /lists/{id}', { params: { id } })
  printEither(json, reply, safe(reply.message))
}

const runRefresh = async (typed: string, { accept }: { accept?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await listNamed(client, typed)
  const body = accept ? { accept_change: true } : {}
  const list = await client.call('POST /lists/{id}/refresh', { params: { id }, body })
  await printProgress(client, list, {}, json)
  if (list.last_error !== null) throw new Failure(list.last_error)
}

const runPreview = async (options: SourceOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const preview = await client.call('POST /lists/preview', {
    body: { source: sourceOf(options), ...readingOf(options) },
  })
  if (json) return printJson(preview)
  printFields([
    ['entries', `${preview.entries}, ${preview.addresses} IPv4 addresses (${preview.share_percent.toFixed(3)} %)`],
    ['begins', preview.samples.join(', ')],
    [
      'left out',
      Object.entries(preview.left_out)
        .flatMap(([what, n]) => (!n ? [] : [`${n} ${what.replace('_', ' ')}`]))
        .join(', '),
    ],
    ['not read', preview.unread.map(({ line, form }) => `line ${line} (${safe(form)})`).join(', ')],
    ['of yours', [...preview.conflicts.servers, ...preview.conflicts.whitelist].join(', ')],
    ['users', !preview.conflicts.sessions ? null : `${preview.conflicts.sessions} signed in from listed addresses`],
    ['you', preview.conflicts.you ? 'it names the address that you come from' : null],
  ])
}

const runEntries = async (typed: string, query: { search?: string } & PageOptions, command: Command) => {
  const { client, json } = contextOf(command)
  const { id } = await listNamed(client, typed)
  const reply = await client.call('GET /lists/{id}/entries', { params: { id }, query })
  if (json) return printJson(reply)
  for (const entry of reply.entries) print(entry)
  printPlace('entries', reply, reply.entries.length)
}

const withSource = (command: Command): Command =>
  command
    .option('--from <url>', 'where the list is published')
    .option('--country <code...>', 'addresses of these countries instead')
    .option('--asn <number...>', 'addresses of these networks instead')
    .addOption(new Option('--format <format>', 'how it is written (default: auto)').choices(formats))
    .option('--column <number>', 'of CSV: the column of the address, from 1', wholeOf)
    .option('--allow-wide', 'take ranges wider than /16 and /32, up to /8 and /19')
    .option('--allow-private', 'read it from a private or loopback address (administrators)')
const withBounds = (command: Command): Command =>
  withTarget(command)
    .addOption(new Option('--mode <mode>', 'enforce, observe (only count), or off').choices(modes))
    .option('--interval <seconds>', 'between two looks at the source', wholeOf)
    .option('--max-entries <number>', 'a version with more is not applied', wholeOf)
    .option('--max-addresses <number>', 'a version that covers more IPv4 addresses is not applied', wholeOf)
    .option('--max-networks <number>', 'a version that covers more IPv6 networks of /64 is not applied', wholeOf)
    .option('--max-change <percent>', 'a version that changes more of the entries or addresses is not applied', wholeOf)
    .option('--dry-run', 'say what would be done')
    .option('--wait', 'wait until each server holds it; exit 1 unless all do')
    .option('--timeout <seconds>', `with --wait: how long at most (default: ${patience})`, wholeOf)

export const addListCommands = (program: Command): void => {
  const lists = program
    .command('lists')
    .description('blocklists: lists that others keep, in the firewalls of servers')
    .action(runList)
  lists
    .command('show')
    .description('show a blocklist, and which servers hold it')
    .argument('<name-or-id>', 'its name, or its id')
    .action((typed: string, _: object, command: Command) => runShow(typed, command))
  withBounds(
    withSource(lists.command('add').description('subscribe to a blocklist; it only counts unless --mode enforce')),
  )
    .argument('<name>', 'how it is called here')
    .action(runAdd)
  withBounds(withSource(lists.command('change').description('change a blocklist, such as --mode enforce')))
    .argument('<name-or-id>', 'its name, or its id')
    .action(runChange)
  lists
    .command('remove')
    .description('unsubscribe from a blocklist; its entries leave the firewalls')
    .argument('<name-or-id>', 'its name, or its id')
    .option('--dry-run', 'say what would be done')
    .action(runRemove)
  lists
    .command('refresh')
    .description('look at the source now')
    .argument('<name-or-id>', 'its name, or its id')
    .option('--accept', 'apply the new version this once, however much it changes')
    .action(runRefresh)
  withSource(lists.command('preview').description('what a list would hold; stores nothing')).action(runPreview)
  const entries = lists
    .command('entries')
    .description('entries of a blocklist')
    .argument('<name-or-id>', 'its name, or its id')
    .option('--search <text>', 'those that cover this address, lie in this range, or begin so')
  withPage(entries, 'entries').action(runEntries)
}
