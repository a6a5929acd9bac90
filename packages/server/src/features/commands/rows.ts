import { times } from '@stockade/contract'
import type { ReplyOf, commands as contract } from '@stockade/contract'
import type { Config } from '../../config.ts'
import type { Author } from '../../core/author.ts'
import { iso, isoOrNull, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { uuid7 } from '../../core/ids.ts'
import type { CommandRow, CommandView } from './commands.store.ts'
import type { Params } from './params.ts'

export type CommandType = contract.CommandType
export type Command = ReplyOf<typeof contract.getCommand>

/** A command that was just queued. */
export interface Queued {
  readonly id: string
  readonly type: CommandType
  readonly status: 'pending'
  readonly created_at: string
}

/** Commands that must not surprise anyone hours later. */
const shortLived = new Set<CommandType>([
  'service-restart',
  'reload-all',
  'jail-status',
  'jail-enable',
  'jail-disable',
  'jail-reload',
  'self-test',
])
/** Seconds until a command that nobody fetched times out. */
const lifetimeOf = (type: CommandType, params: Params, longest: number): number => {
  if (shortLived.has(type)) return Math.min(longest, times.commandTtlShort)
  if (type === 'ban-ip' && typeof params.duration === 'number' && params.duration > 0)
    return Math.min(longest, params.duration)
  return longest
}

/** Makes the rows of new commands. */
export const createRows =
  ({ clock, config }: { clock: Clock; config: Pick<Config, 'commandTtl'> }) =>
  (author: Author, serverNo: number, type: CommandType, params: Params, more: Partial<CommandRow> = {}): CommandRow => {
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
      expires_at: now + lifetimeOf(type, params, config.commandTtl) * second,
      started_at: null,
      completed_at: null,
      ...more,
    }
  }
export type RowOf = ReturnType<typeof createRows>

export const paramsOf = (row: Pick<CommandRow, 'params'>): Params => JSON.parse(row.params) as Params

export const queuedOf = (row: CommandRow): Queued => ({
  id: row.id,
  type: row.type as CommandType,
  status: 'pending',
  created_at: iso(row.created_at),
})
/** What the events of a command carry. */
export const eventDataOf = (row: CommandRow) => ({ id: row.id, type: row.type, params: paramsOf(row) })

export const viewOf = (row: CommandView): Command => ({
  id: row.id,
  type: row.type as CommandType,
  server: { id: row.server_id, hostname: row.hostname },
  params: { ...paramsOf(row) },
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
