import type { Blocklist, BlocklistSource } from '@stockade/contract'
import { errorText } from '@stockade/contract/error-code.ts'
import { backoff } from '../../core/backoff.ts'
import { day, minute, second } from '../../core/clock.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import { allLists, contentOf, dueLists, findList, raiseVersion, saveContent, updateList } from './blocklists.store.ts'
import type { BlocklistRow } from './blocklists.store.ts'
import { buildContent, changeOf, linesOf, packLines, spansOf, unpackLines } from './content.ts'
import type { Built } from './content.ts'
import type { Cuts } from './cuts.ts'
import type { HostLists } from './host-lists.ts'
import type { Taken, takeSource } from './sources.ts'

/** Looks at sources and puts what they give into force, or says why not. */
export interface Updates {
  /** Looks at the source of one list now. */
  refresh(id: number, acceptsChange?: boolean): Promise<void>
  /** Looks at the sources that are due; of all processes the one with the lease runs it. */
  lookAtDue(): Promise<void>
  /** Cuts lists again after a change of the whitelist or of addresses, without a look at their sources. */
  cutAgain(): Promise<void>
  /** Says once that no look at a source succeeded for a long time. */
  noteStale(): Promise<void>
}

const atOnce = 4
const retry = backoff({ first: minute, most: 6 * 60 * minute })
/** Changes of so few entries are always taken: of a short list they are a large share. */
const fewEntries = 20
const staleAfter = 3
const longestError = 500

/** Between 90 and 110 %, so that many servers do not ask a source at the same moment. */
const jittered = (length: number): number => Math.round(length * (0.9 + Math.random() * 0.2))

export const readLeftOut = (row: Pick<BlocklistRow, 'left_out'>): Blocklist['left_out'] => ({
  whitelisted: 0,
  own: 0,
  managed: 0,
  private: 0,
  invalid: 0,
  too_wide: 0,
  duplicates: 0,
  ...parseJson(row.left_out),
})
export const sourceOf = (row: Pick<BlocklistRow, 'source'>): BlocklistSource => parseJson(row.source)

/** Why a version is not applied; null if it is. */
const refusalOf = (
  row: BlocklistRow,
  built: Pick<Built, 'entries' | 'addresses'>,
  change: number | null,
): string | null => {
  const { entries, addresses } = built
  const n = (value: number) => value.toLocaleString('en')
  if (entries.length === 0)
    return row.entries > 0 ? 'The new version holds no entry.' : 'The list holds no entry that servers may take.'
  if (entries.length > row.max_entries)
    return `The new version holds ${n(entries.length)} entries, and the list takes ${n(row.max_entries)}.`
  if (addresses > row.max_addresses)
    return `The new version covers ${n(addresses)} addresses, and the list takes ${n(row.max_addresses)}.`
  if (change !== null && change > row.max_change)
    return `The new version changes ${Math.round(change * 100)} % of the entries, and the list takes ${Math.round(row.max_change * 100)} %.`
  return null
}

