import { common } from '@stockade/contract'
import type { QueryOf, ReplyOf, commands as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { countCommands } from './commands.store.ts'
import type { CommandCount } from './commands.store.ts'

const sum = (rows: readonly CommandCount[], of: 'n' | 'finished' | 'took' = 'n') =>
  rows.reduce((total, row) => total + (row[of] ?? 0), 0)

/** How the commands of a period ended. Cancelled ones are counted apart. */
export const createCommandStats =
  ({ db, clock, servers }: { db: Database; clock: Clock; servers: Pick<ServersService, 'named'> }) =>
  async (
    actor: Principal,
    { server_id, period = 'day' }: QueryOf<typeof contract.commandStats>,
  ): Promise<ReplyOf<typeof contract.commandStats>> => {
    const server = server_id === undefined ? null : servers.named(actor, 'server_id', server_id)
    const counts = await countCommands(db.read, {
      servers: actor.servers,
      ...(server ? { serverNo: server.no } : {}),
      from: clock() - common.periods[period] * second,
    })
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
  }
