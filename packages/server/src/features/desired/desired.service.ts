import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, ReplyOf, agents, whitelist as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import { sees } from '../../core/actor.ts'
import type { AgentActor, Principal } from '../../core/actor.ts'
import { isoOrNull } from '../../core/clock.ts'
import { createGroup } from '../../core/group.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { AgentMoves } from '../agent-moves/agent-moves.service.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { Portknock } from '../portknock/portknock.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { allHostStates, hostStatesOf, noncesOf, raiseNonces, saveHostStates } from './desired.store.ts'
import type { HostState } from './desired.store.ts'
import { partsOf, versionOf } from './versions.ts'

type Acknowledgement = BodyOf<typeof agents.acknowledgeState>
type Status = 'synced' | 'pending' | 'failed' | 'never'
export type AgentState = ReplyOf<typeof agents.agentState>
export type Offer = Required<Pick<ReplyOf<typeof agents.pendingCommands>, 'state'>> &
  Pick<ReplyOf<typeof agents.pendingCommands>, 'whitelist'>

/** What each host should hold, and what it said that it holds. */
export interface Desired {
  /** The state that a server's host should be in; no query. */
  version(serverNo: number): string
  stateFor(agent: AgentActor): Promise<AgentState>
  /** The state for an answer to a poll, with a small whitelist that changed since `before`. Null for a host with port knocking: its state takes queries. */
  offer(agent: AgentActor, before: string | undefined): Promise<Offer | null>
  /** A host says what it applied; resolves when that is on disk. */
  acknowledge(agent: AgentActor, told: Acknowledgement): Promise<void>
  syncStatus(actor: Principal): Promise<ReplyOf<typeof contract.whitelistSyncStatus>>
  /** Has hosts apply everything again: those named, or all that the caller sees. Returns how many. */
  sync(actor: Principal, serverIds: readonly string[] | undefined): Promise<number>
  /** Takes over which hosts other processes asked to apply everything again. */
  reload(): Promise<void>
}

/** A list up to this size, in bytes of gzip, goes to everybody at once; a larger one over some seconds. */
const smallList = 64 * 1024
const spread = 45

