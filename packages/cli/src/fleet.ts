import { setTimeout as sleep } from 'node:timers/promises'
import { Option } from 'commander'
import type { Command } from 'commander'
import { ApiError } from '@stockade/client'
import type { Client, Reply } from '@stockade/client'
import type { TargetInput } from '@stockade/contract'
import { contextOf } from './context.ts'
import type { Context } from './context.ts'
import { Failure, Misuse, withForceOption } from './failure.ts'
import { findServer } from './named.ts'
import { print, printEither, printFields, printJson, printPlace, printTable } from './print.ts'
import { withPage } from './rows.ts'
import type { PageOptions } from './rows.ts'
import { safe } from './safe.ts'
import { isTargeted, targetOf, whereOf, withTarget } from './targets.ts'
import type { TargetOptions } from './targets.ts'
import { durationOf, endOf, timeText, wholeOf } from './times.ts'
import { patiently } from './wait.ts'

type FleetBan = Reply<'GET /fleet/bans/{id}'>

interface BanOptions extends TargetOptions {
  readonly duration?: number
  readonly until?: string
  readonly reason?: string
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly wait?: boolean
  readonly timeout?: number
}
interface ListOptions extends PageOptions {
  readonly ended?: boolean
  readonly state?: 'held' | 'pending' | 'refused' | 'not_covered'
  readonly server?: string
  readonly search?: string
}

/** How long servers are awaited unless told otherwise, in seconds. */
const patience = 60

const untilOf = (ban: Pick<FleetBan, 'expires_at'>): string => timeText(ban.expires_at) ?? 'permanent'
const stateOf = ({ state: { applied, in_jail, pending, failed, not_covered } }: FleetBan): string =>
  [
    [applied, in_jail === 0 ? 'held' : `held (${in_jail} by fail2ban)`],
    [pending, 'pending'],
    [failed, 'refused'],
    [not_covered, 'not covered'],
  ]
    .flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]))
    .join(', ')

/**
 * Lifts the fleet bans of exactly this address or range; says so unless the answer is for a program. What the key may not lift stays:
 * one that is bound to servers still lifts the bans of these.
 */
export const liftFleetBans = async ({ client, json }: Context, typed: string): Promise<void> => {
  const query = { search: typed, active: true, limit: 100 }
  const unlessForbidden = (error: unknown): null => {
    if (error instanceof ApiError && error.status === 403) return null
    throw error
  }
  const list = await client.call('GET /fleet/bans', { query }).catch(unlessForbidden)
  for (const { id, entry } of list?.fleet_bans ?? [])
    if (entry === typed.toLowerCase()) {
      const done = await client.call('DELETE /fleet/bans/{id}', { params: { id } }).catch(unlessForbidden)
      if (done && !json) print(safe(done.message))
    }
}

/** The standing bans with this id, or of exactly this address or range. */
const bansNamed = async (client: Client, typed: string): Promise<FleetBan[]> => {
  if (/^\d{1,15}$/.test(typed)) return [await client.call('GET /fleet/bans/{id}', { params: { id: Number(typed) } })]
  const fleetBans: FleetBan[] = []
  for (let page = 1; ; page++) {
    const query = { search: typed, active: true, limit: 100, page }
    const list = await client.call('GET /fleet/bans', { query })
    fleetBans.push(...list.fleet_bans)
    if (page * list.limit >= list.total) break
  }
  // However the address is written, the server finds it by its one form.
  const exact = fleetBans.filter(({ entry }) => entry === typed.toLowerCase())
  const matches =
    exact.length > 0 ? exact : fleetBans.filter(({ entry }) => entry.includes('/') === typed.includes('/'))
  const [first, ...others] = matches
  if (!first || others.some(({ entry }) => entry !== first.entry))
    throw new Failure(`There is no fleet ban of ${typed}. See: stockade fleet list`)
  return matches
}

