import { delivery } from '@stockade/contract/limits.ts'
import type { commands as contract } from '@stockade/contract'
import type { Config } from '../../config.ts'
import { second } from '../../core/clock.ts'
import { createGroup } from '../../core/group.ts'
import { parseJson } from '../../core/json-text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { TemplatesService } from '../templates/templates.service.ts'
import { changeCommand, lateCommands, openCommands, openCommandsOf, startCommands } from './commands.store.ts'
import type { CommandRow } from './commands.store.ts'
import { dueAt } from './queue.ts'
import type { Queue } from './queue.ts'
import { paramsOf } from './rows.ts'
import type { Waiting } from './waiting.ts'

type Order = contract.Order
/** How many requests one transaction serves, and how many may wait for theirs. */
export const grouped = { batch: 500, waiting: 100_000 }
/** How many servers one statement reads the commands of. */
const serversAtOnce = 500

/** Hands commands out to agents, and ends those that were not fetched or not answered in time. */
export const createDelivery = (
  needs: StoreAccess & {
    config: Pick<Config, 'commandTimeout'>
    servers: Pick<ServersService, 'isWithheld'>
    templates: Pick<TemplatesService, 'frozen'>
    queue: Queue
    waiting: Waiting
  },
) => {
  const { db, clock, events, config, servers, templates, queue, waiting } = needs

  /** What to hand out now, oldest first, as much as one reply may carry for each server. */
  const choose = (rows: readonly CommandRow[], now: number): CommandRow[] => {
    const counts = new Map<number, number>()
    return rows.filter(row => {
      const at = dueAt(row)
      if (at === null || at > now || (row.status === 'pending' && row.expires_at <= now)) return false
      const chosen = counts.get(row.server_no) ?? 0
      counts.set(row.server_no, chosen + 1)
      return chosen < delivery.perAnswer
    })
  }
  /** Another process that claims the same commands finds them changed and leaves them. */
  const claim = async (change: Change, serverNos: readonly number[]): Promise<CommandRow[]> => {
    const now = clock()
    const chosen = choose(await openCommandsOf(change.sql, db.engine, serverNos), now)
    const pending = chosen.flatMap(({ id, status }) => (status === 'pending' ? [id] : []))
    const started = await startCommands(change.sql, db.engine, pending, now)
    await change.recordMany(
      started.map(({ id, type, server_no }) => ({ name: 'command.start', serverNo: server_no, data: { id, type } })),
    )
    const repeated: CommandRow[] = []
    for (const row of chosen) {
      if (row.status === 'pending') continue
      const updated = await changeCommand(change.sql, row, { deliveries: row.deliveries + 1, delivered_at: now })
      if (updated) repeated.push(updated)
    }
    return [...started, ...repeated].sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
  }
  /** Claims for many servers in one transaction: a batch for a thousand hosts wakes all their agents at the same moment. */
  const claims = createGroup(async (serverNos: readonly number[]): Promise<Order[][]> => {
    const { rows, frozen } = await events.change(async change => {
      const rows = await claim(change, serverNos)
      const hashes = rows.flatMap(row => row.template_hash ?? [])
      return { rows, frozen: await templates.frozen(change.sql, hashes) }
    })
    const orders = new Map<number, Order[]>(serverNos.map(no => [no, []]))
    for (const row of rows) {
      queue.track(row)
      const { id, type } = row
      const template = frozen.get(row.template_hash ?? '')
      const seal = sealOf(row)
      orders
        .get(row.server_no)
        ?.push({ id, type, params: { ...paramsOf(row) }, ...(template ? { template } : {}), ...seal })
    }
    // A server that asked twice in the same transaction gets its commands once.
    return serverNos.map(no => {
      const own = orders.get(no) ?? []
      orders.delete(no)
      return own
    })
  }, grouped)

  const isDue = (serverNo: number) => queue.isDue(serverNo) && !servers.isWithheld(serverNo)
  const take = async (serverNo: number): Promise<Order[]> =>
    isDue(serverNo) ? ((await claims.add([serverNo]))[0] ?? []) : []

  const reloadAll = async (): Promise<void> => {
    const mark = queue.mark()
    queue.replace(await openCommands(db.read), mark)
  }
  /** One read for many: a command for all hosts brings an event of each, from each other process. */
  const reloadSome = async (serverNos: readonly number[]): Promise<void> => {
    for (let left = serverNos; left.length > 0;) {
      const batchOfServers = left.slice(0, serversAtOnce)
      const mark = queue.mark()
      const replaced = queue.replace(await openCommandsOf(db.read, db.engine, batchOfServers), mark, batchOfServers)
      for (const no of replaced) if (isDue(no)) waiting.wake(no)
      // Where something changed here during the read, it is read again.
      left = [...left.slice(serversAtOnce), ...batchOfServers.filter(no => !replaced.has(no))]
    }
  }
  return {
    take,
    reload: (serverNos?: readonly number[]): Promise<void> => (serverNos ? reloadSome(serverNos) : reloadAll()),
    async waitAndTake(serverNo: number, seconds: number, gone: AbortSignal, enough = () => false): Promise<Order[]> {
      const until = clock() + seconds * second
      for (;;) {
        const orders = gone.aborted ? [] : await take(serverNo)
        const left = until - clock()
        if (orders.length > 0 || left <= 0 || gone.aborted || enough()) return orders
        // A command whose delivery is repeated meanwhile is worth waking for as well.
        const wait = Math.min(servers.isWithheld(serverNo) ? second : queue.nextIn(serverNo), left)
        const end = await waiting.wait(serverNo, wait, gone)
        // What was due may have been handed out by another process meanwhile: whoever finds nothing waits on.
        if (end === 'closed' || (end === 'timeout' && wait === left)) return take(serverNo)
      }
    },
    async expire(): Promise<void> {
      const now = clock()
      for (const row of await lateCommands(db.read, now, now - config.commandTimeout * second)) {
        const ended = await events.change(async change => {
          const updated = await changeCommand(change.sql, row, { status: 'timeout', completed_at: now })
          const data = { id: row.id, type: row.type, status: 'timeout' }
          if (updated) await change.record({ name: 'command.finish', serverNo: row.server_no, data })
          return updated
        })
        if (ended) queue.track(ended)
      }
    },
  }
}

const sealOf = ({ seal }: CommandRow): Pick<Order, 'seal'> => {
  if (seal === null) return {}
  const { proof, ...rest } = parseJson(seal)
  return { seal: { ...rest, proof: [...proof] } }
}
