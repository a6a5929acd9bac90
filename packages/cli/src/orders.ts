import type { Command } from 'commander'
import type { Client } from '@stockade/client'
import { bounds } from '@stockade/contract/limits.ts'
import { errorText } from '@stockade/contract/error-code.ts'
import type { Command as Order, CommandType } from '@stockade/contract/command-types/index.ts'
import { contextOf } from './context.ts'
import type { Context } from './context.ts'
import { Failure, Misuse, withForceOption } from './failure.ts'
import { banOnFleet, liftFleetBans } from './fleet.ts'
import { serverNamed } from './named.ts'
import { sendSigned, signable } from './signing.ts'
import type { Signing, Target } from './signing.ts'
import { print, printJson, printTable } from './print.ts'
import { serversTagged } from './tags.ts'
import { durationOf, wholeOf } from './times.ts'
import { waitForBatch } from './wait.ts'

interface Options extends Where, Signing {
  readonly jail?: string
  readonly duration?: number
  readonly reason?: string
  readonly force?: boolean
  readonly cut?: boolean
}

/** A ban without an end lasts a day, as in the dashboard. */
const ownJail = { jail: 'stockade', duration: 86_400 } as const
/** How long results are awaited unless told otherwise, in seconds. */
const patience = 120

/** A jail, an end of connections and a signature are for commands. Everything else that is meant for more than named servers is a state. */
const isFleetBan = ({ server, jail, cut, sign }: Options): boolean =>
  server === undefined && jail === undefined && !cut && sign === undefined

export const addOrders = (program: Command): void => {
  program
    .command('ban')
    .description('ban an address or a range')
    .argument('<ip>', 'an address, or a CIDR no wider than /16 (IPv4) or /32 (IPv6)')
    .option('--server <name-or-id...>', 'on these servers')
    .option('--tag <tag...>', 'on servers that have one of these tags, those that get it later too')
    .option('--all', 'on all servers, those that are added later too')
    .option('--jail <jail>', 'in this jail (default: stockade), on the servers of now')
    .option(
      '--duration <time>',
      "seconds, 30m, 1h, 7d, or perm (default: 1d, in other jails the jail's own)",
      durationOf,
    )
    .option('--reason <text>', 'why, for the audit log')
    .option('--sign <file>', "sign with this operator's key, for hosts that take wide bans only signed")
    .option('--yes', 'yes, sign it')
    .option('--force', "also when it is loopback, a managed server's or your own address")
    .option('--cut', 'also end its connections that are open now, on the servers of now')
    .option('--wait', 'wait until each server has done it; exit 1 unless all have')
    .option('--timeout <seconds>', `with --wait: how long at most (default: ${patience})`, wholeOf)
    .action(async (ip: string, options: Options, command: Command) => {
      requireOnePlace(options)
      if (isFleetBan(options)) return banOnFleet(ip, options, command)
      const { jail = ownJail.jail, duration = jail === ownJail.jail ? ownJail.duration : undefined } = options
      const params = {
        ip,
        jail,
        ...(duration === undefined ? {} : { duration }),
        ...(options.reason === undefined ? {} : { reason: options.reason }),
        ...(options.force ? { force: true } : {}),
        ...(options.cut ? { cut: true } : {}),
      }
      await order(contextOf(command), options, { type: 'ban-ip', params })
    })

  program
    .command('unban')
    .description('lift the bans of an address or a range')
    .argument('<ip>', 'the address or CIDR, as it was banned')
    .option('--server <name-or-id...>', 'on these servers (default: all)')
    .option('--tag <tag...>', 'on servers that have one of these tags now')
    .option('--all', 'on all servers')
    .option('--jail <jail>', 'in this jail (default: all jails)')
    .option('--wait', 'wait for the result of each server; exit 1 unless all succeed')
    .option('--timeout <seconds>', `with --wait: how long at most (default: ${patience})`, wholeOf)
    .action(async (ip: string, options: Options, command: Command) => {
      if (placesGiven(options) > 1) throw new Misuse('Give --server, --tag or --all, not both.')
      const context = contextOf(command)
      // What `ban --all` made would keep the address out of every server.
      if (options.server === undefined && options.tag === undefined && options.jail === undefined)
        await liftFleetBans(context, ip)
      await order(context, options, { type: 'unban-ip', params: { ip, jail: options.jail ?? '*' } })
    })
}

export interface Where extends Signing {
  readonly server?: readonly string[]
  readonly tag?: readonly string[]
  readonly all?: boolean
  readonly wait?: boolean
  readonly timeout?: number
}
/** Adds the options that say where, and whether the results are awaited. */
export const places = (command: Command): Command =>
  placesOnly(command)
    .option('--wait', 'wait for the result of each server; exit 1 unless all succeed')
    .option('--timeout <seconds>', `with --wait: how long at most (default: ${patience})`, wholeOf)
/** The options that say where. */
export const placesOnly = (command: Command): Command =>
  signable(command)
    .option('--server <name-or-id...>', 'on these servers')
    .option('--tag <tag...>', 'on servers that have one of these tags now')
    .option('--all', 'on all servers that have an agent')
const placesGiven = ({ server, tag, all }: Where): number =>
  [server, tag, all].filter(given => given !== undefined).length
const requireOnePlace = (where: Where): void => {
  if (placesGiven(where) !== 1) throw new Misuse('Say where: --server NAME..., --tag TAG..., or --all.')
}
/** The servers that those options name: one of them has to be given. */
export const targetsAsked = async (client: Client, where: Where): Promise<readonly Target[]> => {
  requireOnePlace(where)
  return targetsOf(client, where)
}

