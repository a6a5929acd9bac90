import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, EventName, ReplyOf, commands as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { authorOf, system } from '../../core/author.ts'
import type { Author } from '../../core/author.ts'
import type { Clock } from '../../core/clock.ts'
import { uuid7 } from '../../core/ids.ts'
import { jsonText } from '../../core/json-text.ts'
import { conflict } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Snapshot } from '../templates/templates.service.ts'
import type { createAdding, NewCommands } from './adding.ts'
import { entriesOf } from './batch.ts'
import type { CommandChecks } from './checks.ts'
import { openLifts } from './commands.store.ts'
import type { CommandRow, CommandView } from './commands.store.ts'
import { checkCommand, commandOf, storedCommand } from './params.ts'
import type { CheckedCommand, CommandType, Params, ParamsOf } from './params.ts'
import { paramsOf, queuedOf } from './rows.ts'
import type { Queued, RowOf } from './rows.ts'
import type { Sealing } from './sealing.ts'

type Batch = BodyOf<typeof contract.createBatch>

/** How many commands of a large list are queued in one transaction. */
const perTransaction = 500

/** The ways in which commands come to be. */
export const createCreation = (needs: {
  db: Pick<Database, 'read'>
  clock: Clock
  servers: Pick<ServersService, 'get' | 'named' | 'refuseQuarantined'>
  checks: CommandChecks
  sealing: Sealing
  rowOf: RowOf
  add: ReturnType<typeof createAdding>
}) => {
  const { db, clock, servers, checks, sealing, rowOf, add } = needs
  /** For what an operator asks for: refused if a host takes it only signed. */
  const addUnsigned = (added: NewCommands) => {
    sealing.requireNone(added.rows)
    return add(added)
  }
  /** Ids of one millisecond have no order; a host runs the commands of a list in the order of their ids. */
  const idsFor = (count: number) => Array.from({ length: count }, () => uuid7(clock())).sort()
  const batchEntries = async (actor: Principal, batch: Batch) => {
    const { type } = batch
    const entries = entriesOf(batch).map(({ at, given, named, serverIds }) => ({
      at,
      servers: serverIds.map(id => servers.named(actor, named, id)),
      command: checkCommand(type, given, at),
    }))
    const [first] = entries
    if (batch.params && first) checks.guard(actor, first.command)
    else await checks.guardAll(actor, entries)
    return entries
  }

  const queueMany = async (
    author: Author,
    orders: readonly (CheckedCommand & { readonly serverNo: number })[],
  ): Promise<void> => {
    // For a host in quarantine they wait until its release.
    for (let start = 0; start < orders.length; start += perTransaction) {
      const part = orders.slice(start, start + perTransaction)
      const rows = part.map(({ serverNo, ...command }) => rowOf(author, serverNo, command))
      await add({ author, rows, name: 'command.create' })
    }
  }

  return {
    async create(actor: Principal, serverId: string, type: CommandType, given: Params | undefined): Promise<Queued> {
      checks.authorize(actor, type)
      const { command, snapshot } = await checks.check(actor, type, given)
      const { row: server } = servers.get(actor, serverId)
      servers.refuseQuarantined(server.no)
      const author = authorOf(actor)
      const row = rowOf(author, server.no, command, { template_hash: snapshot?.hash ?? null })
      await addUnsigned({ author, rows: [row], name: 'command.create', snapshot })
      return queuedOf(row)
    },
    async createBatch(actor: Principal, batch: Batch): Promise<ReplyOf<typeof contract.createBatch>> {
      const { type } = batch
      checks.authorize(actor, type)
      const entries = await batchEntries(actor, batch)
      const author = authorOf(actor)
      const batch_id = uuid7(clock())
      const ids = idsFor(entries.reduce((sum, entry) => sum + entry.servers.length, 0))
      let snapshot: Snapshot | null = null
      const added: { server_id: string; params_index: number; row: CommandRow }[] = []
      for (const [params_index, entry] of entries.entries()) {
        const frozen = await checks.freeze(entry.command)
        snapshot = frozen.snapshot
        for (const server of entry.servers) {
          const more = { id: ids[added.length] ?? uuid7(clock()), batch_id, template_hash: snapshot?.hash ?? null }
          added.push({ server_id: server.id, params_index, row: rowOf(author, server.no, frozen.command, more) })
        }
      }
      const rows = added.map(({ row }) => row)
      for (const row of rows) servers.refuseQuarantined(row.server_no)
      await addUnsigned({ author, rows, name: 'command.create', snapshot })
      const commands = added.map(({ server_id, params_index, row }) => ({
        id: row.id,
        server_id,
        status: 'pending' as const,
        params_index,
      }))
      return { batch_id, commands }
    },
    async createSealed(
      actor: Principal,
      body: BodyOf<typeof contract.createSealed>,
    ): Promise<ReplyOf<typeof contract.createSealed>> {
      const signed = await sealing.open(actor, body)
      const author = authorOf(actor)
      const batch_id = uuid7(clock())
      const ids = idsFor(signed.length)
      const rows = signed.map(({ server, command, snapshot, seal }, index) =>
        rowOf(author, server.no, command, {
          id: ids[index] ?? uuid7(clock()),
          batch_id,
          template_hash: snapshot?.hash ?? null,
          seal: seal && jsonText(seal),
        }),
      )
      await add({ author, rows, name: 'command.create', snapshot: signed[0]?.snapshot ?? null })
      const commands = rows.map((row, params_index) => ({
        id: row.id,
        server_id: signed[params_index]?.server.id ?? '',
        status: 'pending' as const,
        params_index,
      }))
      return { batch_id, commands }
    },
    async queue<T extends CommandType>(
      author: Author,
      serverNo: number,
      type: T,
      params: ParamsOf<T>,
      also?: EventName,
    ): Promise<Queued> {
      const isSystem = author === system
      if (!isSystem) servers.refuseQuarantined(serverNo)
      const row = rowOf(author, serverNo, commandOf(type, params))
      // What Stockade itself lifts is sent unsigned to every host: the host decides.
      await (isSystem ? add : addUnsigned)({ author, rows: [row], name: 'command.create', also })
      return queuedOf(row)
    },
    queueMany,
    async liftListed(serverNo: number, ips: readonly string[]): Promise<void> {
      const open = new Set((await openLifts(db.read, serverNo)).map(row => String(paramsOf(row).ip)))
      const room = Math.max(0, bounds.waitingCommands - open.size)
      const fresh = [...new Set(ips)].filter(ip => !open.has(ip)).slice(0, room)
      const orders = fresh.map(ip => ({ serverNo, ...commandOf('unban-ip', { jail: '*', ip }) }))
      await queueMany(system, orders)
    },
    async retry(actor: Principal, failed: CommandView): Promise<Queued & { retry_of: string }> {
      const stored = storedCommand(failed)
      checks.authorize(actor, stored.type)
      if (failed.status !== 'failed' && failed.status !== 'timeout')
        throw conflict(`Only a failed or timed-out command can be tried again; this one is ${failed.status}.`)
      // A server that was removed has no agent to run it.
      const { row: server } = servers.get(actor, failed.server_id)
      // A deployment is tried again as it was frozen, whatever became of the template since.
      const { command } = failed.template_hash
        ? { command: stored }
        : await checks.check(actor, stored.type, stored.params)
      servers.refuseQuarantined(server.no)
      const author = authorOf(actor)
      const row = rowOf(author, server.no, command, { retry_of: failed.id, template_hash: failed.template_hash })
      await addUnsigned({ author, rows: [row], name: 'command.retry' })
      return { ...queuedOf(row), retry_of: failed.id }
    },
  }
}
