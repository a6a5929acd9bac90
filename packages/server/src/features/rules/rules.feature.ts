import { hour, second } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { Protection } from '../reach/protected.ts'
import type { Registry } from '../servers/registry.ts'
import type { Targeting } from '../servers/targets.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { createNames } from './conditions.ts'
import { mountRules } from './rules.routes.ts'
import { createRules } from './rules.service.ts'
import type { RulesService } from './rules.service.ts'
import { createRuleRunner } from './runner.ts'

/** Sharing rules: bans of a few servers that become bans of many. */
export const rulesFeature = (
  needs: Core & {
    registry: Registry
    targeting: Targeting
    mirror: Mirror
    protection: Protection
    fleetBans: FleetBans
  },
): Feature<RulesService> => {
  const names = createNames(needs.db)
  const runner = createRuleRunner({ ...needs, names })
  const service = createRules({ ...needs, names, runner })
  return {
    service,
    mount: http => mountRules(http, service),
    jobs: [
      { name: 'sharing rules', every: second, run: runner.run },
      { name: 'old matches of sharing rules', every: hour, run: service.forgetOld },
    ],
  }
}