/** Servers that have not confirmed a ban, or that it was lifted: how many, and the first names. */
interface Unconfirmed {
  readonly total: number
  readonly names: readonly string[]
}
const unconfirmed = async (client: Client, id: number, online: boolean): Promise<Unconfirmed> => {
  const query = { state: 'pending' as const, online, limit: 10 }
  const { servers, total } = await client.call('GET /fleet/bans/{id}/servers', { params: { id }, query })
  return { total, names: servers.map(({ server }) => server.hostname) }
}
/** Waits until each server that is online has confirmed it. Answers what is missing then. */
const untilConfirmed = async (client: Client, id: number, until: number) => {
  for (;;) {
    const online = await patiently(until, () => unconfirmed(client, id, true))
    if (online.total === 0 || Date.now() >= until) return { online, offline: await unconfirmed(client, id, false) }
    await sleep(Math.min(1000, Math.max(0, until - Date.now())))
  }
}
const namesOf = ({ total, names }: Unconfirmed): string =>
  `${names.map(safe).join(', ')}${total > names.length ? ` and ${total - names.length} more` : ''}`

/** Prints what is missing. @throws Failure if a server that is online has not confirmed it. */
const waitFor = async (
  client: Client,
  ids: readonly number[],
  { json, timeout = patience }: Waiting,
): Promise<void> => {
  const until = Date.now() + timeout * 1000
  const late: string[] = []
  for (const id of ids) {
    const { online, offline } = await untilConfirmed(client, id, until)
    if (!json && offline.total > 0) print(`Offline, to follow when back: ${namesOf(offline)}.`)
    if (online.total > 0)
      late.push(
        `${online.total} online ${online.total === 1 ? 'server' : 'servers'} did not confirm it within ${timeout} seconds: ${namesOf(online)}.`,
      )
  }
  if (late.length > 0) throw new Failure(late.join('\n'))
}
interface Waiting {
  readonly json: boolean
  readonly timeout?: number
}

const askedOf = (entry: string, target: TargetInput, options: BanOptions) => {
  const { duration, until, reason, force } = options
  if (duration !== undefined && until !== undefined) throw new Misuse('Give --duration or --until, not both.')
  return {
    entry,
    target,
    ...(duration === undefined ? {} : { duration }),
    ...(until === undefined ? {} : { expires_at: until === 'none' ? null : until }),
    ...(reason === undefined ? {} : { reason }),
    ...(force ? { force: true } : {}),
  }
}

/** Bans on all servers, on those with a tag or on named ones as one object: a state that later servers hold, too. */
export const banOnFleet = async (entry: string, options: BanOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const target = await targetOf(client, options)
  const body = askedOf(entry, target, options)
  if (options.dryRun) {
    if (json) return printJson({ dry_run: true, ...body })
    return print(`Would ban ${safe(entry)} on ${safe(whereOf({ target }))}. Nothing was done.`)
  }
  const reply = await client.call('POST /fleet/bans', { body }).catch((error: unknown) => {
    throw withForceOption(error)
  })
  const printBan = (ban: FleetBan): void => {
    if (json) return printJson(ban)
    print(`${ban.entry} is banned on ${whereOf(ban)}, until: ${untilOf(ban)} (fleet ban ${ban.id}).`)
    print(`Servers: ${stateOf(ban) || 'none yet'}.`)
  }
  if (!options.wait) return printBan(reply)
  const outcome = await waitFor(client, [reply.id], { ...options, json }).catch((error: unknown) => error)
  const ban = await client.call('GET /fleet/bans/{id}', { params: { id: reply.id } })
  printBan(ban)
  if (outcome !== undefined) throw outcome
  if (ban.state.failed > 0) throw new Failure(`${ban.state.failed} refused it. See: stockade fleet show ${ban.id}`)
}

const runList = async (options: ListOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { ended, server, ...query } = options
  const list = await client.call('GET /fleet/bans', {
    query: {
      ...query,
      active: ended !== true,
      ...(server === undefined ? {} : { server_id: await findServer(client, server) }),
    },
  })
  if (json) return printJson(list)
  printTable(
    ['ID', 'ADDRESS', 'WHERE', 'SERVERS', 'UNTIL', 'REASON', 'BY', 'SINCE'],
    list.fleet_bans.map(ban => [
      String(ban.id),
      ban.entry,
      whereOf(ban),
      ban.active ? stateOf(ban) : (ban.ended_by ?? 'ended'),
      untilOf(ban),
      ban.reason,
      ban.created_by,
      timeText(ban.created_at),
    ]),
  )
  printPlace('fleet bans', list, list.fleet_bans.length)
}

