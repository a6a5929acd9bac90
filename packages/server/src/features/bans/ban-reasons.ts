import type { BanReason } from '@stockade/contract'
import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import { reasonRows } from './ban-reasons.store.ts'
import type { ReasonSource } from './ban-reasons.store.ts'
import { reasonOf } from './reasons/reason.ts'

export interface BanReasons {
  /** The reason of each of these rows, by its id. */
  ofRows(rows: readonly ReasonSource[]): Promise<ReadonlyMap<number, BanReason | null>>
  /** The same by ids; rows are read for those that are not known yet. */
  ofIds(ids: readonly number[]): Promise<ReadonlyMap<number, BanReason | null>>
}

/** Reasons that are remembered: the log lines of a ban never change, and reading many of them has its price. */
const mostRemembered = 20_000

/** @param wordsOf the operator's own words for manual bans, by the id of the ban */
export const createBanReasons = (
  read: Kysely<Schema>,
  wordsOf: (rows: readonly ReasonSource[]) => Promise<ReadonlyMap<number, string>>,
): BanReasons => {
  const remembered = new Map<number, BanReason | null>()
  const remember = (id: number, reason: BanReason | null) => {
    remembered.set(id, reason)
    if (remembered.size > mostRemembered)
      for (const oldest of remembered.keys()) {
        remembered.delete(oldest)
        break
      }
  }
  const ofRows = async (rows: readonly ReasonSource[]) => {
    const reasonById = new Map<number, BanReason | null>()
    const fresh: ReasonSource[] = []
    for (const row of rows) {
      const knownReason = remembered.get(row.id)
      if (knownReason === undefined) fresh.push(row)
      else reasonById.set(row.id, knownReason)
    }
    const manual = fresh.filter(({ banned_by }) => banned_by !== null)
    const words = manual.length === 0 ? new Map<number, string>() : await wordsOf(manual)
    for (const { id, jail, log_lines: lines, banned_by: bannedBy } of fresh) {
      const reason = reasonOf({ jail, lines, bannedBy, text: words.get(id) ?? null })
      remember(id, reason)
      reasonById.set(id, reason)
    }
    return reasonById
  }
  return {
    ofRows,
    async ofIds(ids) {
      const reasonById = new Map<number, BanReason | null>()
      const missing: number[] = []
      for (const id of ids) {
        const knownReason = remembered.get(id)
        if (knownReason === undefined) missing.push(id)
        else reasonById.set(id, knownReason)
      }
      for (const [id, reason] of await ofRows(await reasonRows(read, missing))) reasonById.set(id, reason)
      return reasonById
    },
  }
}
