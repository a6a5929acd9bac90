import type { Blocklist, BlocklistSource } from '@stockade/contract'
import { mapValues } from '@stockade/contract/records.ts'
import { errorText } from '@stockade/contract/error-code.ts'
import { bounds } from '@stockade/contract/limits.ts'
import { packSpans } from '@stockade/contract/spans.ts'
import { backoff } from '../../core/backoff.ts'
import { day, minute, second } from '../../core/clock.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import { targetsOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import { allLists, contentOf, dueLists, findList, raiseVersion, saveContent, updateList } from './blocklists.store.ts'
import type { BlocklistRow } from './blocklists.store.ts'
import { maxAddressesAfter, maxNetworksAfter, refusalOf, shareRefusal } from './bounds.ts'
import type { Built, Given } from './content.ts'
import type { HostLists } from './host-lists.ts'
import type { ListThreads } from './list-threads.ts'
import { spansOfTexts } from '../reach/cut.ts'
import type { Protected, Protection } from '../reach/protected.ts'
import { NoList, TooLarge } from './parse.ts'
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
const staleAfter = 3
const longestError = 500

/** Between 90 and 110 %, so that many servers do not ask a source at the same moment. */
const jittered = (length: number): number => Math.round(length * (0.9 + Math.random() * 0.2))

export const readLeftOut = (row: Pick<BlocklistRow, 'left_out'>): Blocklist['left_out'] => ({
  whitelisted: 0,
  own: 0,
  managed: 0,
  people: 0,
  private: 0,
  invalid: 0,
  too_wide: 0,
  duplicates: 0,
  ...parseJson(row.left_out),
})
export const sourceOf = (row: Pick<BlocklistRow, 'source'>): BlocklistSource => parseJson(row.source)

/**
 * What a thread is given to cut by. For a list of somebody with access to some servers `managed` are the addresses of these servers: what is cut out would tell where
 * other servers and people are.
 */
export const packedCuts = ({ parts }: Pick<Protected, 'parts'>, managed?: readonly string[]) =>
  mapValues(managed ? { ...parts, managed: spansOfTexts(managed), people: spansOfTexts([]) } : parts, packSpans)

