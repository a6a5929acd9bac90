import { isWider, widest } from '@stockade/contract/reach.ts'
import { isWide } from '@stockade/contract/seal.ts'
import { bounds, times } from '@stockade/contract/limits.ts'
import type { BodyOf, ProblemReason, ReplyOf, fleetBans as contract } from '@stockade/contract'
import type { AgentActor, Principal } from '../../core/actor.ts'
import { authorOf, system } from '../../core/author.ts'
import { day, isoOrNull, second } from '../../core/clock.ts'
import type { IpRange } from '../../core/ip.ts'
import { Problem, badRequest, forbidden, invalid } from '../../core/problem.ts'
import { requireProof } from '../../core/proof.ts'
import { tame } from '../../core/text.ts'
import type { Change, EventInput, StoreAccess } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Retagged } from '../servers/tags.ts'
import { targetsOf, textOf, union } from '../servers/targets.ts'
import type { Targeting, Targets } from '../servers/targets.ts'
import { endOf } from '../whitelist/ends.ts'
import { isNews, judgeAck } from './acks.ts'
import type { FleetAck } from './acks.ts'
import { createSourcedBans } from './by-rules.ts'
import type { SourcedBans } from './by-rules.ts'
import { createFleetChanges } from './changes.ts'
import type { RowChange } from './changes.ts'
import { removeLostTags, saveFleetTags, taggedTargets } from './fleet-tags.store.ts'
import { deleteOld, endExpired, findBan, hasExpired, hostsOf, saveHosts, updateBan } from './fleet.store.ts'
import type { FleetBanRow } from './fleet.store.ts'
import type { HostSets } from './host-sets.ts'
import { raiseVersion } from './raise.ts'
import { createReading } from './reading.ts'
import type { FleetReading } from './reading.ts'

type FleetBan = ReplyOf<typeof contract.getFleetBan>
type BanInput = Omit<BodyOf<typeof contract.createFleetBan>, 'entry'>
type EndInput = Pick<BodyOf<typeof contract.createFleetBan>, 'expires_at' | 'duration'>

export interface FleetBans extends Omit<FleetReading, 'visibleRow' | 'hasEnded'>, SourcedBans {
  /** @throws Problem 400, 403 outside the caller's access, 409 for what must not be banned or does not fit. */
  create(actor: Principal, input: BodyOf<typeof contract.createFleetBan>): Promise<FleetBan>
  /** The same for many entries; those that must not be banned are answered, not thrown. @throws Problem 400, 403, 409 when they do not fit */
  createMany(
    actor: Principal,
    input: BodyOf<typeof contract.createFleetBans>,
  ): Promise<ReplyOf<typeof contract.createFleetBans>>
  change(actor: Principal, id: number, input: BodyOf<typeof contract.changeFleetBan>): Promise<FleetBan>
  /** Answers what it was. Lifting what is over changes nothing. */
  remove(actor: Principal, id: number): Promise<{ readonly entry: string; readonly wasStanding: boolean }>
  /** All or none. @throws Problem 400 for an unknown id, 403 outside the caller's access */
  removeMany(actor: Principal, ids: readonly number[]): Promise<{ readonly removed: number }>
  setFor(agent: AgentActor, since: number | undefined): ReplyOf<typeof contract.agentFleetBans>
  /** Servers got and lost tags, within the change that does it: those of which bans are for these tags get a new version. */
  retag(change: Pick<Change, 'sql'>, retagged: readonly Retagged[]): Promise<void>
  /** What hosts said about fleet bans, within the change that stores their acknowledgements. */
  acknowledge(change: Pick<Change, 'sql'>, acks: readonly FleetAck[]): Promise<void>
  readonly sets: HostSets
  expire(): Promise<void>
  /** Tells that hosts confirmed or refused bans, at most once a second. */
  tellProgress(): Promise<void>
  forgetOld(): Promise<void>
}

/** Bans that ended stay in the list for so long. */
const keptAfterEnd = 90 * day
const expiredAtOnce = 500
/** Hosts that were away for longer get the whole set, see `host-sets.ts`. */
const tagsKept = 30 * day

const nowhere: Targets = { nos: new Set(), tags: new Set() }
const includesTag = (targets: Targets, tags: readonly string[]) =>
  targets !== 'all' && tags.some(tag => targets.tags.has(tag))

