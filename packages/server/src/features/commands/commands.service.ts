import { bounds, delivery, shapes, times } from '@stockade/contract'
import type { BodyOf, EventName, QueryOf, ReplyOf, commands as contract } from '@stockade/contract'
import { system, authorOf } from '../../core/author.ts'
import type { Author } from '../../core/author.ts'
import { inSlices } from '../../core/slices.ts'
import { sees } from '../../core/actor.ts'
import type { AgentActor, Principal } from '../../core/actor.ts'
import { iso, isoOrNull, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { createGroup } from '../../core/group.ts'
import { uuid7 } from '../../core/ids.ts'
import { Problem, conflict, forbidden, invalid, notFound } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import { tame } from '../../core/text.ts'
import { timeRange } from '../../core/page.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import { readSearch } from '../../db/search.ts'
import type { Change, Events } from '../../events/events.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Settings, Snapshot, TemplatesService } from '../templates/templates.service.ts'
import {
  cancelCommands,
  changeCommand,
  commandSearch,
  countCommands,
  countCommandRows,
  findCommandRow,
  findCommandStates,
  findCommandView,
  findCommandViews,
  insertCommands,
  lateCommands,
  listCommandRows,
  openCommands,
  openCommandsOf,
  startCommands,
} from './commands.store.ts'
import type { CommandCount, CommandRow, CommandView } from './commands.store.ts'
import { entriesOf } from './batch.ts'
import { checkParams } from './params.ts'
import { createSealing } from './sealing.ts'
import type { Params } from './params.ts'
import { createWaiting } from './waiting.ts'

type Type = contract.CommandType
type Command = ReplyOf<typeof contract.getCommand>
type Order = contract.Order

export interface Queued {
  readonly id: string
  readonly type: Type
  readonly status: 'pending'
  readonly created_at: string
}
export interface Result {
  readonly success: boolean
  readonly output?: string
  readonly exit_code?: number | null
}

export interface CommandsService {
  list(actor: Principal, query: QueryOf<typeof contract.listCommands>): Promise<ReplyOf<typeof contract.listCommands>>
  read(actor: Principal, id: string): Promise<Command>
  /** How the commands of a period ended; cancelled ones stand apart. */
  stats(actor: Principal, query: QueryOf<typeof contract.commandStats>): Promise<ReplyOf<typeof contract.commandStats>>
  /** As they are sent to live feeds. */
  viewsOf(ids: readonly string[]): Promise<Command[]>
  create(actor: Principal, serverId: string, type: Type, params: Params | undefined): Promise<Queued>
  /**
   * One command for each server, or each entry of a list and each server, or each target: all or none.
   * @throws Problem 400 or 409 that names the entry.
   */
  createBatch(
    actor: Principal,
    batch: BodyOf<typeof contract.createBatch>,
  ): Promise<ReplyOf<typeof contract.createBatch>>
  /** What an operator is to sign for a batch; nothing is queued. */
  prepareSealed(
    actor: Principal,
    batch: BodyOf<typeof contract.prepareSealed>,
  ): Promise<ReplyOf<typeof contract.prepareSealed>>
  /** Queues what an operator signed. @throws Problem 400 or 409 that names the statement or the hosts. */
  createSealed(
    actor: Principal,
    body: BodyOf<typeof contract.createSealed>,
  ): Promise<ReplyOf<typeof contract.createSealed>>
  /** Queues a command whose server and parameters are checked already; `also` is recorded with it. */
  queue(author: Author, serverNo: number, type: Type, params: Params, also?: EventName): Promise<Queued>
  /** Queues many that are checked already, some hundreds in a transaction. */
  queueMany(
    author: Author,
    orders: readonly { readonly serverNo: number; readonly type: Type; readonly params: Params }[],
  ): Promise<void>
  cancel(actor: Principal, id: string): Promise<void>
  /** Cancels those that are pending, in one transaction, and says of each what became of it. */
  cancelMany(actor: Principal, ids: readonly string[]): Promise<ReplyOf<typeof contract.cancelMany>>
  retry(actor: Principal, id: string): Promise<Queued & { retry_of: string }>
  /** Hands out what is due for a server. No query where nothing is. */
  take(serverNo: number): Promise<Order[]>
  /** The same, waiting up to `seconds` for something to come, or for what `enough` says. */
  waitAndTake(serverNo: number, seconds: number, gone: AbortSignal, enough?: () => boolean): Promise<Order[]>
  wake(serverNo: number): void
  /** Takes a result in; `effects` run in the same transaction when the command succeeded. False: it was known already. */
  finish(agent: AgentActor, id: string, result: Result, effects: readonly Effect[]): Promise<boolean>
  /** Who asked for a command of this server; null when it has none of that id. */
  initiatorOf(serverNo: number, id: string): Promise<string | null>
  cancelAll(change: Change, serverNo: number): Promise<void>
  /** Ends what nobody fetched or answered in time. */
  expire(): Promise<void>
  /** Reads the open commands anew: all, or those of one server after another process changed them. */
  reload(serverNo?: number): Promise<void>
  close(): void
}
const noCommand = (id: string) => `There is no command ${id}.`
const noAccess = 'You have no access to the server of this command.'
const begun = 'Only a pending command can be cancelled; this one was handed out already or has ended.'
/** Refused bans of a batch that are named. */
const mostRefused = 100
/** How many go into one transaction, and how many may wait for theirs. */
const grouped = { batch: 500, waiting: 100_000 }

/**
 * One step of what a success means. A transaction takes each step for all of its results before the next step, and all of them anew
 * where it is tried again.
 */
export type Effect = (change: Change, command: CommandRow) => Promise<void>

/** Orders that must not surprise anyone hours later. */
const shortLived = new Set<Type>([
  'service-restart',
  'reload-all',
  'jail-status',
  'jail-enable',
  'jail-disable',
  'jail-reload',
])

const templateEvents: Readonly<Record<string, EventName>> = {
  'deploy-template': 'template.deploy',
  'remove-template': 'template.remove',
}

const viewOf = (row: CommandView): Command => ({
  id: row.id,
  type: row.type as Type,
  server: { id: row.server_id, hostname: row.hostname },
  params: JSON.parse(row.params) as Record<string, unknown>,
  status: row.status,
  result:
    row.success === null ? null : { success: row.success === 1, output: row.output ?? '', exit_code: row.exit_code },
  initiated_by: row.initiated_by,
  retry_of: row.retry_of,
  batch_id: row.batch_id,
  cancelled: row.cancelled === 1,
  created_at: iso(row.created_at),
  started_at: isoOrNull(row.started_at),
  completed_at: isoOrNull(row.completed_at),
})

export const createCommands = async (needs: {
  db: Database
  clock: Clock
  events: Events
  config: Pick<Config, 'commandTtl' | 'commandTimeout'>
  servers: Pick<ServersService, 'get' | 'named' | 'refuseQuarantined' | 'isQuarantined'>
  templates: Pick<TemplatesService, 'freeze' | 'keep' | 'frozen'>
  /** Refuses what an operator must not ban, 409 with the reason. */
  guardBan: (actor: Principal, params: Params) => void
  sealedOf: Parameters<typeof createSealing>[0]['sealedOf']
  /** The site that passkeys belong to; null where there are none. */
  site: Parameters<typeof createSealing>[0]['site']
}): Promise<CommandsService> => {
  const { db, clock, events, config, servers, templates, guardBan } = needs
  const waiting = createWaiting()
  /** When each open command of a server is next due to be handed out; what is not here costs no query. */
  const due = new Map<number, Map<string, number>>()

  const dueAt = (row: CommandRow): number | null => {
    if (row.status === 'pending') return 0
    if (row.status === 'running' && row.deliveries < delivery.attempts)
      return (row.delivered_at ?? 0) + times.commandLease * second
    return null
  }
  /** When this process last knew better than a read that began before, for each server: a count, not a time. */
  const known = new Map<number, number>()
  let count = 0
  const track = (row: CommandRow) => {
    known.set(row.server_no, ++count)
    const at = dueAt(row)
    const mine = due.get(row.server_no)
    if (at !== null) {
      if (mine) mine.set(row.id, at)
      else due.set(row.server_no, new Map([[row.id, at]]))
    } else if (mine?.delete(row.id) && mine.size === 0) due.delete(row.server_no)
  }
  const lifetime = (type: Type, params: Params): number => {
    const most = config.commandTtl
    if (shortLived.has(type)) return Math.min(most, times.commandTtlShort)
    if (type === 'ban-ip' && typeof params.duration === 'number' && params.duration > 0)
      return Math.min(most, params.duration)
    return most
  }
  const rowOf = (
    author: Author,
    serverNo: number,
    type: Type,
    params: Params,
    more: Partial<CommandRow> = {},
  ): CommandRow => {
    const now = clock()
    return {
      id: uuid7(now),
      server_no: serverNo,
      type,
      params: JSON.stringify(params),
      status: 'pending',
      success: null,
      output: null,
      exit_code: null,
      initiated_by: author.name,
      retry_of: null,
      batch_id: null,
      template_hash: null,
      seal: null,
      cancelled: 0,
      deliveries: 0,
      delivered_at: null,
      created_at: now,
      expires_at: now + lifetime(type, params) * second,
      started_at: null,
      completed_at: null,
      ...more,
    }
  }
  const told = (row: CommandRow) => ({ id: row.id, type: row.type, params: JSON.parse(row.params) as object })
  /** One entry for a whole deployment or removal, beside those of its commands. */
  const recordTemplate = async (
    change: Change,
    author: Author,
    rows: readonly CommandRow[],
    snapshot?: Snapshot | null,
  ) => {
    const [row, other] = rows
    const name = templateEvents[row?.type ?? '']
    if (!row || !name) return
    const params = JSON.parse(row.params) as object
    const data = {
      ...params,
      ...(snapshot ? { name: snapshot.template.name } : {}),
      batch_id: row.batch_id,
      servers: rows.length,
    }
    await change.record({ name, author, data, ...(other ? {} : { serverNo: row.server_no }) })
  }
  const add = async (
    author: Author,
    rows: readonly CommandRow[],
    name: 'command.create' | 'command.retry',
    also?: EventName,
    snapshot?: Snapshot | null,
  ) => {
    await events.change(async change => {
      if (snapshot) await templates.keep(change.sql, snapshot)
      await insertCommands(change.sql, rows)
      if (name === 'command.create') await recordTemplate(change, author, rows, snapshot)
      await change.recordMany(
        rows.flatMap(row => {
          const own = { name, author, serverNo: row.server_no, data: told(row) }
          const data = { ...(JSON.parse(row.params) as object), command_id: row.id }
          return also ? [own, { ...own, name: also, data }] : [own]
        }),
      )
    })
    for (const row of rows) track(row)
    for (const serverNo of new Set(rows.map(row => row.server_no))) waiting.wake(serverNo)
  }
  /** The same for what an operator asks for: refused where a host takes it only signed, before anything is queued. */
  const addUnsigned = (...given: Parameters<typeof add>) => {
    const [, rows] = given
    sealing.requireNone(rows)
    return add(...given)
  }
  const queued = (row: CommandRow): Queued => ({
    id: row.id,
    type: row.type as Type,
    status: 'pending',
    created_at: iso(row.created_at),
  })
  /** Parameters fit to be stored; what a deployment carries is frozen here. */
  const check = async (
    actor: Principal,
    type: Type,
    given: Params | undefined,
  ): Promise<{ params: Params; snapshot: Snapshot | null }> => {
    const params = checkParams(type, given)
    if (type === 'ban-ip') guardBan(actor, params)
    return freeze(type, params)
  }
  /** A deployment writes root's configuration: by this way, too, a cookie alone is not enough. @throws Problem 403 with `step_up`. */
  const proveFor = (actor: Principal, type: string) => {
    if (type === 'deploy-template') requireProof(actor)
  }
  const freeze = async (type: Type, params: Params): Promise<{ params: Params; snapshot: Snapshot | null }> => {
    if (type !== 'deploy-template') return { params, snapshot: null }
    const { template_id, settings } = params as { template_id: number | string; settings: Settings }
    const snapshot = await templates.freeze(template_id, settings, 'params.settings')
    if (!snapshot) throw invalid('params.template_id', `There is no template ${template_id}.`)
    return { params: { ...params, template_id: snapshot.templateId }, snapshot }
  }
  /** Refuses bans that must not be, naming each by its place, so that the rest can be sent without them. */
  const guardAll = async (actor: Principal, entries: readonly { readonly at: string; readonly params: Params }[]) => {
    const refused: { path: string; message: string }[] = []
    let count = 0
    await inSlices(entries, ({ at, params }) => {
      try {
        guardBan(actor, params)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        if (++count <= mostRefused) refused.push({ path: `${at}.ip`, message: error.message })
      }
    })
    const [first] = refused
    if (!first) return
    const more = count > 1 ? ` ${count - 1} more of these bans can't be, either; nothing is queued.` : ''
    throw new Problem(409, 'Conflict', `${first.path}: ${first.message}${more}`, { details: refused })
  }
  const visible = async (actor: Principal, id: string): Promise<CommandView> => {
    const row = await findCommandView(db.read, id)
    if (!row) throw notFound(noCommand(id))
    if (!sees(actor, row.server_no)) throw forbidden(noAccess)
    return row
  }
  /** Ends those that were never handed out; resolves to their ids. */
  const cancelPending = async (actor: Principal, ids: readonly string[]): Promise<string[]> => {
    const cancelled = await events.change(async change => {
      const rows = await cancelCommands(change.sql, ids, `Cancelled by ${actor.name}`, clock())
      await change.recordMany(
        rows.map(row => ({
          name: 'command.cancel',
          author: authorOf(actor),
          serverNo: row.server_no,
          data: told(row),
        })),
      )
      return rows
    })
    for (const row of cancelled) track(row)
    return cancelled.map(({ id }) => id)
  }
  /**
   * Claims what is due for some servers, oldest first, in one transaction: a batch for a thousand hosts wakes them all in
   * the same moment. Another process that claims the same finds it changed and leaves it.
   */
  const claimAll = async (serverNos: readonly number[]): Promise<Order[][]> => {
    const { taken, frozen } = await events.change(async change => {
      const now = clock()
      const counts = new Map<number, number>()
      const chosen = (await openCommandsOf(change.sql, serverNos)).filter(row => {
        const at = dueAt(row)
        if (at === null || at > now || (row.status === 'pending' && row.expires_at <= now)) return false
        const count = counts.get(row.server_no) ?? 0
        counts.set(row.server_no, count + 1)
        return count < delivery.perAnswer
      })
      const fresh = chosen.filter(row => row.status === 'pending')
      const claimed = await startCommands(
        change.sql,
        fresh.map(({ id }) => id),
        now,
      )
      await change.recordMany(
        claimed.map(row => ({
          name: 'command.start',
          serverNo: row.server_no,
          data: { id: row.id, type: row.type },
        })),
      )
      const again: CommandRow[] = []
      for (const row of chosen) {
        if (row.status === 'pending') continue
        const more = { deliveries: row.deliveries + 1, delivered_at: now }
        const done = await changeCommand(change.sql, row, more)
        if (done) again.push(done)
      }
      const taken = [...claimed, ...again].sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
      const hashes = taken.flatMap(row => row.template_hash ?? [])
      return { taken, frozen: await templates.frozen(change.sql, hashes) }
    })
    const orders = new Map<number, Order[]>(serverNos.map(no => [no, []]))
    for (const row of taken) {
      track(row)
      const template = frozen.get(row.template_hash ?? '')
      const params = JSON.parse(row.params) as Record<string, unknown>
      orders.get(row.server_no)?.push({
        id: row.id,
        type: row.type,
        params,
        ...(template ? { template } : {}),
        ...(row.seal === null ? {} : { seal: JSON.parse(row.seal) as Order['seal'] }),
      })
    }
    // A server that asked twice in the same moment gets its orders once.
    return serverNos.map(no => {
      const mine = orders.get(no) ?? []
      orders.delete(no)
      return mine
    })
  }
  const claims = createGroup(claimAll, grouped)
  const claim = async (serverNo: number): Promise<Order[]> => (await claims.add([serverNo]))[0] ?? []

  interface Ending {
    readonly row: CommandRow
    readonly set: { readonly success: number; readonly output: string; readonly exit_code: number | null }
    readonly effects: readonly Effect[]
  }
  /** Commands by their ids first, then what they mean, by servers: so no two processes wait for each other in a circle. */
  const endAll = async (change: Change, endings: readonly Ending[]): Promise<ReadonlyMap<Ending, CommandRow>> => {
    const ended = new Map<Ending, CommandRow>()
    for (const ending of [...endings].sort((a, b) => (a.row.id < b.row.id ? -1 : 1))) {
      const { row, set } = ending
      const status = set.success === 1 ? 'completed' : 'failed'
      const done = await changeCommand(change.sql, row, { ...set, status, completed_at: clock() })
      if (done) ended.set(ending, done)
    }
    const succeeded = [...ended]
      .filter(([{ set }]) => set.success === 1)
      .sort(([, a], [, b]) => a.server_no - b.server_no)
    const steps = Math.max(0, ...succeeded.map(([{ effects }]) => effects.length))
    for (let step = 0; step < steps; step++)
      for (const [{ effects }, done] of succeeded) await effects[step]?.(change, done)
    return ended
  }
  /** Results of many hosts in one transaction; null where the command changed since it was read. */
  const ends = createGroup(
    (endings: readonly Ending[]) =>
      events.change(async change => {
        const ended = await endAll(change, endings)
        await change.recordMany(
          endings
            .flatMap(ending => ended.get(ending) ?? [])
            .map(({ id, type, status, server_no }) => ({
              name: 'command.finish',
              serverNo: server_no,
              data: { id, type, status },
            })),
        )
        return endings.map(ending => ended.get(ending) ?? null)
      }),
    grouped,
  )
  const sealing = createSealing({
    clock,
    servers,
    freeze,
    guardBan,
    sealedOf: needs.sealedOf,
    site: needs.site,
  })
  const isDue = (serverNo: number): boolean => {
    const mine = due.get(serverNo)
    if (!mine || servers.isQuarantined(serverNo)) return false
    const now = clock()
    for (const at of mine.values()) if (at <= now) return true
    return false
  }
  const service: CommandsService = {
    async list(actor, query) {
      const { page = 1, limit = 50 } = query
      const { from, to } = timeRange(query.from, query.to)
      const tree = readSearch(query.q, 'commands')
      const server = query.server_id === undefined ? null : servers.named(actor, 'server_id', query.server_id)
      const filter = {
        servers: actor.servers,
        ...(server ? { serverNo: server.no } : {}),
        ...(query.status ? { status: query.status } : {}),
        ...(query.type ? { type: query.type } : {}),
        ...(query.batch_id ? { batchId: query.batch_id } : {}),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        ...(tree ? { search: commandSearch(db.engine, tree, clock()) } : {}),
      }
      // What is searched for has no index: beside the event loop.
      const sql = tree ? scanFor(db, 'commands', query) : db.read
      const rows = await listCommandRows(sql, filter, (page - 1) * limit, limit)
      return { commands: rows.map(viewOf), total: await countCommandRows(sql, filter), page, limit }
    },
    async stats(actor, { server_id, period = 'day' }) {
      const server = server_id === undefined ? null : servers.named(actor, 'server_id', server_id)
      const counts = await countCommands(db.read, {
        servers: actor.servers,
        ...(server ? { serverNo: server.no } : {}),
        from: clock() - shapes.periods[period] * second,
      })
      const sum = (rows: readonly CommandCount[], of: 'n' | 'finished' | 'took' = 'n') =>
        rows.reduce((total, row) => total + (row[of] ?? 0), 0)
      const ended = (status: CommandCount['status']) =>
        sum(counts.filter(row => row.status === status && row.cancelled === 0))
      const [completed, failed, timeout] = [ended('completed'), ended('failed'), ended('timeout')]
      const all = completed + failed + timeout
      const finished = sum(counts, 'finished')
      const types: Record<string, number> = {}
      for (const { type, n } of counts) types[type] = (types[type] ?? 0) + n
      return {
        total: sum(counts),
        by_status: { completed, failed, timeout, cancelled: sum(counts.filter(row => row.cancelled === 1)) },
        by_type: { ...types, other: 0 },
        avg_execution_time_ms: finished === 0 ? null : Math.round(sum(counts, 'took') / finished),
        success_rate: all === 0 ? null : Math.round((completed * 1000) / all) / 10,
      }
    },
    read: async (actor, id) => viewOf(await visible(actor, id)),
    viewsOf: async ids => (await findCommandViews(db.read, ids)).map(viewOf),
    async create(actor, serverId, type, given) {
      proveFor(actor, type)
      const { params, snapshot } = await check(actor, type, given)
      const { row: server } = servers.get(actor, serverId)
      servers.refuseQuarantined(server.no, 409)
      const row = rowOf(authorOf(actor), server.no, type, params, { template_hash: snapshot?.hash ?? null })
      await addUnsigned(authorOf(actor), [row], 'command.create', undefined, snapshot)
      return queued(row)
    },
    async createBatch(actor, batch) {
      const { type } = batch
      proveFor(actor, type)
      const entries = entriesOf(batch).map(({ at, given, named, serverIds }) => ({
        at,
        servers: serverIds.map(id => servers.named(actor, named, id)),
        params: checkParams(type, given, at),
      }))
      const [first] = entries
      if (type === 'ban-ip' && batch.params && first) guardBan(actor, first.params)
      else if (type === 'ban-ip') await guardAll(actor, entries)
      const author = authorOf(actor)
      const batch_id = uuid7(clock())
      // Of the same millisecond, ids are in no order of their own; a host runs a list in its order.
      const total = entries.reduce((sum, entry) => sum + entry.servers.length, 0)
      const ids = Array.from({ length: total }, () => uuid7(clock())).sort()
      let snapshot: Snapshot | null = null
      const rows: { server_id: string; params_index: number; row: CommandRow }[] = []
      for (const [params_index, entry] of entries.entries()) {
        const frozen = await freeze(type, entry.params)
        snapshot = frozen.snapshot
        for (const server of entry.servers) {
          const more = { id: ids[rows.length] ?? uuid7(clock()), batch_id, template_hash: snapshot?.hash ?? null }
          rows.push({ server_id: server.id, params_index, row: rowOf(author, server.no, type, frozen.params, more) })
        }
      }
      for (const { row } of rows) servers.refuseQuarantined(row.server_no, 409)
      await addUnsigned(
        author,
        rows.map(({ row }) => row),
        'command.create',
        undefined,
        snapshot,
      )
      return {
        batch_id,
        commands: rows.map(({ server_id, params_index, row }) => ({
          id: row.id,
          server_id,
          status: 'pending',
          params_index,
        })),
      }
    },
    prepareSealed: (actor, batch) => sealing.prepare(actor, batch),
    async createSealed(actor, body) {
      const signed = await sealing.open(actor, body)
      const author = authorOf(actor)
      const batch_id = uuid7(clock())
      const ids = signed.map(() => uuid7(clock())).sort()
      const rows = signed.map(({ server, type, params, snapshot, seal }, index) =>
        rowOf(author, server.no, type, params, {
          id: ids[index] ?? uuid7(clock()),
          batch_id,
          template_hash: snapshot?.hash ?? null,
          seal: JSON.stringify(seal),
        }),
      )
      await add(author, rows, 'command.create', undefined, signed[0]?.snapshot ?? null)
      return {
        batch_id,
        commands: rows.map((row, params_index) => ({
          id: row.id,
          server_id: signed[params_index]?.server.id ?? '',
          status: 'pending' as const,
          params_index,
        })),
      }
    },
    async queue(author, serverNo, type, params, also) {
      if (author !== system) servers.refuseQuarantined(serverNo, 409)
      const row = rowOf(author, serverNo, type, params)
      // What Stockade itself lifts is sent all the same: the host decides.
      await (author === system ? add : addUnsigned)(author, [row], 'command.create', also)
      return queued(row)
    },
    async queueMany(author, orders) {
      // For a host in quarantine it waits until the release, as what is there already does.
      for (let start = 0; start < orders.length; start += 500) {
        const part = orders.slice(start, start + 500)
        await add(
          author,
          part.map(({ serverNo, type, params }) => rowOf(author, serverNo, type, params)),
          'command.create',
        )
      }
    },
    async cancel(actor, id) {
      await visible(actor, id)
      if ((await cancelPending(actor, [id])).length === 0) throw conflict(begun)
    },
    async cancelMany(actor, given) {
      const ids = [...new Set(given.map(id => id.toLowerCase()))]
      const known = new Map((await findCommandStates(db.read, ids)).map(row => [row.id, row]))
      const waits = [...known.values()].filter(row => row.status === 'pending' && sees(actor, row.server_no))
      const cancelled = new Set(
        waits.length === 0
          ? []
          : await cancelPending(
              actor,
              waits.map(({ id }) => id),
            ),
      )
      // A host may have fetched one in the meantime.
      const late = waits.flatMap(({ id }) => (cancelled.has(id) ? [] : [id]))
      for (const row of await findCommandStates(db.read, late)) known.set(row.id, row)
      return {
        cancelled: cancelled.size,
        commands: ids.map(id => {
          const state = known.get(id)
          if (!state) return { id, cancelled: false, status: null, error: noCommand(id) }
          if (!sees(actor, state.server_no)) return { id, cancelled: false, status: null, error: noAccess }
          const done = cancelled.has(id)
          return { id, cancelled: done, status: done ? 'failed' : state.status, error: done ? null : begun }
        }),
      }
    },
    async retry(actor, id) {
      const old = await visible(actor, id)
      proveFor(actor, old.type)
      if (old.status !== 'failed' && old.status !== 'timeout')
        throw conflict(`Only a failed or timed-out command can be tried again; this one is ${old.status}.`)
      // A server that is gone since has no agent to run it.
      const { row: server } = servers.get(actor, old.server_id)
      const type = old.type as Type
      const given = JSON.parse(old.params) as Params
      // A deployment is tried again as it was frozen then, whatever became of the template since.
      const { params } = old.template_hash ? { params: given } : await check(actor, type, given)
      const more = { retry_of: id, template_hash: old.template_hash }
      servers.refuseQuarantined(server.no, 409)
      const row = rowOf(authorOf(actor), server.no, type, params, more)
      await addUnsigned(authorOf(actor), [row], 'command.retry')
      return { ...queued(row), retry_of: id }
    },
    async take(serverNo) {
      return isDue(serverNo) ? claim(serverNo) : []
    },
    async waitAndTake(serverNo, seconds, gone, enough = () => false) {
      const until = clock() + seconds * second
      for (;;) {
        const orders = gone.aborted ? [] : await service.take(serverNo)
        const left = until - clock()
        if (orders.length > 0 || left <= 0 || gone.aborted || enough()) return orders
        // A lease that runs out meanwhile is worth waking for as well.
        const next = Math.min(...[...(due.get(serverNo)?.values() ?? [])].map(at => Math.max(10, at - clock())), left)
        await waiting.wait(serverNo, next, gone)
        if (next === left || !isDue(serverNo)) return service.take(serverNo)
      }
    },
    wake: serverNo => waiting.wake(serverNo),
    async finish(agent, id, result, effects) {
      const row = await findCommandRow(db.read, id)
      if (!row) throw notFound(noCommand(id))
      if (row.server_no !== agent.serverNo) throw forbidden('This command belongs to another server.')
      const given = {
        success: result.success ? 1 : 0,
        output: tame(result.output ?? '', bounds.commandOutput),
        exit_code: result.exit_code ?? null,
      }
      const same = row.success === given.success && row.output === given.output && row.exit_code === given.exit_code
      if (row.status === 'completed' || row.status === 'failed') {
        if (same) return false
        throw conflict('This command has another result already.')
      }
      if (row.status === 'pending') throw conflict('This command was never handed out.')
      // A late result of a timed-out command is recorded: the truth wins.
      const [finished] = await ends.add([{ row, set: given, effects }])
      // Handed out once more in the same moment: look again.
      if (!finished) return service.finish(agent, id, result, effects)
      track(finished)
      return true
    },
    async initiatorOf(serverNo, id) {
      const row = await findCommandRow(db.read, id)
      return row && row.server_no === serverNo ? row.initiated_by : null
    },
    async cancelAll(change, serverNo) {
      for (const row of await openCommandsOf(change.sql, [serverNo])) {
        if (row.status !== 'pending') continue
        const done = await changeCommand(change.sql, row, {
          status: 'failed',
          cancelled: 1,
          success: 0,
          output: 'Cancelled because the server was removed',
          completed_at: clock(),
        })
        if (done) await change.record({ name: 'command.cancel', author: system, serverNo, data: told(done) })
      }
    },
    async expire() {
      const now = clock()
      const rows = await lateCommands(db.read, now, now - config.commandTimeout * second)
      for (const row of rows) {
        const ended = await events.change(async change => {
          const done = await changeCommand(change.sql, row, { status: 'timeout', completed_at: now })
          if (done)
            await change.record({
              name: 'command.finish',
              serverNo: row.server_no,
              data: { id: row.id, type: row.type, status: 'timeout' },
            })
          return done
        })
        if (ended) track(ended)
      }
    },
    async reload(serverNo) {
      const began = count
      /** What was queued or has ended here since, or was read by a later look, a read may not know of. */
      const isOld = (no: number) => (known.get(no) ?? 0) > began
      const rows = await (serverNo === undefined ? openCommands(db.read) : openCommandsOf(db.read, [serverNo]))
      if (serverNo !== undefined && isOld(serverNo)) return service.reload(serverNo)
      const nos = serverNo === undefined ? [...due.keys(), ...rows.map(row => row.server_no)] : [serverNo]
      const taken = new Set(nos.filter(no => !isOld(no)))
      for (const no of taken) {
        due.delete(no)
        known.set(no, ++count)
      }
      for (const row of rows) if (taken.has(row.server_no)) track(row)
      if (serverNo !== undefined && isDue(serverNo)) waiting.wake(serverNo)
    },
    close: () => waiting.close(),
  }
  // What a server was to be handed goes with it, once its removal is committed.
  events.subscribe(happened => {
    for (const { name, serverNo } of happened) if (name === 'server.delete' && serverNo !== null) due.delete(serverNo)
  })
  await service.reload()
  return service
}
