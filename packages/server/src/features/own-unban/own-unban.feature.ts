import { bans as contract } from '@stockade/contract'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { WhitelistService } from '../whitelist/whitelist.model.ts'
import { createOwnUnban } from './own-unban.service.ts'

export const ownUnbanFeature = (
  needs: Core & {
    settings: SettingsService
    whitelist: WhitelistService
    fleetBans: FleetBans
    blocklists: Blocklists
  },
): Feature<null> => {
  const lift = createOwnUnban(needs)
  return { service: null, mount: http => http.serve(contract.liftOwnBan, ({ actor }) => lift(actor)) }
}
