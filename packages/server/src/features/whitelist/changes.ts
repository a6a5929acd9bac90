import { bounds } from '@stockade/contract/limits.ts'
import { randomBytes } from 'node:crypto'
import type { Author } from '../../core/author.ts'
import { authorOf } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import { parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { conflict } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import { coverageOf, guardCoverage, isWide } from './coverage.ts'
import type { Mirror } from './mirror.ts'
import type { NewEntry } from './entries.ts'
import { holdState, insertEntries, rangesOf, saveState } from './whitelist.store.ts'
import type { EntryRow } from './whitelist.store.ts'

/** Rows in one statement. */
export const chunk = 2000

interface AddedEntry {
  readonly id: number
  readonly entry: NewEntry
  /** Epoch milliseconds. */
  readonly at: number
}
/** Each change of the list is one transaction that makes a new version of it. */
export interface ListChanges {
  /** Adds what is new, and answers it. @throws Problem for a list that is too long, or that covers too much without a confirmation */
  insert(actor: Principal, entries: readonly NewEntry[], confirmShare: number | undefined): Promise<AddedEntry[]>
  /** Removes entries with an event for each; `more` is added to the event. Answers the removed entries. */
  takeOff(
    author: Author,
    choose: (sql: Change['sql']) => Promise<readonly EntryRow[]>,
    more?: (row: EntryRow) => Record<string, unknown>,
  ): Promise<readonly EntryRow[]>
}

export const createListChanges = (
  needs: StoreAccess & {
    mirror: Mirror
  },
): ListChanges => {
  const { db, clock, events, mirror } = needs

  /** The name of the state that a change makes. */
  const following = (seq: number) => `w${seq + 1}-${randomBytes(4).toString('hex')}`
  /** The ranges of the list as they are in storage: from memory where that has them. */
  const rangesAt = async (sql: Change['sql'], version: string): Promise<IpRange[]> =>
    mirror.version() === version ? mirror.ranges() : (await rangesOf(sql)).flatMap(text => parseRange(text) ?? [])
  const insert = async (
    actor: Principal,
    entries: readonly NewEntry[],
    confirmShare: number | undefined,
  ): Promise<AddedEntry[]> => {
    const author = authorOf(actor)
    const ranges = entries.map(({ range }) => range).filter(({ prefix }) => prefix !== null)
    if (ranges.some(isWide)) requireProof(actor)
    const byText = new Map(entries.map(entry => [entry.ip, entry]))
    const now = clock()
    const inserted = await events.change(async change => {
      const state = await holdState(change.sql)
      if (ranges.length > 0) {
        const listed = await rangesAt(change.sql, state.version)
        guardCoverage(actor, coverageOf(listed), coverageOf([...listed, ...ranges]), confirmShare)
      }
      const version = following(state.seq)
      const made: AddedEntry[] = []
      for (let start = 0; start < entries.length; start += chunk) {
        const part = entries.slice(start, start + chunk)
        const rows = await insertEntries(change.sql, db.engine, part, author.name, now)
        const fresh = rows.flatMap(({ id, ip }) => {
          const entry = byText.get(ip)
          return entry ? [{ id, entry, at: now }] : []
        })
        made.push(...fresh)
        await change.recordMany(
          fresh.map(({ id, entry: { ip, description, expires_at } }) => ({
            name: 'whitelist.add' as const,
            author,
            data: { id, ip, description, ...(expires_at === null ? {} : { expires_at: iso(expires_at) }), version },
          })),
        )
      }
      if (state.entries + made.length > bounds.whitelist)
        throw conflict(
          `The whitelist holds ${state.entries} entries and may hold ${bounds.whitelist}; ${made.length} more do not fit.`,
        )
      if (made.length > 0)
        await saveState(change.sql, {
          version,
          seq: state.seq + 1,
          entries: state.entries + made.length,
          changed_at: now,
        })
      return made
    })
    if (inserted.length > 0) await mirror.catchUp()
    return inserted
  }

  const takeOff = async (
    author: Author,
    choose: (sql: Change['sql']) => Promise<readonly EntryRow[]>,
    more: (row: EntryRow) => Record<string, unknown> = () => ({}),
  ): Promise<readonly EntryRow[]> => {
    const removed = await events.change(async change => {
      const state = await holdState(change.sql)
      const rows = await choose(change.sql)
      if (rows.length === 0) return rows
      const version = following(state.seq)
      await saveState(change.sql, {
        version,
        seq: state.seq + 1,
        entries: state.entries - rows.length,
        changed_at: clock(),
      })
      await change.recordMany(
        rows.map(row => ({
          name: 'whitelist.remove' as const,
          author,
          data: { id: row.id, ip: row.ip, description: row.description, ...more(row), version },
        })),
      )
      return rows
    })
    if (removed.length > 0) await mirror.catchUp(removed.map(({ id }) => id))
    return removed
  }

  return { insert, takeOff }
}
