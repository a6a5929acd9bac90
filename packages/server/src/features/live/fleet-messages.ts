import type { LiveMessage } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import type { StockadeEvent } from '../../events/events.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'

type LiveFleetBan = Extract<LiveMessage, { type: 'fleet_ban' }>
const changes: Readonly<Record<string, LiveFleetBan['data']['change']>> = {
  'fleet_ban.create': 'created',
  'fleet_ban.update': 'changed',
  'fleet_ban.delete': 'removed',
  'fleet_ban.expire': 'expired',
}
export type FleetLive = Awaited<ReturnType<FleetBans['live']>>

export const fleetBanIds = (events: readonly StockadeEvent[]): number[] => [
  ...new Set(events.flatMap(({ name, data }) => (name in changes ? [Number(data.id)] : []))),
]
/** The counts are of all servers, so that only those who see all of them get these. */
export const fleetMessage = (event: StockadeEvent, live: FleetLive, hasCounts: boolean): LiveMessage => {
  const change = changes[event.name]
  const id = change ? Number(event.data.id) : null
  return {
    type: 'fleet_ban',
    at: iso(event.at),
    data: {
      id,
      change: change ?? 'progress',
      entry: id === null ? null : String(event.data.entry),
      state: id !== null && hasCounts ? (live.get(id)?.counts ?? null) : null,
    },
  }
}

/** Who sees some servers only is not told which list changed. */
export const blocklistMessage = ({ at, data }: StockadeEvent, isNamed: boolean): LiveMessage => ({
  type: 'blocklist',
  at: iso(at),
  data: { id: isNamed && data.id !== undefined ? Number(data.id) : null },
})
