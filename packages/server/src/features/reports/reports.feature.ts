import { second } from '../../core/clock.ts'
import type { Outbox } from '../channels/outbox.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Targeting } from '../servers/targets.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { mountReports } from './reports.routes.ts'
import { createReports } from './reports.service.ts'
import { createSchedules } from './schedules.service.ts'
import { createSummaryWatcher } from './summary-changes.ts'

/** One page about a day, a week or a month, and the schedules that send it. */
export const reportsFeature = (
  needs: Core & {
    registry: Registry
    servers: ServersService
    targeting: Targeting
    settings: SettingsService
    outbox: Outbox
  },
): Feature<null> => {
  const reports = createReports(needs)
  const schedules = createSchedules({ ...needs, reports })
  needs.settings.watch(createSummaryWatcher(needs.clock))
  return {
    service: null,
    mount: http => mountReports(http, reports, schedules),
    jobs: [{ name: 'reports', every: second, run: schedules.run }],
  }
}
