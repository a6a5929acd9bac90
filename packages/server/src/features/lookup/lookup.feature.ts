import type { Core, Feature } from '../feature.ts'
import type { BanReasons } from '../bans/ban-reasons.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { ReputationService } from '../reputation/reputation.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { WhitelistService } from '../whitelist/whitelist.model.ts'
import { mountLookup } from './lookup.routes.ts'
import { createLookup } from './lookup.service.ts'
import type { LookupService } from './lookup.service.ts'
import { createNeighbours } from './neighbours.ts'
import { createReverse } from './reverse.ts'

export const lookupFeature = (
  needs: Core & {
    ipinfo: IpInfo
    reputation: ReputationService
    registry: Registry
    whitelist: WhitelistService
    reasons: BanReasons
    fleetBans: FleetBans
    blocklists: Blocklists
  },
): Feature<LookupService> => {
  const service = createLookup({
    ...needs,
    reverse: createReverse(),
    entryFor: async ip => (await needs.whitelist.check(ip.text)).matched_entry,
  })
  return { service, mount: http => mountLookup(http, service, createNeighbours(needs)) }
}
