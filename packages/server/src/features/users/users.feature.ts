import { hour } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { createThrottle } from './throttle.ts'
import type { Throttle } from './throttle.ts'
import { createUsers } from './users.service.ts'
import type { UsersService } from './users.service.ts'

export const usersFeature = ({
  db,
  clock,
  settings,
}: Core & { settings: SettingsService }): Feature<UsersService> & { readonly throttle: Throttle } => {
  const throttle = createThrottle(db, clock)
  return {
    service: createUsers(db, clock, settings),
    throttle,
    jobs: [{ name: 'old sign-in attempts', every: hour, run: throttle.sweep }],
  }
}
