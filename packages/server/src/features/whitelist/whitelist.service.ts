import { randomBytes } from 'node:crypto'
import { bounds } from '@stockade/contract/limits.ts'
import { system, authorOf } from '../../core/author.ts'
import type { Author } from '../../core/author.ts'
import { inSlices } from '../../core/slices.ts'
import type { Principal } from '../../core/actor.ts'
import { iso, isoOrNull } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { ipText, parseIp, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { conflict, invalid, notFound } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import { tame } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import type { Change, Events } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import { coverageOf, guardCoverage, isWide } from './coverage.ts'
import { endOf } from './ends.ts'
import { describeBound, rangeOf, viewOf, wordOf, worded } from './entries.ts'
import type { NewEntry } from './entries.ts'
import { csvHeader, csvLine, csvWithEnds, readCsv, readJson, readPlain } from './formats.ts'
import type { Candidate, Written } from './formats.ts'
import type { Mirror } from './mirror.ts'
import {
  activeAfter,
  activeTouching,
  changeEntry,
  countEntries,
  deleteEnded,
  deleteEntries,
  entriesAfter,
  findEntry,
  findEntryOf,
  hasEnded,
  hasEnds,
  holdState,
  insertEntries,
  pageOfEntries,
  rangesOf,
  saveState,
} from './whitelist.store.ts'
import type { ActiveAddress, EntryRow } from './whitelist.store.ts'
import type { Lift, WhitelistService } from './whitelist.model.ts'

/** More entries than this no host applies in bearable time. */
const mostEntries = 500_000
const mostErrors = 10_000
/** Rows in one statement. */
const chunk = 2000
/** So many orders one change gives at most; the rest of the covered bans the hosts lift by themselves when they apply the list. */
const mostLifts = 5000
export const createWhitelist = (needs: {
  db: Database
  clock: Clock
  events: Events
  mirror: Mirror
  registry: Pick<Registry, 'byNo'>
  /** Queues an `unban-ip` with jail `*` for each. */
  lift: (author: Author, lifts: readonly Lift[]) => Promise<void>
}): WhitelistService => {
  const { db, clock, events, mirror, registry } = needs
  const missing = (id: number) => notFound(`There is no whitelist entry ${id}.`)

  const endNamed = (path: string, text: string | null | undefined): number | null => {
    const end = endOf(text, clock())
    if ('error' in end) throw invalid(path, `${path} ${end.error}.`)
    return end.at
  }
  /** The name of the state that a change makes. */
  const following = (seq: number) => `w${seq + 1}-${randomBytes(4).toString('hex')}`
  /** The ranges of the list as they are in storage: from memory where that has them. */
  const rangesAt = async (sql: Change['sql'], version: string): Promise<IpRange[]> =>
    mirror.version() === version ? mirror.ranges() : (await rangesOf(sql)).flatMap(text => parseRange(text) ?? [])
  /** Writes what is new in one transaction and takes it over. */
  const insert = async (
    actor: Principal,
    entries: readonly NewEntry[],
    confirmShare: number | undefined,
  ): Promise<{ id: number; entry: NewEntry; at: number }[]> => {
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
      const made: { id: number; entry: NewEntry; at: number }[] = []
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
      if (state.entries + made.length > mostEntries)
        throw conflict(
          `The whitelist holds ${state.entries} entries and may hold ${mostEntries}; ${made.length} more do not fit.`,
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

  /** Removes entries in one transaction with an event for each; `more` is added to the event. Returns the removed entries. */
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

  /** What is banned now and has to do with the new entries: a few are asked for, of many all that is active is gone through. */
  const bannedWithin = async (entries: readonly NewEntry[]): Promise<ActiveAddress[]> => {
    const now = clock()
    const rows: ActiveAddress[] = []
    if (entries.length <= 20) {
      for (const { range } of entries) rows.push(...(await activeTouching(db.read, range, now)))
      return rows
    }
    let after = { banned_at: -1, ban_id: 0 }
    for (;;) {
      const page = await activeAfter(db.read, after, now, chunk)
      await inSlices(page, row => {
        const range = { bytes: row.ip, prefix: row.prefix, text: '' }
        // What an older entry covers has no business in a ban either.
        if (mirror.touches(range)) rows.push(row)
      })
      const last = page.at(-1)
      if (!last || page.length < chunk) return rows
      after = { banned_at: last.banned_at, ban_id: last.ban_id }
    }
  }
  /** Orders the hosts to lift what the new entries cover. Returns how many active bans that are. */
  const liftCovered = async (author: Author, entries: readonly NewEntry[]): Promise<number> => {
    if (entries.length === 0) return 0
    const banned = (await bannedWithin(entries)).filter(row => registry.byNo(row.server_no))
    const lifts = new Map(
      banned.map(row => {
        const ip = ipText(row.ip, row.prefix)
        return [`${row.server_no} ${ip}`, { serverNo: row.server_no, ip }]
      }),
    )
    await needs.lift(author, [...lifts.values()].slice(0, mostLifts))
    return new Set(banned.map(({ ban_id }) => ban_id)).size
  }

  return {
    async list(_, { search, page = 1, limit = 50 }) {
      const filter = { search, address: search === undefined ? undefined : parseRange(search)?.text }
      const rows = await pageOfEntries(db.read, filter, (page - 1) * limit, limit)
      return { whitelist: rows.map(viewOf), total: await countEntries(db.read, filter), page, limit }
    },
    async read(id) {
      const row = await findEntry(db.read, id)
      if (!row) throw missing(id)
      return viewOf(row)
    },
    async add(actor, input) {
      const checked = rangeOf(input.ip)
      if ('error' in checked) throw invalid('ip', `ip ${checked.error}.`)
      const { range } = checked
      const expires_at = endNamed('expires_at', input.expires_at)
      const entry = { ip: range.text, description: worded(input.description ?? ''), expires_at, range }
      const [added] = await insert(actor, [entry], input.confirm_share)
      if (!added) {
        const there = await findEntryOf(db.read, range.text)
        throw conflict(
          `The ${wordOf(range)} ${range.text} is on the whitelist already${there ? ` (entry ${there.id})` : ''}.`,
        )
      }
      const lifted_bans = await liftCovered(authorOf(actor), [entry])
      return {
        id: added.id,
        ip: entry.ip,
        description: entry.description,
        created_by: actor.name,
        created_at: iso(added.at),
        expires_at: isoOrNull(expires_at),
        lifted_bans,
      }
    },
    async addMany(actor, entries, confirmShare) {
      const fresh = new Map<string, NewEntry>()
      await inSlices(entries, ({ ip, description, expires_at }, index) => {
        const checked = rangeOf(ip)
        if ('error' in checked) throw invalid(`entries.${index}.ip`, `entries.${index}.ip ${checked.error}.`)
        const { range } = checked
        const end = endNamed(`entries.${index}.expires_at`, expires_at)
        if (!fresh.has(range.text))
          fresh.set(range.text, { ip: range.text, description: worded(description ?? ''), expires_at: end, range })
      })
      const added = await insert(actor, [...fresh.values()], confirmShare)
      await liftCovered(
        authorOf(actor),
        added.map(({ entry }) => entry),
      )
      return { added: added.length, entries: added.map(({ id, entry }) => ({ id, ip: entry.ip })) }
    },
    async change(actor, id, { description, expires_at }) {
      const set = {
        ...(description === undefined ? {} : { description: worded(description) }),
        ...(expires_at === undefined ? {} : { expires_at: endNamed('expires_at', expires_at) }),
      }
      const row =
        Object.keys(set).length === 0
          ? await findEntry(db.read, id)
          : await events.change(async change => {
              const before = await findEntry(change.sql, id)
              const after = before && (await changeEntry(change.sql, id, set, clock()))
              if (!after) return undefined
              await change.record({
                name: 'whitelist.update',
                author: authorOf(actor),
                data: {
                  id,
                  ip: before.ip,
                  ...('description' in set
                    ? { old_description: before.description, description: after.description }
                    : {}),
                  ...('expires_at' in set
                    ? { old_expires_at: isoOrNull(before.expires_at), expires_at: isoOrNull(after.expires_at) }
                    : {}),
                  version: mirror.version(),
                },
              })
              return after
            })
      if (!row) throw missing(id)
      return {
        id: row.id,
        ip: row.ip,
        description: row.description,
        updated_at: iso(row.updated_at),
        expires_at: isoOrNull(row.expires_at),
      }
    },
    async remove(actor, id) {
      const [removed] = await takeOff(authorOf(actor), sql => deleteEntries(sql, [id]))
      if (!removed) throw missing(id)
      return removed.ip
    },
    async removeMany(actor, ids) {
      return (await takeOff(authorOf(actor), sql => deleteEntries(sql, ids))).length
    },
    async check(text) {
      const ip = parseIp(text)
      if (!ip) throw invalid('ip', 'ip must be an IPv4 or IPv6 address.')
      const found = mirror.covers(ip)
      const row = found && (await findEntry(db.read, found.id))
      // Removed by another process a moment ago: the next one that covers it is known in a moment, too.
      return {
        ip: ip.text,
        whitelisted: Boolean(row),
        matched_entry: row
          ? { id: row.id, ip: row.ip, description: row.description, expires_at: isoOrNull(row.expires_at) }
          : null,
      }
    },
    async import(actor, { format = 'plain', content, description_prefix: prefix = '', confirm_share }) {
      const candidates =
        format === 'json' ? readJson(content) : format === 'csv' ? readCsv(content) : readPlain(content)
      if (!candidates)
        throw invalid('content', 'content must be JSON: an array of entries, or an object with one under whitelist.')
      const fresh = new Map<string, NewEntry>()
      const errors: { line: number; value: string; error: string }[] = []
      let error_count = 0
      let good = 0
      const refuse = ({ line, value }: Candidate, error: string) => {
        if (++error_count <= mostErrors) errors.push({ line, value: tame(value.slice(0, 200), 400), error })
      }
      await inSlices(candidates, candidate => {
        const { ip, error } = candidate
        if (error !== undefined) return refuse(candidate, error)
        const checked = rangeOf(ip)
        if ('error' in checked) return refuse(candidate, `The address ${checked.error}.`)
        const description = prefix + candidate.description
        if (description.length > describeBound)
          return refuse(candidate, `The description is longer than ${describeBound} characters.`)
        const end = endOf(candidate.expires_at, clock())
        if ('error' in end) return refuse(candidate, `Its end ${end.error}.`)
        good++
        const { range } = checked
        if (!fresh.has(range.text))
          fresh.set(range.text, { ip: range.text, description: worded(description), expires_at: end.at, range })
      })
      const added = fresh.size > 0 ? await insert(actor, [...fresh.values()], confirm_share) : []
      await liftCovered(
        authorOf(actor),
        added.map(({ entry }) => entry),
      )
      const ids = added.length > bounds.removals ? [] : added.map(({ id }) => id)
      return { imported: added.length, skipped: good - added.length, errors, error_count, ids }
    },
    async exportText(format) {
      const csv = (await hasEnds(db.read)) ? csvWithEnds : { header: csvHeader, line: csvLine }
      const lines: string[] = format === 'csv' ? [csv.header] : []
      await eachEntry(db, row => lines.push(format === 'csv' ? csv.line(written(row)) : `${row.ip}\n`))
      return lines.join('')
    },
    async exportJson() {
      const whitelist: Written[] = []
      await eachEntry(db, row => whitelist.push(written(row)))
      return { whitelist, exported_at: iso(clock()) }
    },
    async expire() {
      // A whole list may end at the same moment: some thousands at a time.
      while (await hasEnded(db.read, clock())) {
        const now = clock()
        const ended = await takeOff(
          system,
          sql => deleteEnded(sql, now, chunk),
          ({ expires_at }) => ({ expires_at: isoOrNull(expires_at) }),
        )
        if (ended.length === 0) return
      }
    },
    render: () => mirror.render(),
  }
}

type Row = Pick<EntryRow, 'ip' | 'description' | 'expires_at'>
const written = ({ ip, description, expires_at }: Row): Written => ({
  ip,
  description,
  expires_at: isoOrNull(expires_at),
})
const eachEntry = async (db: Database, work: (row: Row) => void): Promise<void> => {
  let last = 0
  for (;;) {
    const rows = await entriesAfter(db.read, last, chunk)
    await inSlices(rows, work)
    const end = rows.at(-1)
    if (!end || rows.length < chunk) return
    last = end.id
  }
}