/** The named servers, each once; or those with a tag, or all, that have an agent. */
const targetsOf = async (client: Client, { server: names, tag }: Where): Promise<Target[]> => {
  if (tag) {
    const tagged = await serversTagged(client, tag)
    if (tagged.length === 0) throw new Failure('No server with an agent has one of these tags.')
    return tagged
  }
  const { servers } = await client.call('GET /servers/summary')
  if (names) {
    const ids = new Set(names.map(name => serverNamed(servers, name)))
    return [...ids].map(id => ({ id, hostname: servers.find(server => server.id === id)?.hostname ?? id }))
  }
  // A command for a host without an agent would run by surprise when the agent is installed.
  const enrolled = servers.filter(server => server.status !== 'pending')
  if (enrolled.length === 0) throw new Failure('There is no server with an agent to send this to.')
  return enrolled
}

const order = async (context: Context, options: Options, command: Order<'ban-ip' | 'unban-ip'>): Promise<void> =>
  send(context, options, await targetsOf(context.client, options), command)

interface Batch {
  readonly batch_id: string
  readonly commands: readonly { readonly id: string; readonly server_id: string; readonly status: string }[]
}
type SendOptions = Pick<Options, 'wait' | 'timeout' | 'sign' | 'yes'>
type AnyOrder = Order<Exclude<CommandType, 'deploy-template'>>

const queue = async (
  { client }: Context,
  options: SendOptions,
  targets: readonly Target[],
  command: AnyOrder,
): Promise<Batch> => {
  const body = { server_ids: targets.map(({ id }) => id), ...command }
  try {
    return options.sign
      ? await sendSigned(client, options.sign, targets, body, options.yes === true)
      : await client.call('POST /commands/batch', { body: body })
  } catch (error) {
    throw withForceOption(error)
  }
}

/**
 * Queues one order for each of the servers.
 * @param atOnce servers that one request names at most; for more there are several requests
 */
export const queueAll = async (
  context: Context,
  options: SendOptions,
  targets: readonly Target[],
  command: AnyOrder,
  atOnce: number = bounds.commands,
): Promise<readonly Batch[]> => {
  const batches: Batch[] = []
  for (let from = 0; from < targets.length; from += atOnce)
    try {
      batches.push(await queue(context, options, targets.slice(from, from + atOnce), command))
    } catch (error) {
      if (from === 0) throw error
      throw new Failure(`${errorText(error)} It is queued for the first ${from} of ${targets.length} servers.`)
    }
  return batches
}

/** Queues one order for each of the servers, and says so or, with --wait, what became of it. `atOnce`: as for `queueAll`. */
export const send = async (
  context: Context,
  options: SendOptions,
  targets: readonly Target[],
  command: AnyOrder,
  atOnce?: number,
): Promise<void> => {
  const batches = await queueAll(context, options, targets, command, atOnce)
  if (options.wait) return follow(context, batches, options.timeout)
  if (context.json) return printBatches(batches)
  printQueued(
    targets,
    batches.flatMap(({ commands }) => commands),
  )
}
/** One batch as the API answered it; several as a list of such. */
const printBatches = (batches: readonly object[]): void =>
  printJson(batches.length === 1 ? batches[0] : { batches: [...batches] })
/** What was queued where; nothing has happened yet. */
export const printQueued = (
  targets: readonly Target[],
  commands: readonly { id: string; server_id: string; status: string }[],
): void => {
  const nameOf = new Map(targets.map(({ id, hostname }) => [id, hostname]))
  printTable(
    ['SERVER', 'STATUS', 'COMMAND'],
    commands.map(({ id, server_id, status }) => [nameOf.get(server_id) ?? server_id, status, id]),
  )
  const { length } = commands
  print(`\nQueued for ${length} ${length === 1 ? 'server' : 'servers'}. With --wait the results are awaited.`)
}

/** Waits, prints what became of each, and fails unless all succeeded. */
export const follow = async (
  { client, json }: Pick<Context, 'client' | 'json'>,
  batches: readonly { readonly batch_id: string; readonly commands: readonly unknown[] }[],
  seconds = patience,
): Promise<void> => {
  const until = Date.now() + seconds * 1000
  const results = []
  for (const { batch_id, commands } of batches)
    results.push({
      batch_id,
      commands: await waitForBatch(client, batch_id, commands.length, Math.max(0, until - Date.now()) / 1000),
    })
  const commands = results.flatMap(result => result.commands)
  const open = commands.filter(({ status }) => status === 'pending' || status === 'running').length
  const done = commands.filter(({ status }) => status === 'completed').length
  if (json) printBatches(results)
  else {
    printTable(
      ['SERVER', 'STATUS', 'RESULT', 'COMMAND'],
      commands.map(({ id, server, status, result }) => [server.hostname, status, lastLine(result?.output), id]),
    )
    print(`\n${done} of ${commands.length} done.`)
  }
  if (open > 0)
    throw new Failure(`${open} of ${commands.length} gave no result within ${seconds} seconds; they stay queued.`)
  if (done < commands.length) throw new Failure(`${commands.length - done} of ${commands.length} failed.`)
}
/** What a program says last is why it ended. */
const lastLine = (output: string | undefined) => output?.trim().split('\n').at(-1)?.slice(0, 100) ?? null
