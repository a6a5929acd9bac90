import type { BodyOf, fleetBans } from '@stockade/contract'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { tellFleetBans } from '../fleet/undo.ts'

type Asked = BodyOf<typeof fleetBans.createFleetBan>

const readAgain = () => {
  for (const key of ['fleet-bans', 'lookup']) void queries.invalidateQueries({ queryKey: [key] })
}

/** Bans on all servers or on those of the target, also on later ones; a toast follows it and offers Undo. */
export const banOnFleet = async (asked: Asked) => {
  const fleetBan = await api.call('POST /fleet/bans', { body: asked })
  readAgain()
  const { id, entry, created_at: created, updated_at: updated } = fleetBan
  tellFleetBans([{ id, entry, is_new: created === updated }], asked.target.tags)
  return fleetBan
}

/** The same for many entries, as long as a fleet ban lasts by default. What must not be banned is in `refused`. */
export const banManyOnFleet = async (entries: readonly string[], target: Asked['target'], force: boolean) => {
  const reply = await api.call('POST /fleet/bans/bulk', {
    body: { entries: [...entries], target, ...(force ? { force } : {}) },
  })
  readAgain()
  tellFleetBans(reply.fleet_bans, target.tags)
  return reply
}
