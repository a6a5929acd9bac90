import { Option } from 'commander'
import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printEither, printJson, printTable } from './print.ts'
import { printReply } from './printed.ts'
import { safe } from './safe.ts'
import { timeText, wholeOf } from './times.ts'

type Feed = Reply<'GET /fleet/feeds'>['feeds'][number]

interface FeedOptions {
  readonly search?: string
  readonly bans?: boolean
  readonly fleetBans?: boolean
  readonly family?: Feed['family']
  readonly maximum?: number
  readonly dryRun?: boolean
}

const feedNamed = async (client: Client, typed: string): Promise<Feed> => {
  const { feeds } = await client.call('GET /fleet/feeds')
  const feed = feeds.find(({ id, name }) => name === typed || String(id) === typed)
  if (!feed) throw new Failure(`There is no feed ${typed}. See: stockade feeds`)
  return feed
}
const bodyOf = ({ search, bans, fleetBans, family, maximum }: FeedOptions) => ({
  ...(search === undefined ? {} : { q: search }),
  // Without `--no-bans` commander says true.
  ...(bans === false ? { bans } : {}),
  ...(fleetBans === false ? { fleet_bans: fleetBans } : {}),
  ...(family === undefined ? {} : { family }),
  ...(maximum === undefined ? {} : { maximum }),
})
const contentsOf = (feed: Feed): string =>
  [
    ...(feed.bans ? [`bans${feed.q && ` (${feed.q})`}`] : []),
    ...(feed.fleet_bans ? ['fleet bans'] : []),
    ...(feed.family === 'both' ? [] : [feed.family]),
  ].join(', ')

const runList = async (_: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /fleet/feeds')
  if (json) return printJson(list)
  printTable(
    ['ID', 'NAME', 'HOLDS', 'LAST USED', 'FROM'],
    list.feeds.map(feed => [String(feed.id), feed.name, contentsOf(feed), timeText(feed.used_at), feed.used_from]),
  )
}
const runAdd = async (name: string, options: FeedOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = { name, ...bodyOf(options) }
  if (options.dryRun)
    return json ? printJson({ dry_run: true, ...body }) : print(`Would create ${safe(name)}. Nothing was done.`)
  const feed = await client.call('POST /fleet/feeds', { body })
  if (json) return printJson(feed)
  print(`Feed ${feed.id} ${safe(feed.name)}. Its address is shown only now:`)
  print(feed.url)
}
const runChange = async (typed: string, options: FeedOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = bodyOf(options)
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --search jail:sshd.')
  const { id } = await feedNamed(client, typed)
  const feed = await client.call('PATCH /fleet/feeds/{id}', { params: { id }, body })
  printEither(json, feed, `${safe(feed.name)} holds ${safe(contentsOf(feed))}.`)
}
const runRotate = async (typed: string, _: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id } = await feedNamed(client, typed)
  const feed = await client.call('POST /fleet/feeds/{id}/rotate', { params: { id } })
  if (json) return printJson(feed)
  print(`${safe(feed.name)} has a new address, shown only now. The old one is refused.`)
  print(feed.url)
}
const runRemove = async (typed: string, { dryRun }: { dryRun?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { id, name } = await feedNamed(client, typed)
  if (dryRun) return json ? printJson({ dry_run: true, id }) : print(`Would delete ${safe(name)}. Nothing was done.`)
  const reply = await client.call('DELETE /fleet/feeds/{id}', { params: { id } })
  printEither(json, reply, safe(reply.message))
}

const runPreview = async (options: FeedOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const preview = await client.call('POST /fleet/feeds/preview', { body: bodyOf(options) })
  if (json) printJson(preview)
  else printReply(preview)
}

const withContents = (command: Command): Command =>
  command
    .option('--search <search>', 'only bans of hosts that this search finds, such as jail:sshd')
    .option('--no-bans', 'without bans of hosts')
    .option('--no-fleet-bans', 'without fleet bans')
    .addOption(new Option('--family <family>', 'addresses of which family').choices(['both', 'ipv4', 'ipv6'] as const))
    .option('--maximum <number>', 'entries at most; the newest bans stay (default: 100000)', wholeOf)

export const addFeedCommands = (program: Command): void => {
  const feeds = program
    .command('feeds')
    .description('what is banned, as texts that firewalls and other programs fetch')
    .action(runList)
  const feedCommand = (name: string, description: string) =>
    feeds.command(name).description(description).argument('<name-or-id>', 'its name, or its id')
  withContents(feeds.command('add').description('create a feed; shows its address once'))
    .argument('<name>', 'how it is called')
    .option('--dry-run', 'say what would be done')
    .action(runAdd)
  withContents(feedCommand('change', 'change what a feed holds')).action(runChange)
  withContents(feeds.command('preview').description('count what a feed would hold')).action(runPreview)
  feedCommand('rotate', 'give a feed a new address').action(runRotate)
  feedCommand('remove', 'delete a feed; its address is refused')
    .option('--dry-run', 'say what would be done')
    .action(runRemove)
}
