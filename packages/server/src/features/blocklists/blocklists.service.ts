import { bounds } from '@stockade/contract/limits.ts'
import { blocklists as contract } from '@stockade/contract'
import type { Blocklist, BodyOf, ReplyOf } from '@stockade/contract'
import type { AgentActor, Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { day, hour } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import { admit, creatorOf } from '../../core/leaving.ts'
import { conflict, forbidden, invalid, notFound } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import { tameLine } from '../../core/text.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import { targetsOf, textOf } from '../servers/targets.ts'
import type { Targeting } from '../servers/targets.ts'
import { judgeLists, notCoveredBy } from './acks.ts'
import type { BlocklistAck } from './acks.ts'
import {
  addHits,
  allLists,
  coverageOf,
  deleteHitsBefore,
  deleteList,
  findList,
  hostRowsOf,
  insertList,
  raiseVersion,
  saveCoverage,
  saveHostRows,
  savePackets,
  updateList,
} from './blocklists.store.ts'
import type { BlocklistRow } from './blocklists.store.ts'
import { shareRefusal } from './bounds.ts'
import { createLookTurns, guardPrivate, isFullAdmin } from './consent.ts'
import type { GivenList, HostLists } from './host-lists.ts'
import type { BlocklistReading } from './reading.ts'
import { readSource, withoutSecrets } from './sources.ts'
import { sourceOf } from './updates.ts'
import type { Updates } from './updates.ts'

type Settings = BodyOf<typeof contract.changeBlocklist>
type Preview = ReplyOf<typeof contract.previewBlocklist>

export interface Blocklists extends BlocklistReading {
  /** @throws Problem 400, 403 outside the caller's access, 409 for a name that exists or one list too many. */
  create(actor: Principal, input: BodyOf<typeof contract.createBlocklist>): Promise<Blocklist>
  change(actor: Principal, id: number, input: Settings): Promise<Blocklist>
  /** Answers its name. */
  remove(actor: Principal, id: number): Promise<string>
  refresh(actor: Principal, id: number, acceptsChange: boolean): Promise<Blocklist>
  preview(actor: Principal, input: BodyOf<typeof contract.previewBlocklist>): Promise<Preview>
  /** The content of a list for a host that should hold it. @throws Problem 404 */
  contentFor(agent: AgentActor, id: number): Promise<{ readonly version: number; readonly packed: Uint8Array }>
  /** What hosts said about lists, within the change that stores their acknowledgements. */
  acknowledge(change: Pick<Change, 'sql'>, acks: readonly BlocklistAck[]): Promise<void>
  /** Packets that a host counted since it holds its lists. */
  countPackets(serverNo: number, packets: readonly { readonly id: number; readonly packets: number }[]): Promise<void>
  readonly lists: HostLists
  /** Tells that hosts confirmed or refused lists, at most once a second. */
  tellProgress(): Promise<void>
  forgetOld(): Promise<void>
}

const defaults = { interval: 3600, max_entries: 100_000, max_change: 0.5, mode: 'observe' } as const
const hitsKept = 8 * day

export const createBlocklists = (
  needs: StoreAccess & {
    targeting: Targeting
    lists: HostLists
    updates: Pick<Updates, 'refresh'>
    reading: BlocklistReading
    preview: Blocklists['preview']
  },
): Blocklists => {
  const { db, clock, events, targeting, lists, reading } = needs
  let hasProgress = false

  const inTurn = createLookTurns()
  const ownRow = async (actor: Principal, id: number): Promise<BlocklistRow> => {
    const row = await reading.visibleRow(actor, id)
    if (!targeting.isWithin(actor, targetsOf(row.target)))
      throw forbidden('This blocklist concerns servers that you have no access to.')
    return row
  }
  const eventData = (row: BlocklistRow) => ({
    id: row.id,
    name: row.name,
    source: withoutSecrets(sourceOf(row)),
    mode: row.mode,
    ...(row.allow_wide === 1 ? { allow_wide: true } : {}),
    ...(row.allow_private === 1 ? { allow_private: true } : {}),
    ...targeting.describe(targetsOf(row.target)),
  })
  const nameOf = (text: string): string => {
    const name = tameLine(text, bounds.name * 4).trim()
    if (name === '') throw invalid('name', 'name must hold at least one character.')
    return name
  }
  const setOf = (actor: Principal, input: Settings): Partial<BlocklistRow> => ({
    ...(input.name === undefined ? {} : { name: nameOf(input.name) }),
    ...(input.source === undefined ? {} : { source: jsonText(readSource(input.source)) }),
    ...(input.format === undefined ? {} : { format: input.format }),
    ...(input.column === undefined ? {} : { csv_column: input.column }),
    ...(input.interval === undefined ? {} : { every_seconds: input.interval }),
    ...(input.target === undefined ? {} : { target: textOf(targeting.named(actor, input.target)) }),
    ...(input.mode === undefined ? {} : { mode: input.mode }),
    ...(input.max_entries === undefined ? {} : { max_entries: input.max_entries }),
    ...(input.max_addresses === undefined ? {} : { max_addresses: input.max_addresses, max_is_default: 0 }),
    ...(input.max_networks === undefined ? {} : { max_networks: input.max_networks }),
    ...(input.max_change === undefined ? {} : { max_change: input.max_change }),
    ...(input.allow_wide === undefined ? {} : { allow_wide: Number(input.allow_wide) }),
    ...(input.allow_private === undefined ? {} : { allow_private: Number(input.allow_private) }),
  })
  const guardName = (rows: readonly BlocklistRow[], name: string, id: number | null): void => {
    const other = rows.find(row => row.name === name && row.id !== id)
    if (other) throw conflict(`The blocklist ${other.id} has the name ${name} already.`)
  }
  /** @throws Problem 403 for what a list may do only with somebody's consent. */
  const guardConsent = (actor: Principal, input: Settings, before: BlocklistRow | null): void => {
    if (input.allow_wide === true && before?.allow_wide !== 1) requireProof(actor)
    // A list that is enforced drops packets until somebody notices.
    const { name: _, interval: __, ...decisive } = input
    const isEnforced = (input.mode ?? before?.mode) === 'enforce'
    if (isEnforced && Object.values(decisive).some(given => given !== undefined)) requireProof(actor)
    const wasAllowed = before?.allow_private === 1
    const isAllowed = input.allow_private ?? wasAllowed
    if (isAllowed && (input.source !== undefined || !wasAllowed)) guardPrivate(actor)
  }
  /** Without a source that is the one of before as the caller was shown it. */
  const withoutShown = (actor: Principal, { source, ...input }: Settings, before: BlocklistRow): Settings => {
    if (source === undefined) return input
    const isShown = jsonText(readSource(source)) === jsonText(withoutSecrets(sourceOf(before)))
    return isShown && !isFullAdmin(actor) ? input : { source, ...input }
  }
  /** Another source, or another way to read it, is looked at soon. */
  const isOtherContent = ({ source, format, column, allow_wide }: Settings): boolean =>
    [source, format, column, allow_wide].some(given => given !== undefined)

  return {
    ...reading,
    lists,
    async preview(actor, input) {
      return inTurn(actor, () => needs.preview(actor, input))
    },
    async create(actor, input) {
      guardConsent(actor, input, null)
      const { interval, max_entries, max_change, mode } = { ...defaults, ...input }
      const now = clock()
      const id = await events.change(async change => {
        await raiseVersion(change.sql, now)
        const rows = await allLists(change.sql)
        const name = nameOf(input.name)
        guardName(rows, name, null)
        const creator = creatorOf(actor)
        const own = rows.filter(row => row.creator === creator).length
        admit(contract.createBlocklist.leaves, { all: rows.length, own }, actor)
        const row = await insertList(change.sql, {
          name,
          source: jsonText(readSource(input.source)),
          format: input.format ?? 'auto',
          csv_column: input.column ?? null,
          every_seconds: interval,
          target: textOf(targeting.named(actor, input.target)),
          mode,
          max_entries,
          max_addresses: input.max_addresses ?? bounds.blocklists.addresses,
          max_is_default: Number(input.max_addresses === undefined),
          max_networks: input.max_networks ?? 0,
          max_change,
          allow_wide: Number(input.allow_wide === true),
          allow_private: Number(input.allow_private === true),
          limited: Number(actor.servers !== 'all'),
          version: 0,
          entries: 0,
          addresses: 0,
          networks: 0,
          digest: '',
          left_out: jsonText({}),
          cuts: '',
          etag: null,
          last_modified: null,
          fetched_at: null,
          checked_at: null,
          next_at: now,
          failures: 0,
          last_error: null,
          stale: 0,
          created_by: actor.name,
          creator,
          created_at: now,
          updated_at: now,
        })
        await change.record({ name: 'list.create', author: authorOf(actor), data: eventData(row) })
        return row.id
      })
      await lists.catchUp()
      return reading.read(actor, id)
    },
    async change(actor, id, given) {
      const before = await ownRow(actor, id)
      const input = withoutShown(actor, given, before)
      guardConsent(actor, input, before)
      const set = setOf(actor, input)
      await events.change(async change => {
        await raiseVersion(change.sql, clock())
        const rows = await allLists(change.sql)
        if (set.name !== undefined) guardName(rows, set.name, id)
        const stored = rows.find(row => row.id === id)
        if (stored && (set.mode !== undefined || set.target !== undefined)) {
          const refusal = shareRefusal(targeting, { ...stored, ...set }, rows)
          if (refusal !== null) throw conflict(refusal)
        }
        const row = await updateList(change.sql, id, {
          ...set,
          // It is cut as if the caller had made it: what is cut out of a source of its choice tells the caller what is there.
          ...(actor.servers === 'all' ? {} : { limited: 1 }),
          ...(isOtherContent(input) ? { next_at: clock(), etag: null, last_modified: null, failures: 0 } : {}),
          ...(set.mode !== undefined && before.mode === 'off' ? { next_at: clock() } : {}),
          updated_at: clock(),
        })
        if (!row) throw notFound(`There is no blocklist ${id}.`)
        await change.record({
          name: 'list.update',
          author: authorOf(actor),
          data: { ...eventData(row), old_mode: before.mode },
        })
      })
      await lists.catchUp()
      return reading.read(actor, id)
    },
    async remove(actor, id) {
      const { name } = await ownRow(actor, id)
      await events.change(async change => {
        await raiseVersion(change.sql, clock())
        const row = await findList(change.sql, id)
        if (!row) return
        await deleteList(change.sql, id)
        await change.record({ name: 'list.delete', author: authorOf(actor), data: eventData(row) })
      })
      await lists.catchUp()
      return name
    },
    async refresh(actor, id, acceptsChange) {
      const { mode } = await ownRow(actor, id)
      if (acceptsChange && mode === 'enforce') requireProof(actor)
      await inTurn(actor, () => needs.updates.refresh(id, acceptsChange))
      return reading.read(actor, id)
    },
    async contentFor({ serverNo }, id) {
      const find = (): GivenList | undefined => lists.listsFor(serverNo).find(list => list.id === id)
      const first = find()
      const packed = first ? await lists.packed(first) : null
      if (first && packed) return { version: first.version, packed }
      // Another process may have changed the list a moment ago.
      await lists.catchUp()
      const again = find()
      const packedList = again ? await lists.packed(again) : null
      if (!again || !packedList) throw notFound(`There is no blocklist ${id} for this server.`)
      return { version: again.version, packed: packedList }
    },
    async acknowledge(change, acks) {
      const concerned = acks.filter(
        ({ serverNo, shield }) => lists.listsFor(serverNo).length > 0 || (shield?.lists?.length ?? 0) > 0,
      )
      if (concerned.length === 0) return
      // Of several, the last one counts.
      const latest = [...new Map(concerned.map(ack => [ack.serverNo, ack])).values()]
      const nos = latest.map(({ serverNo }) => serverNo).sort((a, b) => a - b)
      const notCoveredByServer = new Map((await coverageOf(change.sql)).map(row => [row.server_no, row.not_covered]))
      const coverage = latest.map(ack => ({ server_no: ack.serverNo, not_covered: notCoveredBy(ack) }))
      const covered = coverage.filter(row => notCoveredByServer.get(row.server_no) !== row.not_covered)
      await saveCoverage(change.sql, db.engine, covered)
      const before = new Map(
        (await hostRowsOf(change.sql, db.engine, nos)).map(row => [`${row.server_no} ${row.list_id}`, row]),
      )
      const judge = (ack: BlocklistAck) =>
        judgeLists(lists.listsFor(ack.serverNo), ack, id => before.get(`${ack.serverNo} ${id}`)?.version ?? null)
      const rows = latest
        .flatMap(ack => (notCoveredBy(ack) === null ? judge(ack) : []))
        .sort((a, b) => a.server_no - b.server_no || a.list_id - b.list_id)
      await saveHostRows(change.sql, db.engine, rows)
      const isNews = (row: (typeof rows)[number]) => {
        const old = before.get(`${row.server_no} ${row.list_id}`)
        return old?.version !== row.version || old.mode !== row.mode || old.error !== row.error
      }
      hasProgress ||= covered.length > 0 || rows.some(isNews)
    },
    async countPackets(serverNo, packets) {
      const listIds = new Set(lists.listsFor(serverNo).map(({ id }) => id))
      const rows = packets.filter(({ id }) => listIds.has(id)).sort((a, b) => a.id - b.id)
      if (rows.length === 0) return
      await events.change(async change => {
        const before = new Map(
          (await hostRowsOf(change.sql, db.engine, [serverNo])).map(row => [row.list_id, row.packets]),
        )
        const added = rows.flatMap(({ id, packets: now }) => {
          const lastCount = before.get(id) ?? 0
          // A smaller count: the host began to count again.
          const n = now >= lastCount ? now - lastCount : now
          return n > 0 ? [{ id, packets: n }] : []
        })
        await savePackets(change.sql, serverNo, rows)
        await addHits(change.sql, Math.floor(clock() / hour), added)
      })
    },
    async tellProgress() {
      if (!hasProgress) return
      hasProgress = false
      await events.change(change => change.record({ name: 'list.progress' }))
    },
    forgetOld: () => deleteHitsBefore(db.write, Math.floor((clock() - hitsKept) / hour)),
  }
}
