import type { BodyOf, EventName, QueryOf, ReplyOf, commands as contract } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { AgentActor, Principal } from '../../core/actor.ts'
import type { Author } from '../../core/author.ts'
import type { Clock } from '../../core/clock.ts'
import { timeRange } from '../../core/page.ts'
import { forbidden, notFound } from '../../core/problem.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import { readSearch } from '../../db/search.ts'
import type { Change, Events } from '../../events/events.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { TemplatesService } from '../templates/templates.service.ts'
import { createAdding } from './adding.ts'
import { createCancellation, noAccess, noCommand } from './cancellation.ts'
import { createCommandChecks } from './checks.ts'
import type { RefuseBan } from './checks.ts'
import {
  commandSearch,
  countCommandRows,
  findCommandRow,
  findCommandView,
  findCommandViews,
  listCommandRows,
} from './commands.store.ts'
import type { CommandView } from './commands.store.ts'
import { createCreation } from './creation.ts'
import { createDelivery } from './delivery.ts'
import type { CheckedCommand, CommandType, Params, ParamsOf } from './params.ts'
import { createQueue } from './queue.ts'
import { createResults } from './results.ts'
import type { ApplyEffect, Result } from './results.ts'
import { createRows, viewOf } from './rows.ts'
import type { Command, Queued } from './rows.ts'
import { createSealing } from './sealing.ts'
import { createCommandStats } from './stats.ts'
import { createWaiting } from './waiting.ts'

type BatchReply = ReplyOf<typeof contract.createBatch>
type Prepared = ReplyOf<typeof contract.prepareSealed>

export interface CommandsService {
  list(actor: Principal, query: QueryOf<typeof contract.listCommands>): Promise<ReplyOf<typeof contract.listCommands>>
  read(actor: Principal, id: string): Promise<Command>
  /** How the commands of a period ended; cancelled ones are counted apart. */
  stats(actor: Principal, query: QueryOf<typeof contract.commandStats>): Promise<ReplyOf<typeof contract.commandStats>>
  /** As they are sent to live feeds. */
  viewsOf(ids: readonly string[]): Promise<Command[]>
  create(actor: Principal, serverId: string, type: CommandType, params: Params | undefined): Promise<Queued>
  /**
   * One command for each server, or each entry of a list and each server, or each target: all or none.
   * @throws Problem 400 or 409 that names the entry.
   */
  createBatch(actor: Principal, batch: BodyOf<typeof contract.createBatch>): Promise<BatchReply>
  /** What an operator is to sign for a batch; nothing is queued. */
  prepareSealed(actor: Principal, batch: BodyOf<typeof contract.prepareSealed>): Promise<Prepared>
  /** Queues what an operator signed. @throws Problem 400 or 409 that names the statement or the hosts. */
  createSealed(actor: Principal, body: BodyOf<typeof contract.createSealed>): Promise<BatchReply>
  /** Queues a command whose server and parameters are checked already; `also` is recorded with it. */
  queue<T extends CommandType>(
    author: Author,
    serverNo: number,
    type: T,
    params: ParamsOf<T>,
    also?: EventName,
  ): Promise<Queued>
  /** Queues many that are checked already, some hundreds in a transaction. */
  queueMany(author: Author, orders: readonly (CheckedCommand & { readonly serverNo: number })[]): Promise<void>
  /** Lifts on a host what the whitelist covers: each address once, and no more than may wait. */
  liftListed(serverNo: number, ips: readonly string[]): Promise<void>
  cancel(actor: Principal, id: string): Promise<void>
  /** Cancels those that are pending, in one transaction, and says of each what became of it. */
  cancelMany(actor: Principal, ids: readonly string[]): Promise<ReplyOf<typeof contract.cancelMany>>
  retry(actor: Principal, id: string): Promise<Queued & { retry_of: string }>
  /** Hands out what is due for a server. Costs no query if nothing is. */
  take(serverNo: number): Promise<contract.Order[]>
  /** The same, waiting up to `seconds` for a command, or until `enough` returns true when woken. */
  waitAndTake(serverNo: number, seconds: number, gone: AbortSignal, enough?: () => boolean): Promise<contract.Order[]>
  wake(serverNo: number): void
  /** Takes a result in. `apply` gets what it means beyond the command, in the same transaction. False: it was known already. */
  finish(agent: AgentActor, id: string, result: Result, apply: ApplyEffect): Promise<boolean>
  /** Name of the user or key that ordered a command of this server; null if there is no such command. */
  initiatorOf(serverNo: number, id: string): Promise<string | null>
  cancelAll(change: Change, serverNo: number): Promise<void>
  /** Ends commands that were not fetched or not answered in time. */
  expire(): Promise<void>
  /** Reads the open commands again: all, or those of some servers after another process changed them. */
  reload(serverNos?: readonly number[]): Promise<void>
  close(): void
}