export const createFleetBans = (
  needs: StoreAccess & {
    registry: Pick<Registry, 'all' | 'byNo'>
    servers: Pick<ServersService, 'named'>
    targeting: Targeting
    sets: HostSets
    /** Reads what is to be banned. @throws Problem */
    guardEntry: (actor: Principal, text: string, isForced: boolean) => Promise<IpRange>
  },
): FleetBans => {
  const { db, clock, events, sets, targeting } = needs
  const { visibleRow, hasEnded, ...reading } = createReading(needs)
  let hasProgress = false

  /** Undefined: the caller says nothing about the end. */
  const endNamed = ({ expires_at, duration }: EndInput): number | null | undefined => {
    if (expires_at !== undefined && duration !== undefined) throw badRequest('Give expires_at or duration, not both.')
    if (duration !== undefined) return duration < 0 ? null : clock() + duration * second
    if (expires_at === undefined) return undefined
    const end = endOf(expires_at, clock())
    if ('error' in end) throw invalid('expires_at', `expires_at ${end.error}.`)
    return end.at
  }
  const eventData = (row: FleetBanRow) => ({
    id: row.id,
    entry: row.entry,
    reason: row.reason,
    source: row.source,
    expires_at: isoOrNull(row.expires_at),
    ...targeting.describe(targetsOf(row.target)),
  })

  const raise = (change: Pick<Change, 'sql'>, work: (version: number) => Promise<Targets | null>) =>
    raiseVersion(change, clock, work)
  const ownRow = async (actor: Principal, id: number): Promise<FleetBanRow> => {
    const row = await visibleRow(actor, id)
    if (!targeting.isWithin(actor, targetsOf(row.target)))
      throw forbidden('This fleet ban concerns servers that you have no access to.')
    return row
  }

  const { insertOrChange, changeRow } = createFleetChanges({ clock, hasEnded, eventData })

  /** One ban for each of the ranges, or none of them. A ban of the same entry with the same target is changed. */
  const add = async (actor: Principal, ranges: readonly IpRange[], input: BanInput) => {
    if (ranges.some(range => isWider(range, widest.unproved))) requireProof(actor)
    const targets = targeting.named(actor, input.target)
    const end = endNamed(input)
    const newBan = {
      reason: tame(input.reason ?? '', bounds.reason * 4),
      target: textOf(targets),
      force: Number(input.force === true),
      expires_at: end === undefined ? clock() + times.defaultBan * second : end,
      created_by: actor.name,
    }
    const added: { id: number; entry: string; is_new: boolean }[] = []
    if (ranges.length === 0) return added
    await events.change(async change => {
      added.length = 0
      await raise(change, async version => {
        const notes: EventInput[] = []
        for (const { text: entry } of ranges) {
          const { row, before } = await insertOrChange(change, version, actor, { ...newBan, entry })
          added.push({ id: row.id, entry, is_new: before === null })
          notes.push({
            name: before ? 'fleet_ban.update' : 'fleet_ban.create',
            author: authorOf(actor),
            data: { ...eventData(row), ...(before ? { old_expires_at: isoOrNull(before.expires_at) } : {}) },
          })
        }
        await change.recordMany(notes)
        return targets
      })
    })
    await sets.catchUp()
    return added
  }

  /** Lifts those that stand; answers how many that were. */
  const lift = async (actor: Principal, ids: readonly number[]): Promise<number> => {
    const lifted = await events.change(async change => {
      let count = 0
      await raise(change, async version => {
        let targets: Targets | null = null
        for (const id of ids) {
          const row = await findBan(change.sql, id)
          if (!row || hasEnded(row)) continue
          const now = clock()
          const gone = await updateBan(change.sql, id, { ended_at: now, ended_by: 'removed', version, updated_at: now })
          await change.record({ name: 'fleet_ban.delete', author: authorOf(actor), data: eventData(gone) })
          targets = union(targets ?? nowhere, targetsOf(gone.target))
          count++
        }
        return targets
      })
      return count
    })
    await sets.catchUp()
    return lifted
  }

  return {
    ...reading,
    ...createSourcedBans(clock, eventData),
    async create(actor, input) {
      const range = await needs.guardEntry(actor, input.entry, input.force === true)
      const [added] = await add(actor, [range], input)
      if (!added) throw new Error('unreachable: one entry is one ban')
      return reading.read(actor, added.id)
    },
    async createMany(actor, { entries, ...input }) {
      const refused: { entry: string; reason: ProblemReason; message: string }[] = []
      const ranges = new Map<string, IpRange>()
      for (const entry of entries)
        try {
          const range = await needs.guardEntry(actor, entry, input.force === true)
          ranges.set(range.text, range)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          refused.push({ entry, reason: error.reason, message: error.details?.[0]?.message ?? error.message })
        }
      return { fleet_bans: await add(actor, [...ranges.values()], input), refused }
    },
    async change(actor, id, input) {
      const before = await ownRow(actor, id)
      if (isWide(before.entry)) requireProof(actor)
      const targets = input.target === undefined ? undefined : targeting.named(actor, input.target)
      if (input.target !== undefined || input.force !== undefined)
        await needs.guardEntry(actor, before.entry, input.force ?? before.force === 1)
      const end = endNamed(input)
      const set: RowChange = {
        ...(input.reason === undefined ? {} : { reason: tame(input.reason, bounds.reason * 4) }),
        ...(end === undefined ? {} : { expires_at: end }),
        ...(targets === undefined ? {} : { target: textOf(targets) }),
        ...(input.force === undefined ? {} : { force: Number(input.force) }),
      }
      await events.change(change => raise(change, version => changeRow(change, version, { actor, before, set })))
      await sets.catchUp()
      return reading.read(actor, id)
    },
    async remove(actor, id) {
      const { entry } = await ownRow(actor, id)
      return { entry, wasStanding: (await lift(actor, [id])) === 1 }
    },
    async removeMany(actor, ids) {
      for (const id of ids)
        await ownRow(actor, id).catch((error: unknown) => {
          const isUnknown = error instanceof Problem && error.status === 404
          throw isUnknown ? invalid('ids', error.message) : error
        })
      return { removed: await lift(actor, [...new Set(ids)]) }
    },
    setFor({ serverNo }, since) {
      const { version, bans: members, digest } = sets.setFor(serverNo)
      const { full, add, remove } = sets.since(serverNo, since ?? null)
      return {
        version,
        full,
        count: members.length,
        digest,
        add: add.map(({ id, entry, end, force }) => ({ id, entry, expires_at: end, force })),
        remove: [...remove],
      }
    },
    async retag(change, retagged) {
      await raise(change, async version => {
        const changed = (held: 0 | 1) => (server_no: number, tags: readonly string[]) =>
          tags.map(tag => ({ server_no, tag, held, version }))
        await saveFleetTags(
          change.sql,
          retagged.flatMap(({ serverNo, added, removed }) => [
            ...changed(1)(serverNo, added),
            ...changed(0)(serverNo, removed),
          ]),
        )
        const used = (await taggedTargets(change.sql)).map(targetsOf).reduce(union, nowhere)
        const concerned = retagged.filter(({ added, removed }) => includesTag(used, [...added, ...removed]))
        return { nos: new Set(concerned.map(({ serverNo }) => serverNo)), tags: new Set() }
      })
    },
    async acknowledge(change, acks) {
      const isAhead = ({ serverNo, shield }: FleetAck) => (shield?.bans.version ?? 0) > sets.version(serverNo)
      // Another process may have given that version out a moment ago.
      if (acks.some(isAhead)) await sets.catchUp()
      const nos = [...new Set(acks.map(({ serverNo }) => serverNo))].sort((a, b) => a - b)
      const before = new Map((await hostsOf(change.sql, db.engine, nos)).map(row => [row.server_no, row]))
      const rows = nos.flatMap(no => {
        // Of several, the last one counts.
        const ack = acks.findLast(({ serverNo }) => serverNo === no)
        return (ack && judgeAck(sets, before.get(no), ack)) ?? []
      })
      if (rows.length > 0) await saveHosts(change.sql, db.engine, rows)
      hasProgress ||= rows.some(row => isNews(before.get(row.server_no), row))
    },
    sets,
    async expire() {
      if (!(await hasExpired(db.read, clock()))) return
      await events.change(async change => {
        const rows = await endExpired(change.sql, clock(), expiredAtOnce)
        await change.recordMany(
          rows.map(row => ({ name: 'fleet_ban.expire' as const, author: system, data: eventData(row) })),
        )
      })
    },
    async tellProgress() {
      if (!hasProgress) return
      hasProgress = false
      await events.change(change => change.record({ name: 'fleet_ban.progress' }))
    },
    async forgetOld() {
      await deleteOld(db.write, clock() - keptAfterEnd)
      await removeLostTags(db.write, clock() - tagsKept)
    },
  }
}
