import type { ReplyOf, servers as contract } from '@stockade/contract'
import { bounds } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict, forbidden, notFound } from '../../core/problem.ts'
import type { Problem } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Events } from '../../events/events.ts'
import type { Registry, Server } from './registry.ts'
import { moveQuarantine, updateServer } from './servers.store.ts'
import type { ServerRow } from './servers.store.ts'

/** Servers that are not trusted for a time: in quarantine by an administrator, or because two hosts report as one. */
export interface Quarantine {
  quarantine(actor: Principal, id: string, reason: string): Promise<ReplyOf<typeof contract.quarantineServer>>
  release(actor: Principal, id: string): Promise<void>
  settleClone(actor: Principal, id: string): Promise<void>
  /** Why what the host sends is not taken; null where it is. */
  refusalOfHost(serverNo: number): Problem | null
  /** @throws Problem 409 where the server is in quarantine */
  refuseQuarantined(serverNo: number): void
  isQuarantined(serverNo: number): boolean
  /** Whether it gets no commands now: it is in quarantine, or two hosts report for it. */
  isWithheld(serverNo: number): boolean
}

export const quarantineOf = (row: ServerRow | undefined) =>
  row?.quarantined_at
    ? { since: iso(row.quarantined_at), by: row.quarantined_by ?? '', reason: row.quarantine_reason ?? '' }
    : null

export const createQuarantine = (needs: {
  clock: Clock
  events: Events
  registry: Registry
  get: (actor: Principal, id: string) => Server
}): Quarantine => {
  const { clock, events, registry, get } = needs
  const wordsOf = (serverNo: number): string | null => {
    const quarantined = quarantineOf(registry.byNo(serverNo)?.row)
    return quarantined
      ? `This server has been in quarantine since ${quarantined.since}: ${quarantined.reason} An administrator can release it.`
      : null
  }
  const setQuarantine = async (
    actor: Principal,
    row: ServerRow,
    set: Pick<ServerRow, 'quarantined_at' | 'quarantined_by' | 'quarantine_reason' | 'updated_at'>,
    name: 'server.quarantine' | 'server.release',
  ): Promise<ServerRow> => {
    const updated = await events.change(async change => {
      const done = await moveQuarantine(change.sql, row.no, set)
      if (!done) throw conflict(`${row.hostname} is ${name === 'server.release' ? 'not' : 'already'} in quarantine.`)
      const { id, hostname } = row
      await change.record({
        name,
        author: authorOf(actor),
        serverNo: row.no,
        data: { id, hostname, reason: set.quarantine_reason ?? row.quarantine_reason },
      })
      return done
    })
    registry.put(updated)
    return updated
  }

  return {
    async quarantine(actor, id, reason) {
      const { row } = get(actor, id)
      const now = clock()
      const set = {
        quarantined_at: now,
        quarantined_by: actor.name,
        quarantine_reason: tame(reason, bounds.reason * 4),
        updated_at: now,
      }
      const updated = await setQuarantine(actor, row, set, 'server.quarantine')
      const quarantined = quarantineOf(updated)
      if (!quarantined) throw notFound(`There is no server ${id}.`)
      return { message: `${row.hostname} is in quarantine.`, quarantined }
    },
    async release(actor, id) {
      const set = { quarantined_at: null, quarantined_by: null, quarantine_reason: null, updated_at: clock() }
      await setQuarantine(actor, get(actor, id).row, set, 'server.release')
    },
    isWithheld(serverNo) {
      const row = registry.byNo(serverNo)?.row
      return row !== undefined && (row.quarantined_at !== null || row.clone !== null)
    },
    async settleClone(actor, id) {
      const { row } = get(actor, id)
      if (row.clone === null) throw conflict(`No second host reports for ${row.hostname}.`)
      const updated = await events.change(async change => {
        const settled = await updateServer(change.sql, row.no, { clone: null, updated_at: clock() })
        if (!settled) throw notFound(`There is no server ${id}.`)
        const { hostname } = row
        await change.record({
          name: 'server.clone_settled',
          author: authorOf(actor),
          serverNo: row.no,
          data: { id, hostname },
        })
        return settled
      })
      registry.put(updated)
    },
    isQuarantined: serverNo => (registry.byNo(serverNo)?.row.quarantined_at ?? null) !== null,
    refusalOfHost(serverNo) {
      const words = wordsOf(serverNo)
      return words === null ? null : forbidden(words)
    },
    refuseQuarantined(serverNo) {
      const words = wordsOf(serverNo)
      if (words !== null) throw conflict(words)
    },
  }
}
