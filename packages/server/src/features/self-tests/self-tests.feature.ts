import { second } from '../../core/clock.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { createSelfTests } from './self-tests.service.ts'

export const selfTestsFeature = (
  needs: Core & { settings: SettingsService; servers: ServersService; registry: Registry; commands: CommandsService },
): Feature<null> => {
  const { askDue } = createSelfTests(needs)
  return { service: null, jobs: [{ name: 'self-tests', every: 2 * second, run: askDue }] }
}
