import { commands } from '@stockade/contract'
import type { ReplyOf, commands as contract } from '@stockade/contract'
import type { Config } from '../../config.ts'
import type { Author } from '../../core/author.ts'
import { iso, isoOrNull, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { uuid7 } from '../../core/ids.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import type { CommandRow, CommandView } from './commands.store.ts'
import type { CheckedCommand, CommandType, Params, ParamsOf } from './params.ts'

export type Command = ReplyOf<typeof contract.getCommand>

/** A command that was just queued. */
export interface Queued {
  readonly id: string
  readonly type: CommandType
  readonly status: 'pending'
  readonly created_at: string
}

type Expiry = { readonly [T in CommandType]: { readonly expiresAfter: (params: ParamsOf<T>) => number | null } }
const expiry: Expiry = commands.commandTypes
/** Seconds until a command that no agent fetched times out; `longest` unless its type says less. */
const lifetimeOf = (command: CheckedCommand, longest: number): number =>
  Math.min(longest, secondsOf(command) ?? longest)
const secondsOf = <T extends CommandType>({ type, params }: CheckedCommand<T>) => expiry[type].expiresAfter(params)

/** Makes the rows of new commands. */
export const createRows =
  ({ clock, config }: { clock: Clock; config: Pick<Config, 'commandTtl'> }) =>
  (author: Author, serverNo: number, command: CheckedCommand, more: Partial<CommandRow> = {}): CommandRow => {
    const now = clock()
    return {
      id: uuid7(now),
      server_no: serverNo,
      type: command.type,
      params: jsonText(command.params),
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
      expires_at: now + lifetimeOf(command, config.commandTtl) * second,
      started_at: null,
      completed_at: null,
      ...more,
    }
  }
export type RowOf = ReturnType<typeof createRows>

export const paramsOf = (row: Pick<CommandRow, 'params'>): Params => parseJson(row.params)

export const queuedOf = (row: CommandRow): Queued => ({
  id: row.id,
  type: row.type,
  status: 'pending',
  created_at: iso(row.created_at),
})
/** What the events of a command carry. The name of its server is kept, because the server may be renamed or removed later. */
export const eventDataOf = (row: CommandRow, hostname: string | undefined) => ({
  id: row.id,
  type: row.type,
  params: paramsOf(row),
  ...(hostname === undefined ? {} : { hostname }),
})

export const viewOf = (row: CommandView): Command => ({
  id: row.id,
  type: row.type,
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
