import { day, hour } from '../../core/clock.ts'
import type { AgentMoves } from '../agent-moves/agent-moves.service.ts'
import type { Outbox } from '../channels/outbox.ts'
import type { Core, Feature } from '../feature.ts'
import type { LicenseService } from '../license/license.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { Targeting } from '../servers/targets.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { mountAlerts } from './alerts.routes.ts'
import { createAlerts, listedFor } from './alerts.service.ts'
import { forgetResolved, forgetSilences } from './alerts.store.ts'
import { createBanConditions } from './ban-conditions.ts'
import { createEvaluation, lookEvery } from './evaluation.ts'
import { createEventConditions } from './event-conditions.ts'
import { createRules } from './rules.service.ts'
import { createServiceConditions } from './service-conditions.ts'

/** Rules that say what is wrong, and routes that say who is told. */
export const alertsFeature = (
  needs: Core & {
    registry: Registry
    targeting: Targeting
    settings: SettingsService
    license: LicenseService
    moves: AgentMoves
    outbox: Outbox
    mirror: Mirror
  },
): Feature<null> => {
  const { db, clock } = needs
  const banConditions = createBanConditions(needs)
  const eventConditions = createEventConditions(needs)
  const serviceConditions = createServiceConditions(needs)
  const evaluate = createEvaluation({ ...needs, banConditions, eventConditions, serviceConditions })
  const alerts = createAlerts(needs)
  const rules = createRules({ ...needs, banConditions })
  return {
    service: null,
    mount: http => mountAlerts(http, alerts, rules),
    jobs: [
      { name: 'alerts', every: lookEvery, run: evaluate },
      {
        name: 'old alerts',
        every: hour,
        async run() {
          await forgetResolved(db.write, clock() - listedFor)
          await forgetSilences(db.write, clock() - day)
        },
      },
    ],
    stop: eventConditions.stop,
  }
}
