import type { ReplyOf, commands as contract } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { authorOf, system } from '../../core/author.ts'
import { conflict } from '../../core/problem.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import { cancelCommands, changeCommand, findCommandStates, openCommandsOf } from './commands.store.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Queue } from './queue.ts'
import { eventDataOf } from './rows.ts'

const notPending = 'Only a pending command can be cancelled; this one was handed out already or has ended.'
export const noCommand = (id: string) => `There is no command ${id}.`
export const noAccess = 'You have no access to the server of this command.'

/** Ends commands that were never handed out. */
export const createCancellation = (
  needs: StoreAccess & {
    servers: Pick<ServersService, 'hostnameOf'>
    queue: Queue
  },
) => {
  const { db, clock, events, servers, queue } = needs
  const dataOf = (row: Parameters<typeof eventDataOf>[0]) => eventDataOf(row, servers.hostnameOf(row.server_no))
  /** Resolves to the ids of those that were still pending. */
  const cancelPending = async (actor: Principal, ids: readonly string[]): Promise<string[]> => {
    if (ids.length === 0) return []
    const author = authorOf(actor)
    const cancelled = await events.change(async change => {
      const rows = await cancelCommands(change.sql, ids, `Cancelled by ${actor.name}`, clock())
      await change.recordMany(
        rows.map(row => ({ name: 'command.cancel', author, serverNo: row.server_no, data: dataOf(row) })),
      )
      return rows
    })
    for (const row of cancelled) queue.track(row)
    return cancelled.map(({ id }) => id)
  }
  return {
    async cancel(actor: Principal, id: string): Promise<void> {
      if ((await cancelPending(actor, [id])).length === 0) throw conflict(notPending)
    },
    async cancelMany(actor: Principal, given: readonly string[]): Promise<ReplyOf<typeof contract.cancelMany>> {
      const ids = [...new Set(given.map(id => id.toLowerCase()))]
      const states = new Map((await findCommandStates(db.read, ids)).map(row => [row.id, row]))
      const pending = [...states.values()].flatMap(({ id, status, server_no }) =>
        status === 'pending' && sees(actor, server_no) ? [id] : [],
      )
      const cancelled = new Set(await cancelPending(actor, pending))
      // A host may have fetched one in the meantime.
      const fetched = pending.filter(id => !cancelled.has(id))
      for (const row of await findCommandStates(db.read, fetched)) states.set(row.id, row)
      const outcomeOf = (id: string) => {
        const state = states.get(id)
        if (!state) return { id, cancelled: false, status: null, error: noCommand(id) }
        if (!sees(actor, state.server_no)) return { id, cancelled: false, status: null, error: noAccess }
        if (cancelled.has(id)) return { id, cancelled: true, status: 'failed' as const, error: null }
        return { id, cancelled: false, status: state.status, error: notPending }
      }
      return { cancelled: cancelled.size, commands: ids.map(outcomeOf) }
    },
    /** Cancels what is pending for a server that is removed, in the same transaction. */
    async cancelAll(change: Change, serverNo: number): Promise<void> {
      for (const row of await openCommandsOf(change.sql, db.engine, [serverNo])) {
        if (row.status !== 'pending') continue
        const cancelled = await changeCommand(change.sql, row, {
          status: 'failed',
          cancelled: 1,
          success: 0,
          output: 'Cancelled because the server was removed',
          completed_at: clock(),
        })
        if (cancelled)
          await change.record({ name: 'command.cancel', author: system, serverNo, data: dataOf(cancelled) })
      }
    },
  }
}