export const createUpdates = (
  needs: StoreAccess & {
    lists: Pick<HostLists, 'catchUp'>
    take: ReturnType<typeof takeSource>
    cuts: { readonly version: () => string; readonly now: () => Promise<Cuts> }
  },
): Updates => {
  const { db, clock, events, lists, cuts } = needs
  /** Looks that are under way. */
  const looks = new Map<number, Promise<void>>()

  const checked = (row: BlocklistRow) => ({
    checked_at: clock(),
    next_at: clock() + jittered(row.every_seconds * second),
    failures: 0,
    stale: 0,
  })
  /** Keeps the last good version. Only news is told. */
  const refuse = async (row: BlocklistRow, reason: string, set: Partial<BlocklistRow>): Promise<void> => {
    const isNews = row.last_error !== reason
    await events.change(async change => {
      await raiseVersion(change.sql, clock())
      await updateList(change.sql, row.id, { ...set, last_error: reason })
      if (isNews)
        await change.record({ name: 'list.refuse', data: { id: row.id, name: row.name, reason, entries: row.entries } })
    })
    await lists.catchUp()
  }
  const failed = async (row: BlocklistRow, error: unknown): Promise<void> => {
    const text = tame(errorText(error), longestError)
    const wait = Math.min(retry(row.failures), row.every_seconds * second)
    await events.change(async change => {
      await raiseVersion(change.sql, clock())
      await updateList(change.sql, row.id, {
        last_error: text,
        failures: row.failures + 1,
        next_at: clock() + jittered(wait),
      })
    })
    await lists.catchUp()
  }
  const put = async (
    row: BlocklistRow,
    built: Built,
    given: { readonly raw: readonly string[] | null; readonly cuts: string; readonly set: Partial<BlocklistRow> },
  ): Promise<void> => {
    const packed = await packLines(built.entries)
    const raw = given.raw === null ? null : await packLines(given.raw)
    await events.change(async change => {
      const version = await raiseVersion(change.sql, clock())
      const kept = raw ?? (await contentOf(change.sql, row.id))?.raw
      // Another process may have looked at the source at the same time.
      const stored = await findList(change.sql, row.id)
      const isSame = stored !== undefined && stored.version > 0 && built.digest === stored.digest
      const updated = await updateList(change.sql, row.id, {
        ...given.set,
        ...(isSame ? {} : { version }),
        entries: built.entries.length,
        addresses: built.addresses,
        digest: built.digest,
        left_out: jsonText(built.left_out),
        cuts: given.cuts,
        last_error: null,
      })
      if (!updated || !kept) return
      await saveContent(change.sql, row.id, { raw: kept, entries: packed })
      if (!isSame)
        await change.record({ name: 'list.fetch', data: { id: row.id, name: row.name, entries: built.entries.length } })
    })
    await lists.catchUp()
  }
  const applyTaken = async (row: BlocklistRow, taken: Taken, acceptsChange: boolean): Promise<void> => {
    const raw = await linesOf(taken.spans)
    const cut = await cuts.now()
    const built = await buildContent(taken.spans, cut, {
      invalid: taken.invalid,
      too_wide: taken.too_wide,
      duplicates: Math.max(0, taken.lines - taken.spans.v4.length / 2 - taken.spans.v6.length),
    })
    const before = row.version === 0 ? null : await contentOf(db.read, row.id)
    const known = before ? await unpackLines(before.raw) : null
    const isLarge = known !== null && Math.max(known.length, raw.length) > fewEntries
    const change = known !== null && isLarge && !acceptsChange ? changeOf(known, raw) : null
    const reason = refusalOf(row, built, change)
    if (reason !== null) return refuse(row, reason, { ...checked(row), etag: null, last_modified: null })
    await put(row, built, {
      raw,
      cuts: cut.version,
      set: { ...checked(row), fetched_at: clock(), etag: taken.etag, last_modified: taken.last_modified },
    })
  }
  const lookAt = (row: BlocklistRow, acceptsChange: boolean): Promise<void> => {
    const look = lookNow(row, acceptsChange).finally(() => looks.delete(row.id))
    looks.set(row.id, look)
    return look
  }
  const lookNow = async (row: BlocklistRow, acceptsChange: boolean): Promise<void> => {
    try {
      const validators = row.version > 0 && row.last_error === null && !acceptsChange ? row : null
      const taken = await needs.take(sourceOf(row), { format: row.format, column: row.csv_column }, validators)
      if (taken) await applyTaken(row, taken, acceptsChange)
      else {
        await updateList(db.write, row.id, { ...checked(row), last_error: null })
        await lists.catchUp()
      }
    } catch (error) {
      await failed(row, error)
    }
  }
  const recut = async (row: BlocklistRow, cut: Cuts): Promise<void> => {
    const content = await contentOf(db.read, row.id)
    if (!content) return
    const { invalid, too_wide, duplicates } = readLeftOut(row)
    const built = await buildContent(await spansOf(await unpackLines(content.raw)), cut, {
      invalid,
      too_wide,
      duplicates,
    })
    await put(row, built, { raw: null, cuts: cut.version, set: {} })
  }

  return {
    async refresh(id, acceptsChange = false) {
      await looks.get(id)
      const row = await findList(db.read, id)
      if (row) await lookAt(row, acceptsChange)
    },
    async lookAtDue() {
      const due = await dueLists(db.read, clock(), atOnce)
      await Promise.all(due.map(row => looks.get(row.id) ?? lookAt(row, false)))
    },
    async cutAgain() {
      const version = cuts.version()
      const old = (await allLists(db.read)).filter(row => row.version > 0 && row.cuts !== version)
      if (old.length === 0) return
      const cut = await cuts.now()
      for (const { id } of old) {
        const row = await findList(db.read, id)
        if (row && row.version > 0 && row.cuts !== cut.version) await recut(row, cut)
      }
    },
    async noteStale() {
      const now = clock()
      const isStale = ({ stale, mode, checked_at, created_at, every_seconds }: BlocklistRow) =>
        stale === 0 && mode !== 'off' && now - (checked_at ?? created_at) > staleAfter * every_seconds * second
      for (const { id } of (await allLists(db.read)).filter(isStale))
        await events.change(async change => {
          const row = await findList(change.sql, id)
          if (!row || !isStale(row)) return
          await raiseVersion(change.sql, now)
          await updateList(change.sql, id, { stale: 1 })
          const age = Math.round((now - (row.checked_at ?? row.created_at)) / day)
          await change.record({ name: 'list.stale', data: { id, name: row.name, days: age, reason: row.last_error } })
        })
      await lists.catchUp()
    },
  }
}
