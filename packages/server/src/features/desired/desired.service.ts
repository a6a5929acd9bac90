import { bounds } from '@stockade/contract/limits.ts'
import type { ReplyOf, agents, whitelist as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import { sees } from '../../core/actor.ts'
import type { AgentActor, Principal } from '../../core/actor.ts'
import { isoOrNull } from '../../core/clock.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { AgentMoves } from '../agent-moves/agent-moves.service.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { Portknock } from '../portknock/portknock.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { createAcknowledgements, statusOf } from './acknowledgements.ts'
import type { Acknowledgement } from './acknowledgements.ts'
import { allHostStates, noncesOf, raiseNonces } from './desired.store.ts'
import { partsOf, versionOf } from './versions.ts'

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
  acknowledge(agent: AgentActor, acknowledgement: Acknowledgement): Promise<void>
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
  const acknowledgements = createAcknowledgements(needs)
  mirror.onChange(wakeAll)
  moves.onChange(wakeAll)

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
    async acknowledge({ serverNo }, acknowledgement) {
      const knock = partsOf(acknowledgement.version)?.knock ?? 0
      await Promise.all([
        acknowledgements.add({ serverNo, acknowledgement, at: clock() }),
        knocks.acknowledge(serverNo, knock, acknowledgement.portknock),
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
