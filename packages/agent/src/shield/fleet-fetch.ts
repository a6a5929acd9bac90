import type { FleetSet, Wire } from '../wire.ts'
import { digestOf, endsOf } from './fleet-store.ts'
import type { FleetBan, FleetState, FleetStore } from './fleet-store.ts'

/** What a host takes at most; the server has the same bound. */
const maxBans = 10_000

/** What the host should have after a reply. @throws Error if it makes no sense */
const mergeReply = (store: FleetStore, reply: FleetSet): Map<number, FleetBan> => {
  const bans = new Map(reply.full ? [] : store.state().bans)
  for (const id of reply.remove) bans.delete(id)
  for (const ban of reply.add) bans.set(ban.id, ban)
  for (const [id, { until }] of bans) if (until !== null && until <= reply.version) bans.delete(id)
  if (bans.size > maxBans) throw new Error(`the server gives ${bans.size} fleet bans, and a host takes ${maxBans}`)
  return bans
}
/** The fleet bans of the server, or what differs from the known version. Null where nothing does. */
export const fetchFleet = async (
  needs: { readonly store: FleetStore; readonly wire: Pick<Wire, 'fleetBans'> },
  known: number | null,
): Promise<Pick<FleetState, 'version' | 'bans'> | null> => {
  const reply = await needs.wire.fleetBans(known)
  if (reply === null) return null
  const bans = mergeReply(needs.store, reply)
  if (digestOf(endsOf(bans.values())) === reply.digest) return { version: reply.version, bans }
  if (!reply.full) return fetchFleet(needs, null)
  throw new Error('the fleet bans that the server gives do not match their digest')
}
