import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, ReplyOf, agents } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { createGroup } from '../../core/group.ts'
import { parseJson } from '../../core/json-text.ts'
import { tame } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import { untilItPasses } from '../../db/passing.ts'
import type { Change } from '../../events/events.ts'
import {
  blockedOfHost,
  confirmOpenings,
  hostRevision,
  hostRevisions,
  openingsOfHost,
  raiseHostRevisions,
  saveSpoken,
  sequencesOfHost,
  unconfirmedOf,
} from './hosts.store.ts'
import type { HostRevision, Spoken } from './hosts.store.ts'

export type HostKnocks = ReplyOf<typeof agents.agentState>['portknock']
type Told = NonNullable<BodyOf<typeof agents.acknowledgeState>['portknock']>

/** What each host should know of port knocking, and what it said that it made of it. */
export interface KnockHosts {
  /** Rises with whatever the host must hear; no query. */
  revision(serverNo: number): number
  stateFor(serverNo: number): Promise<{ readonly revision: number; readonly portknock: HostKnocks }>
  /** A host says what it applied of the state with that revision; resolves when it is on disk. */
  acknowledge(serverNo: number, revision: number, told: Told | undefined): Promise<void>
  /** Within a change that these hosts must hear of: their new revisions, to be told after the commit. */
  raise(change: Pick<Change, 'sql'>, serverNos: readonly number[]): Promise<HostRevision[]>
  /** Lets the hosts' waiting polls be answered. */
  tell(raised: readonly HostRevision[]): void
  /** Waits for a host to say that an opening is open. Answers early where it does; who asked looks again in any case. */
  untilConfirmed(openingId: string, milliseconds: number): Promise<void>
  /** Takes over what other processes changed. */
  reload(): Promise<void>
}

const nothing: HostKnocks = { sequences: [], openings: [], blocked: [], cuts: [] }

export const createKnockHosts = async (needs: {
  db: Database
  clock: Clock
  wake: (serverNo: number) => void
}): Promise<KnockHosts> => {
  const { db, clock, wake } = needs
  const revisions = new Map<number, number>()
  const waiters = new Map<string, Set<() => void>>()

  const revision = (serverNo: number) => revisions.get(serverNo) ?? 0
  /** Never back: what was read may be older than what was committed here meanwhile. */
  const learn = ({ server_no, knock_revision }: HostRevision): boolean => {
    if (knock_revision <= revision(server_no)) return false
    revisions.set(server_no, knock_revision)
    return true
  }
  const tell = (raised: readonly HostRevision[]) => {
    for (const row of raised) if (learn(row)) wake(row.server_no)
  }
  const reload = async () => tell(await hostRevisions(db.read))

  interface Acknowledgement {
    readonly serverNo: number
    readonly revision: number
    readonly told: Told
  }
  const spokenOf = ({ serverNo, told }: Acknowledgement): Spoken[] =>
    told.sequences
      .filter(({ revision }) => Number.isSafeInteger(revision))
      .map(({ id, revision, state, error }) => ({
        sequence_id: id,
        server_no: serverNo,
        revision,
        state,
        error: state !== 'enforced' && error ? tame(error, bounds.description * 4) : null,
      }))
  /** A change for the whole fleet is acknowledged by all of it within seconds: together. */
  const group = createGroup<Acknowledgement, null>(
    async items => {
      const now = clock()
      const spoken = new Map<string, Spoken>()
      for (const row of items.flatMap(spokenOf)) {
        const place = `${row.server_no} ${row.sequence_id}`
        if (row.revision >= (spoken.get(place)?.revision ?? 0)) spoken.set(place, row)
      }
      const confirmed = await untilItPasses(() =>
        db.write.transaction().execute(async sql => {
          await saveSpoken(sql, db.engine, [...spoken.values()])
          // Nearly always they are confirmed already, and hosts name them all again.
          const serverNos = new Set(items.flatMap(({ serverNo, told }) => (told.openings.length > 0 ? [serverNo] : [])))
          if (serverNos.size === 0) return []
          const waiting = new Set((await unconfirmedOf(sql, [...serverNos], now)).map(({ id }) => id))
          const confirmed: string[] = []
          for (const item of items) {
            const waitingIds = item.told.openings.map(id => id.toLowerCase()).filter(id => waiting.has(id))
            confirmed.push(...(await confirmOpenings(sql, item, waitingIds, now)))
          }
          return confirmed
        }),
      )
      for (const id of confirmed) for (const done of [...(waiters.get(id) ?? [])]) done()
      return items.map(() => null)
    },
    { batch: 500, waiting: 20_000 },
    // What hosts say is bounded and cleaned before: only the storage can fail, and fails for all alike.
    () => false,
  )
  await reload()

  return {
    revision,
    tell,
    reload,
    async stateFor(serverNo) {
      const knownRevision = revision(serverNo)
      if (knownRevision === 0) return { revision: 0, portknock: nothing }
      // The revision first: what is read after it is as new, or newer.
      const knock_revision = Math.max(knownRevision, await hostRevision(db.read, serverNo))
      tell([{ server_no: serverNo, knock_revision }])
      const now = clock()
      const sequences = await sequencesOfHost(db.read, serverNo)
      const openings = await openingsOfHost(db.read, serverNo, now)
      const blocked = await blockedOfHost(db.read, serverNo, now)
      return {
        revision: knock_revision,
        portknock: {
          sequences: sequences.map(({ knock_ports, ...sequence }) => ({
            ...sequence,
            knock_ports: [...parseJson(knock_ports)],
          })),
          openings: openings.flatMap(({ id, sequence_id, ip, expires_at, closed_at }) =>
            closed_at === null ? [{ id, sequence_id, ip, expires_at: iso(expires_at) }] : [],
          ),
          blocked: blocked.map(row => ({ ...row, expires_at: iso(row.expires_at) })),
          cuts: openings.flatMap(({ sequence_id, ip, cut_until }) =>
            cut_until === null ? [] : [{ sequence_id, ip, expires_at: iso(cut_until) }],
          ),
        },
      }
    },
    async acknowledge(serverNo, revision, told) {
      if (!told || told.sequences.length + told.openings.length === 0) return
      await group.add([{ serverNo, revision, told }])
    },
    raise: (change, serverNos) => raiseHostRevisions(change.sql, serverNos, clock()),
    untilConfirmed(openingId, milliseconds) {
      return new Promise(resolve => {
        const mine = waiters.get(openingId) ?? new Set()
        const done = () => {
          clearTimeout(timer)
          mine.delete(done)
          if (mine.size === 0) waiters.delete(openingId)
          resolve()
        }
        const timer = setTimeout(done, milliseconds)
        mine.add(done)
        waiters.set(openingId, mine)
      })
    },
  }
}
