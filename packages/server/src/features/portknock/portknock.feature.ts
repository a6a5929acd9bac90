import { hour } from '../../core/clock.ts'
import type { Quotas } from '../bans/quotas.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { mountPortknock } from './portknock.routes.ts'
import { createPortknock } from './portknock.service.ts'
import type { Portknock } from './portknock.service.ts'

export const portknockFeature = async (
  needs: Core & { servers: ServersService; registry: Registry; quotas: Quotas; commands: CommandsService },
): Promise<Feature<Portknock>> => {
  const { servers, commands, config } = needs
  const service = await createPortknock({ ...needs, wake: commands.wake, keptDays: config.eventRetentionDays })
  servers.onRemoval(service.forget)
  return {
    service,
    mount: http => mountPortknock(http, service),
    jobs: [{ name: 'old knocks', every: hour, run: service.sweep }],
    follow: { on: ['portknock.*'], reload: service.hosts.reload },
  }
}