interface Needs {
  db: Database
  clock: Clock
  events: Events
  config: Pick<Config, 'commandTtl' | 'commandTimeout'>
  servers: Pick<ServersService, 'get' | 'named' | 'refuseQuarantined' | 'isWithheld' | 'hostnameOf'>
  templates: Pick<TemplatesService, 'freeze' | 'keep' | 'frozen'>
  guardBan: RefuseBan
  sealedOf: Parameters<typeof createSealing>[0]['sealedOf']
  /** The site that passkeys belong to; null where there are none. */
  site: Parameters<typeof createSealing>[0]['site']
}

/** A page of the commands that the caller may see. */
const createList =
  ({ db, clock, servers }: Needs) =>
  async (
    actor: Principal,
    query: QueryOf<typeof contract.listCommands>,
  ): Promise<ReplyOf<typeof contract.listCommands>> => {
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
    // Searches have no index, so they run beside the event loop.
    const sql = tree ? scanFor(db, 'commands', query) : db.read
    const rows = await listCommandRows(sql, filter, (page - 1) * limit, limit)
    return { commands: rows.map(viewOf), total: await countCommandRows(sql, filter), page, limit }
  }

export const createCommands = async (needs: Needs): Promise<CommandsService> => {
  const { db, clock, events } = needs
  const waiting = createWaiting()
  const queue = createQueue(clock)
  const parts = { ...needs, waiting, queue }
  const checks = createCommandChecks(needs)
  const sealing = createSealing({ ...needs, freeze: checks.freeze })
  const { cancel, cancelMany, cancelAll } = createCancellation(parts)
  const { retry, ...creation } = createCreation({
    ...needs,
    checks,
    sealing,
    rowOf: createRows(needs),
    add: createAdding(parts),
  })
  const delivery = createDelivery(parts)

  const visible = async (actor: Principal, id: string): Promise<CommandView> => {
    const row = await findCommandView(db.read, id)
    if (!row) throw notFound(noCommand(id))
    if (!sees(actor, row.server_no)) throw forbidden(noAccess)
    return row
  }
  // The commands of a removed server go with it, once its removal is committed.
  events.subscribe(happened => {
    for (const { name, serverNo } of happened) if (name === 'server.delete' && serverNo !== null) queue.forget(serverNo)
  })
  await delivery.reload()
  return {
    ...creation,
    ...delivery,
    ...createResults(parts),
    list: createList(needs),
    stats: createCommandStats(needs),
    read: async (actor, id) => viewOf(await visible(actor, id)),
    viewsOf: async ids => (await findCommandViews(db.read, ids)).map(viewOf),
    prepareSealed: (actor, batch) => sealing.prepare(actor, batch),
    retry: async (actor, id) => retry(actor, await visible(actor, id)),
    async cancel(actor, id) {
      await visible(actor, id)
      await cancel(actor, id)
    },
    cancelMany,
    cancelAll,
    wake: waiting.wake,
    async initiatorOf(serverNo, id) {
      const row = await findCommandRow(db.read, id)
      return row && row.server_no === serverNo ? row.initiated_by : null
    },
    close: waiting.close,
  }
}
