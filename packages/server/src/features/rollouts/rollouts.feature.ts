import { second } from '../../core/clock.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { createProgress } from './progress.ts'
import { createOffer } from './release.ts'
import { mountRollouts } from './rollouts.routes.ts'
import { createRollouts } from './rollouts.service.ts'

/** Upgrades of the agents on many hosts, in waves. */
export const rolloutsFeature = (
  needs: Core & { servers: ServersService; registry: Registry; commands: CommandsService },
): Feature<null> => {
  const offer = createOffer(needs.config.agentDir, needs.version)
  const service = createRollouts({ ...needs, offer })
  const progress = createProgress(needs)
  return {
    service: null,
    mount: http => mountRollouts(http, service),
    jobs: [{ name: 'agent rollouts', every: second, run: progress.run }],
  }
}