export const createUpdates = (
  needs: StoreAccess & {
    lists: Pick<HostLists, 'catchUp'>
    targeting: Targeting
    threads: ListThreads
    take: ReturnType<typeof takeSource>
    protection: Protection
  },
): Updates => {
  const { db, clock, events, lists, protection, targeting } = needs
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
  /** When a look that fails is made again. */
  const retryAt = (row: BlocklistRow): number =>
    clock() + jittered(Math.min(retry(row.failures), row.every_seconds * second))
  const failed = async (row: BlocklistRow, error: unknown): Promise<void> => {
    const text = tame(errorText(error), longestError)
    await events.change(async change => {
      await raiseVersion(change.sql, clock())
      await updateList(change.sql, row.id, { last_error: text, failures: row.failures + 1, next_at: retryAt(row) })
    })
    await lists.catchUp()
  }
  /** Puts a version into force. Answers why it must not be, beside the lists that there are at this moment; null if it is. */
  const put = async (
    row: BlocklistRow,
    built: Built,
    given: { readonly cuts: string; readonly set: Partial<BlocklistRow> },
  ): Promise<string | null> => {
    const { addresses, networks, digest, entries } = built
    const refusal = await events.change(async change => {
      const version = await raiseVersion(change.sql, clock())
      // Another process may have looked at the source at the same time, or changed the list.
      const all = await allLists(change.sql)
      const stored = all.find(({ id }) => id === row.id)
      if (!stored) return null
      const isSame = stored.version > 0 && digest === stored.digest
      const isLess = addresses <= stored.addresses && networks <= stored.networks
      const refused = isLess ? null : shareRefusal(targeting, { ...stored, addresses, networks }, all)
      if (refused !== null) return refused
      await updateList(change.sql, row.id, {
        ...given.set,
        ...(isSame ? {} : { version }),
        ...(stored.version === 0 && stored.max_is_default === 1 ? { max_addresses: maxAddressesAfter(addresses) } : {}),
        ...(stored.max_networks === 0 ? { max_networks: maxNetworksAfter(networks) } : {}),
        entries,
        addresses,
        networks,
        digest,
        left_out: jsonText(built.left_out),
        cuts: given.cuts,
        last_error: null,
      })
      await saveContent(change.sql, row.id, { raw: built.raw, entries: built.packed })
      if (!isSame) await change.record({ name: 'list.fetch', data: { id: row.id, name: row.name, entries } })
      return null
    })
    await lists.catchUp()
    return refusal
  }
  const build = (row: BlocklistRow, given: Given, cut: Protected, before: Uint8Array | null): Promise<Built> => {
    // Who has access to some servers must not learn from a list of its own which addresses other servers have.
    const managed =
      row.limited === 1
        ? targeting.serversOf(targetsOf(row.target)).flatMap(server => server.row.ip_address ?? [])
        : undefined
    const allowsWide = row.allow_wide === 1 || sourceOf(row).kind !== 'url'
    return needs.threads.run('build', {
      given,
      reading: { format: row.format, column: row.csv_column, allowsWide },
      cuts: packedCuts(cut, managed),
      most: given.kind === 'stored' ? bounds.blocklists.entries : row.max_entries,
      before,
      named: null,
    })
  }
  const applyTaken = async (row: BlocklistRow, taken: Taken, acceptsChange: boolean): Promise<void> => {
    const cut = await protection.now()
    const before = row.version === 0 ? null : ((await contentOf(db.read, row.id))?.raw ?? null)
    const built = await build(row, taken.given, cut, before)
    const reason =
      refusalOf(row, built, acceptsChange) ??
      (await put(row, built, {
        cuts: cut.version,
        set: { ...checked(row), fetched_at: clock(), etag: taken.etag, last_modified: taken.last_modified },
      }))
    if (reason !== null) await refuseVersion(row, reason)
  }
  const refuseVersion = (row: BlocklistRow, reason: string) =>
    refuse(row, reason, { ...checked(row), etag: null, last_modified: null })
  const lookAt = (row: BlocklistRow, acceptsChange: boolean): Promise<void> => {
    const look = lookNow(row, acceptsChange).finally(() => looks.delete(row.id))
    looks.set(row.id, look)
    return look
  }
  const lookNow = async (row: BlocklistRow, acceptsChange: boolean): Promise<void> => {
    try {
      // Before the look: if it ends the process, the list is not due again at once, and later each time.
      await updateList(db.write, row.id, { next_at: retryAt(row), failures: row.failures + 1 })
      const validators = row.version > 0 && row.last_error === null && !acceptsChange ? row : null
      const content = await needs.take(sourceOf(row), row.allow_private === 1, validators)
      if (content) await applyTaken(row, content, acceptsChange)
      else {
        await updateList(db.write, row.id, { ...checked(row), last_error: null })
        await lists.catchUp()
      }
    } catch (error) {
      if (error instanceof TooLarge) await refuseVersion(row, error.message)
      else await failed(row, error)
    }
  }
  const recut = async (row: BlocklistRow, cut: Protected): Promise<void> => {
    const content = await contentOf(db.read, row.id)
    if (!content) return
    const { invalid, too_wide, duplicates } = readLeftOut(row)
    const cutState = { cuts: cut.version, set: {} }
    try {
      const built = await build(row, { kind: 'stored', raw: content.raw }, cut, null)
      const refusal = await put(
        row,
        { ...built, left_out: { ...built.left_out, invalid, too_wide, duplicates } },
        cutState,
      )
      if (refusal !== null) await refuse(row, refusal, { cuts: cut.version })
    } catch (error) {
      if (!(error instanceof NoList)) throw error
      // Hosts hold the version of before, and the whitelist of each host still wins. The other lists are cut.
      await refuse(row, error.message, { cuts: cut.version })
    }
  }

  return {
    async refresh(id, acceptsChange = false) {
      while (looks.has(id)) await looks.get(id)
      const row = await findList(db.read, id)
      if (row) await lookAt(row, acceptsChange)
    },
    async lookAtDue() {
      const due = await dueLists(db.read, clock(), atOnce)
      await Promise.all(due.map(row => looks.get(row.id) ?? lookAt(row, false)))
    },
    async cutAgain() {
      const version = await protection.version()
      const old = (await allLists(db.read)).filter(row => row.version > 0 && row.cuts !== version)
      if (old.length === 0) return
      const cut = await protection.now()
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
