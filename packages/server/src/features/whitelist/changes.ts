import { bounds } from '@stockade/contract/limits.ts'
import { randomBytes } from 'node:crypto'
import type { Author } from '../../core/author.ts'
import { authorOf, system } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import { parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { parseJson } from '../../core/json-text.ts'
import { conflict } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import { coverageOf, guardCoverage, isWide } from './coverage.ts'
import type { Mirror } from './mirror.ts'
import type { NewEntry } from './entries.ts'
import { allNames, entriesOfNames, giveToName, updateName } from './names.store.ts'
import type { NameRow } from './names.store.ts'
import { deleteEntries, holdState, insertEntries, rangesOf, saveState } from './whitelist.store.ts'
import type { EntryRow, ListState } from './whitelist.store.ts'

/** Rows in one statement. */
export const chunk = 2000

/** What an entry says that is an address of a name. */
const ownershipOf = ({ id, name, description, created_by }: NameRow) => ({
  name_id: id,
  description: description === '' ? name : `${name}: ${description}`,
  created_by,
})

export const entryOfName = ({ id, ip, description }: Pick<EntryRow, 'id' | 'ip' | 'description'>) =>
  conflict(`Entry ${id} (${ip}) is an address of a DNS name (${description}). Remove the name, and it goes too.`)

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
  /**
   * Lets `work` change names, then makes the addresses of all names entries, and removes entries whose name has them no more. Answers the new ones.
   * An address that somebody typed stays an entry of its own.
   */
  settleNames(work: (change: Change) => Promise<void>): Promise<readonly NewEntry[]>
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
      const addedEntries: AddedEntry[] = []
      for (let start = 0; start < entries.length; start += chunk) {
        const part = entries.slice(start, start + chunk)
        const rows = await insertEntries(change.sql, db.engine, part, author.name, now)
        const fresh = rows.flatMap(({ id, ip }) => {
          const entry = byText.get(ip)
          return entry ? [{ id, entry, at: now }] : []
        })
        addedEntries.push(...fresh)
        await change.recordMany(
          fresh.map(({ id, entry: { ip, description, expires_at } }) => ({
            name: 'whitelist.add' as const,
            author,
            data: { id, ip, description, ...(expires_at === null ? {} : { expires_at: iso(expires_at) }), version },
          })),
        )
      }
      if (state.entries + addedEntries.length > bounds.whitelist)
        throw conflict(
          `The whitelist holds ${state.entries} entries and may hold ${bounds.whitelist}; ${addedEntries.length} more do not fit.`,
        )
      if (addedEntries.length > 0)
        await saveState(change.sql, {
          version,
          seq: state.seq + 1,
          entries: state.entries + addedEntries.length,
          changed_at: now,
        })
      return addedEntries
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
      const ofName = rows.find(({ name_id }) => name_id !== null)
      if (ofName) throw entryOfName(ofName)
      // A name may have the same address: it becomes an entry of the name with the next look-up.
      const texts = new Set(rows.map(({ ip }) => ip))
      for (const { id, addresses } of await allNames(change.sql))
        if (parseJson(addresses).some(ip => texts.has(ip))) await updateName(change.sql, id, { next_at: clock() })
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

  const settle = async (change: Change, state: ListState): Promise<{ added: NewEntry[]; removed: number[] }> => {
    const names = await allNames(change.sql)
    const nameOf = new Map<string, NameRow>()
    for (const row of names) for (const ip of parseJson(row.addresses)) if (!nameOf.has(ip)) nameOf.set(ip, row)
    const entries = await entriesOfNames(change.sql)
    const version = following(state.seq)
    for (const { id, ip, name_id } of entries) {
      const row = nameOf.get(ip)
      if (row && row.id !== name_id) await giveToName(change.sql, [id], ownershipOf(row))
    }
    const past = entries.filter(({ ip }) => !nameOf.has(ip))
    if (past.length > 0)
      await deleteEntries(
        change.sql,
        past.map(({ id }) => id),
      )
    const room = bounds.whitelist - (state.entries - past.length)
    const added = await addOfNames(change, { names, room, there: new Set(entries.map(({ ip }) => ip)) })
    await change.recordMany([
      ...past.map(({ id, ip, description }) => ({
        name: 'whitelist.remove' as const,
        author: system,
        data: { id, ip, description, version },
      })),
      ...added.map(({ id, entry: { ip, description } }) => ({
        name: 'whitelist.add' as const,
        author: system,
        data: { id, ip, description, version },
      })),
    ])
    if (past.length + added.length > 0)
      await saveState(change.sql, {
        version,
        seq: state.seq + 1,
        entries: state.entries + added.length - past.length,
        changed_at: clock(),
      })
    return { added: added.map(({ entry }) => entry), removed: past.map(({ id }) => id) }
  }
  /** Adds the addresses of names that are no entries yet; of each name at once. A name whose addresses do not fit says so. */
  const addOfNames = async (change: Change, given: { names: readonly NameRow[]; room: number; there: Set<string> }) => {
    const { names, room, there } = given
    const added: { id: number; entry: NewEntry }[] = []
    for (const row of names) {
      const entries = parseJson(row.addresses).flatMap((ip): NewEntry[] => {
        const range = there.has(ip) ? null : parseRange(ip)
        there.add(ip)
        return range ? [{ ip, description: ownershipOf(row).description, expires_at: null, range }] : []
      })
      if (entries.length === 0) continue
      if (added.length + entries.length > room) {
        await updateName(change.sql, row.id, { last_error: 'The whitelist is full: the addresses do not fit.' })
        continue
      }
      const inserted = await insertEntries(change.sql, db.engine, entries, row.created_by, clock())
      if (inserted.length === 0) continue
      await giveToName(
        change.sql,
        inserted.map(({ id }) => id),
        { name_id: row.id },
      )
      for (const { id, ip } of inserted)
        added.push(...entries.filter(entry => entry.ip === ip).map(entry => ({ id, entry })))
    }
    return added
  }
  const settleNames = async (work: (change: Change) => Promise<void>): Promise<readonly NewEntry[]> => {
    const { added, removed } = await events.change(async change => {
      const state = await holdState(change.sql)
      await work(change)
      return settle(change, state)
    })
    if (added.length + removed.length > 0) await mirror.catchUp(removed)
    return added
  }

  return { insert, takeOff, settleNames }
}