const runShow = async (typed: string, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const shownBans = await Promise.all(
    (await bansNamed(client, typed)).map(async ban => {
      const params = { id: ban.id }
      const { servers, total } = await client.call('GET /fleet/bans/{id}/servers', { params, query: { limit: 100 } })
      return { ...ban, servers, servers_total: total }
    }),
  )
  if (json) return printJson(shownBans)
  for (const { servers, servers_total, ...ban } of shownBans) {
    printFields([
      ['id', String(ban.id)],
      ['address', ban.entry],
      ['where', whereOf(ban)],
      ['until', untilOf(ban)],
      ['state', ban.active ? stateOf(ban) : (ban.ended_by ?? 'ended')],
      ['reason', ban.reason],
      ['by', `${ban.created_by} (${ban.source})`],
      ['since', timeText(ban.created_at)],
    ])
    print('')
    printTable(
      ['SERVER', 'STATE', 'WHY NOT', 'REPORTED'],
      servers.map(({ server, state, reason, at }) => [server.hostname, state, reason, timeText(at)]),
    )
    if (servers_total > servers.length) print(`\n${servers.length} of ${servers_total} servers`)
  }
}

type UnbanOptions = Pick<BanOptions, 'dryRun' | 'wait' | 'timeout'>
const runUnban = async (typed: string, options: UnbanOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const matches = await bansNamed(client, typed)
  if (options.dryRun) {
    if (json) return printJson({ dry_run: true, fleet_bans: matches })
    for (const ban of matches) print(`Would lift the fleet ban ${ban.id} of ${ban.entry} on ${whereOf(ban)}.`)
    return print('Nothing was done.')
  }
  const replies = []
  for (const { id } of matches) replies.push(await client.call('DELETE /fleet/bans/{id}', { params: { id } }))
  if (json) printJson(replies)
  else for (const { message } of replies) print(safe(message))
  if (!options.wait) return
  await waitFor(
    client,
    matches.map(({ id }) => id),
    { ...options, json },
  )
  if (!json) print('Every server that is online has lifted it.')
}

type ChangeOptions = Pick<BanOptions, 'duration' | 'until' | 'reason' | 'force' | 'server' | 'tag' | 'all'>
const runChange = async (typed: string, options: ChangeOptions, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const { duration, until, reason, force } = options
  if (duration !== undefined && until !== undefined) throw new Misuse('Give --duration or --until, not both.')
  const body = {
    ...(duration === undefined ? {} : { duration }),
    ...(until === undefined ? {} : { expires_at: until === 'none' ? null : until }),
    ...(reason === undefined ? {} : { reason }),
    ...(isTargeted(options) ? { target: await targetOf(client, options) } : {}),
  }
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --duration 7d.')
  const [ban, other] = await bansNamed(client, typed)
  if (ban === undefined || other !== undefined)
    throw new Failure(`${safe(typed)} is several fleet bans. Name one by its id: stockade fleet list`)
  const done = await client.call('PATCH /fleet/bans/{id}', {
    params: { id: ban.id },
    body: { ...body, ...(force ? { force } : {}) },
  })
  printEither(json, done, `Fleet ban ${done.id} of ${done.entry} on ${whereOf(done)}, until: ${untilOf(done)}.`)
}

const runNeighbours = async (ip: string, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const neighbours = await client.call('GET /bans/lookup/{ip}/neighbours', { params: { ip } })
  if (json) return printJson(neighbours)
  printFields([
    ['range', neighbours.range],
    ['addresses', neighbours.addresses],
    ['bans', neighbours.total_bans],
    ['active bans', neighbours.active_bans],
  ])
  if (neighbours.entries.length === 0) return
  print('')
  printTable(
    ['ADDRESS', 'BANS', 'ACTIVE'],
    neighbours.entries.map(entry => [entry.ip, entry.bans, entry.active_bans]),
  )
}

