import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, agents } from '@stockade/contract'
import { createGroup } from '../../core/group.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { AgentMoves } from '../agent-moves/agent-moves.service.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { hostStatesOf, saveHostStates } from './desired.store.ts'
import type { HostState } from './desired.store.ts'
import { partsOf } from './versions.ts'

/* What hosts say that they applied. */

export type Acknowledgement = BodyOf<typeof agents.acknowledgeState>
type Status = 'synced' | 'pending' | 'failed' | 'never'

interface Acknowledged {
  readonly serverNo: number
  readonly acknowledgement: Acknowledgement
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Whether the acknowledgement was of what is wanted now, and since the last request to apply everything again. */
const isPresent = (row: HostState, whitelist: string) => {
  const parts = row.version === null ? null : partsOf(row.version)
  return parts !== null && parts.whitelist === whitelist && parts.nonce >= row.nonce
}
/** How a host stands to this version of the whitelist. */
export const statusOf = (row: HostState | undefined, whitelist: string): Status => {
  if (!row || row.acked_at === null) return 'never'
  if (isPresent(row, whitelist)) {
    if (row.error !== null) return 'failed'
    if (row.whitelist_version === whitelist) return 'synced'
  }
  return row.confirmed_at === null ? 'never' : 'pending'
}

const noState = {
  nonce: 0,
  knock_revision: 0,
  whitelist_version: null,
  entry_count: null,
  confirmed_at: null,
} satisfies Partial<HostState>
/** A host that failed still holds what it confirmed before. */
const merged = (before: HostState | undefined, { serverNo, acknowledgement, at }: Acknowledged): HostState => {
  const { version, error, whitelist_version = null, entry_count = null } = acknowledgement
  const next = { ...noState, ...before, server_no: serverNo, version: tame(version, 512), acked_at: at }
  if (error) return { ...next, error: tame(error, bounds.description * 4) }
  return {
    ...next,
    error: null,
    whitelist_version: whitelist_version === null ? null : tame(whitelist_version, 512),
    entry_count,
    confirmed_at: at,
  }
}

/** Stores acknowledgements. After a change for all, every host sends one within seconds: those that come together are written together. */
export const createAcknowledgements = (
  needs: Pick<StoreAccess, 'db' | 'events'> & {
    mirror: Pick<Mirror, 'version'>
    fleetBans: Pick<FleetBans, 'acknowledge'>
    blocklists: Pick<Blocklists, 'acknowledge'>
    moves: Pick<AgentMoves, 'acknowledge'>
  },
): { add(acknowledged: Acknowledged): Promise<void> } => {
  const { db, events, mirror, fleetBans, blocklists, moves } = needs
  const write = (items: readonly Acknowledged[]) => {
    const whitelist = mirror.version()
    return events.change(async change => {
      const nos = [...new Set(items.map(({ serverNo }) => serverNo))].sort((a, b) => a - b)
      const before = new Map((await hostStatesOf(change.sql, db.engine, nos)).map(row => [row.server_no, row]))
      const after = new Map<number, HostState>()
      for (const item of items)
        after.set(item.serverNo, merged(after.get(item.serverNo) ?? before.get(item.serverNo), item))
      // In the order of the servers, so that two processes never wait for each other's rows.
      const states = nos.flatMap(no => after.get(no) ?? [])
      await saveHostStates(change.sql, db.engine, states)
      const applied = items.map(({ serverNo, acknowledgement: { shield, move }, at }) => ({
        serverNo,
        shield,
        move,
        at,
      }))
      await fleetBans.acknowledge(change, applied)
      await blocklists.acknowledge(change, applied)
      await moves.acknowledge(change, applied)
      await change.recordMany(
        nos.flatMap(no => {
          const sync_status = statusOf(after.get(no), whitelist)
          return sync_status === statusOf(before.get(no), whitelist)
            ? []
            : [{ name: 'whitelist.synced' as const, serverNo: no, data: { sync_status, version: whitelist } }]
        }),
      )
    })
  }
  const group = createGroup<Acknowledged, null>(
    async items => {
      await write(items)
      return items.map(() => null)
    },
    { batch: 500, waiting: 20_000 },
    // What hosts say is bounded and cleaned before: only the storage can fail, and fails for all alike.
    () => false,
  )
  return {
    async add(acknowledged) {
      await group.add([acknowledged])
    },
  }
}