export const createDesired = async (
  needs: StoreAccess & {
    registry: Pick<Registry, 'all' | 'byNo'>
    servers: Pick<ServersService, 'named'>
    mirror: Mirror
    knocks: Pick<Portknock['hosts'], 'revision' | 'stateFor' | 'acknowledge'>
    fleetBans: Pick<FleetBans, 'sets' | 'acknowledge'>
    blocklists: Pick<Blocklists, 'lists' | 'acknowledge'>
    moves: Pick<AgentMoves, 'order' | 'onChange' | 'acknowledge'>
    /** Lets the host's waiting poll be answered. */
    wake: (serverNo: number) => void
  },
): Promise<Desired> => {
  const { db, clock, events, registry, servers, mirror, knocks, fleetBans, blocklists, moves, wake } = needs
  let nonces = new Map<number, number>()

  const versionAt = (serverNo: number, knock: number) =>
    versionOf({
      whitelist: mirror.version(),
      nonce: nonces.get(serverNo) ?? 0,
      knock,
      fleet: fleetBans.sets.version(serverNo),
      lists: blocklists.lists.version(serverNo),
      move: moves.order()?.revision ?? 0,
    })
  const version = (serverNo: number) => versionAt(serverNo, knocks.revision(serverNo))
  const wakeAll = () => {
    for (const { row } of registry.all()) wake(row.no)
  }
  mirror.onChange(wakeAll)
  moves.onChange(wakeAll)

  /** Whether the acknowledgement was of what is wanted now, and since the last request. */
  const isPresent = (row: HostState, whitelist: string) => {
    const parts = row.version === null ? null : partsOf(row.version)
    return parts !== null && parts.whitelist === whitelist && parts.nonce >= row.nonce
  }
  const statusOf = (row: HostState | undefined, whitelist: string): Status => {
    if (!row || row.acked_at === null) return 'never'
    if (isPresent(row, whitelist)) {
      if (row.error !== null) return 'failed'
      if (row.whitelist_version === whitelist) return 'synced'
    }
    return row.confirmed_at === null ? 'never' : 'pending'
  }

  interface Told {
    readonly serverNo: number
    readonly told: Acknowledgement
    readonly at: number
  }
  // eslint-disable-next-line complexity -- most branches are defaults of a host that never answered
  const merged = (before: HostState | undefined, { serverNo, told, at }: Told): HostState => {
    const error = told.error ? tame(told.error, bounds.description * 4) : null
    const kept = {
      nonce: before?.nonce ?? 0,
      knock_revision: before?.knock_revision ?? 0,
      server_no: serverNo,
      version: tame(told.version, 512),
      acked_at: at,
      error,
    }
    const { whitelist_version = null, entry_count = null } = told
    return error === null
      ? {
          ...kept,
          whitelist_version: whitelist_version === null ? null : tame(whitelist_version, 512),
          entry_count,
          confirmed_at: at,
        }
      : {
          ...kept,
          whitelist_version: before?.whitelist_version ?? null,
          entry_count: before?.entry_count ?? null,
          confirmed_at: before?.confirmed_at ?? null,
        }
  }
  /** After a change of the list every host says so within seconds: those that come together are written together. */
  const group = createGroup<Told, null>(
    async items => {
      const whitelist = mirror.version()
      await events.change(async change => {
        const nos = [...new Set(items.map(({ serverNo }) => serverNo))].sort((a, b) => a - b)
        const before = new Map((await hostStatesOf(change.sql, nos)).map(row => [row.server_no, row]))
        const after = new Map<number, HostState>()
        for (const item of items)
          after.set(item.serverNo, merged(after.get(item.serverNo) ?? before.get(item.serverNo), item))
        await saveHostStates(
          change.sql,
          nos.flatMap(no => {
            const row = after.get(no)
            if (!row) return []
            const { nonce: _, knock_revision: __, ...told } = row
            return [told]
          }),
        )
        const acks = items.map(({ serverNo, told: { shield, move }, at }) => ({ serverNo, shield, move, at }))
        await fleetBans.acknowledge(change, acks)
        await blocklists.acknowledge(change, acks)
        await moves.acknowledge(change, acks)
        await change.recordMany(
          nos.flatMap(no => {
            const sync_status = statusOf(after.get(no), whitelist)
            return sync_status === statusOf(before.get(no), whitelist)
              ? []
              : [{ name: 'whitelist.synced' as const, serverNo: no, data: { sync_status, version: whitelist } }]
          }),
        )
      })
      return items.map(() => null)
    },
    { batch: 500, waiting: 20_000 },
    // What hosts say is bounded and cleaned before: only the storage can fail, and fails for all alike.
    () => false,
  )
  const reload = async () => {
    const before = nonces
    nonces = new Map((await noncesOf(db.read)).map(({ server_no, nonce }) => [server_no, nonce]))
    for (const [no, nonce] of nonces) if (before.get(no) !== nonce) wake(no)
  }
  const stateFor = async (agent: AgentActor): Promise<AgentState> => {
    const { revision, portknock } = await knocks.stateFor(agent.serverNo)
    const { gzip } = await mirror.render()
    const bans = fleetBans.sets.setFor(agent.serverNo)
    return {
      version: versionAt(agent.serverNo, revision),
      whitelist: {
        version: mirror.version(),
        count: mirror.count(),
        spread_seconds: gzip.length <= smallList ? 0 : spread,
      },
      portknock,
      shield: {
        bans: { version: bans.version, count: bans.bans.length, digest: bans.digest },
        lists: blocklists.lists
          .listsFor(agent.serverNo)
          .map(({ id, version, mode, entries, digest }) => ({ id, version, mode, entries, digest })),
      },
      move: moves.order(),
    }
  }

  const offer: Desired['offer'] = async (agent, before) => {
    if (knocks.revision(agent.serverNo) > 0) return null
    const state = await stateFor(agent)
    const { version, plain } = await mirror.render()
    const isAlike = version === partsOf(before ?? '')?.whitelist
    if (isAlike || version !== state.whitelist.version || plain.length > bounds.whitelistInPoll) return { state }
    return { state, whitelist: { version, text: plain.toString() } }
  }
  await reload()

  return {
    version,
    stateFor,
    offer,
    async acknowledge(agent, told) {
      const knock = partsOf(told.version)?.knock ?? 0
      await Promise.all([
        group.add([{ serverNo: agent.serverNo, told, at: clock() }]),
        knocks.acknowledge(agent.serverNo, knock, told.portknock),
      ])
    },
    async syncStatus(actor) {
      const whitelist = mirror.version()
      const rows = new Map((await allHostStates(db.read)).map(row => [row.server_no, row]))
      return {
        servers: registry
          .all()
          .filter(({ row }) => sees(actor, row.no))
          .map(({ row: { no, id, hostname } }) => {
            const row = rows.get(no)
            const sync_status = statusOf(row, whitelist)
            return {
              id,
              hostname,
              last_sync: isoOrNull(row?.confirmed_at ?? null),
              sync_status,
              entry_count: row?.entry_count ?? null,
              error: sync_status === 'failed' ? (row?.error ?? null) : null,
            }
          }),
      }
    },
    async sync(actor, serverIds) {
      const nos = serverIds
        ? [...new Set(serverIds.map(id => servers.named(actor, 'server_ids', id).no))]
        : registry.all().flatMap(({ row }) => (sees(actor, row.no) ? [row.no] : []))
      if (nos.length === 0) return 0
      nos.sort((a, b) => a - b)
      await events.change(async change => {
        await raiseNonces(change.sql, nos)
        const [only] = nos
        await change.record({
          name: 'whitelist.sync',
          author: authorOf(actor),
          ...(nos.length === 1 && only !== undefined ? { serverNo: only } : {}),
          data: {
            servers: nos.length,
            hostnames: nos.slice(0, 20).map(no => registry.byNo(no)?.row.hostname),
            version: mirror.version(),
          },
        })
      })
      await reload()
      return nos.length
    },
    reload,
  }
}