const runLookUp = async (ip: string, { neighbours }: { neighbours?: boolean }, command: Command): Promise<void> => {
  if (neighbours) return runNeighbours(ip, command)
  const { client, json } = contextOf(command)
  const lookUp = await client.call('GET /bans/lookup/{ip}', { params: { ip }, query: {} })
  if (json) return printJson(lookUp)
  printFields([
    ['address', lookUp.ip],
    ['country', lookUp.country_name],
    ['network', lookUp.asn === null ? null : `${lookUp.asn} ${lookUp.asn_org ?? ''}`],
    ['whitelisted', lookUp.is_whitelisted ? `by ${lookUp.matched_whitelist?.ip ?? ''}` : 'no'],
    ['bans', lookUp.total_bans === 0 ? 'none' : `${lookUp.total_bans}, ${lookUp.active_bans.length} active`],
    ...lookUp.fleet_bans.map(
      ban =>
        [
          'fleet ban',
          `${ban.id}: ${ban.entry} on ${ban.servers} servers, until: ${untilOf(ban)}${ban.reason === '' ? '' : `, ${ban.reason}`}`,
        ] as const,
    ),
    ...lookUp.blocklists.map(list => ['blocklist', `${list.name}: ${list.entry}, ${list.mode}`] as const),
    ...lookUp.active_bans.map(
      ban => ['banned', `in ${ban.jail} on ${ban.server} since ${timeText(ban.banned_at) ?? ''}`] as const,
    ),
  ])
}

const addChange = (fleet: Command): void => {
  withTarget(
    fleet
      .command('change')
      .description('change the end, the reason or the servers of a fleet ban')
      .argument('<ip-or-id>', 'its address or range, or its id'),
  )
    .option('--duration <time>', 'from now: seconds, 30m, 1h, 7d, or perm', durationOf)
    .option('--until <time>', 'a time, a date, 7d for so long from now, or none', endOf)
    .option('--reason <text>', 'why, for all who see the ban')
    .option('--force', 'also when it is your own address, or somebody is logged in from there')
    .action(runChange)
}

export const addFleetCommands = (program: Command): void => {
  const fleet = program.command('fleet').description('bans of all or some servers, as one object each')
  fleet
    .command('ban')
    .description('ban an address or a range; servers that are added later ban it too')
    .argument('<ip>', 'an address, or a CIDR no wider than /16 (IPv4) or /32 (IPv6)')
    .option('--all', 'on all servers')
    .option('--tag <tag...>', 'on servers that have one of these tags, those that get it later too')
    .option('--server <name-or-id...>', 'on these servers')
    .option('--duration <time>', 'seconds, 30m, 1h, 7d, or perm (default: 1d)', durationOf)
    .option('--until <time>', 'a time, a date, 7d for so long from now, or none', endOf)
    .option('--reason <text>', 'why, for all who see the ban')
    .option('--force', 'also when it is your own address, or somebody is logged in from there')
    .option('--dry-run', 'say what would be done')
    .option('--wait', 'wait until each server that is online holds it; exit 1 unless all do')
    .option('--timeout <seconds>', `with --wait: how long at most (default: ${patience})`, wholeOf)
    .action(banOnFleet)
  const list = fleet
    .command('list')
    .description('list the fleet bans, newest first')
    .option('--ended', 'those that ended within 90 days')
    .addOption(
      new Option('--state <state>', 'those that some server is in this state of').choices([
        'held',
        'pending',
        'refused',
        'not_covered',
      ]),
    )
    .option('--server <name-or-id>', 'those that concern this server')
    .option('--search <text>', 'part of the address, the reason or the name of who made it')
  withPage(list).action(runList)
  fleet
    .command('show')
    .description('show a fleet ban, and which servers hold it')
    .argument('<ip-or-id>', 'its address or range, or its id')
    .action((typed: string, _: object, command: Command) => runShow(typed, command))
  addChange(fleet)
  fleet
    .command('unban')
    .description('lift a fleet ban everywhere; bans that were made in another way stay')
    .argument('<ip-or-id>', 'its address or range, or its id')
    .option('--dry-run', 'say what would be done')
    .option('--wait', 'wait until each server that is online has lifted it; exit 1 unless all have')
    .option('--timeout <seconds>', `with --wait: how long at most (default: ${patience})`, wholeOf)
    .action(runUnban)
  program
    .command('lookup')
    .description('what is known of an address')
    .argument('<ip>', 'an address')
    .option('--neighbours', 'bans of the range around it')
    .action(runLookUp)
}
