import { hour, second } from '../../core/clock.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { Protection } from '../reach/protected.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { ServerTags } from '../servers/tags.ts'
import type { Targeting } from '../servers/targets.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { removeFleetTagsOf } from './fleet-tags.store.ts'
import { mountFleetBans } from './fleet.routes.ts'
import { createFleetBans } from './fleet.service.ts'
import type { FleetBans } from './fleet.service.ts'
import { createHostSets } from './host-sets.ts'
import { createEntryGuard } from './refusals.ts'

/** Bans of the whole fleet or of some servers, as desired state. */
export const fleetFeature = async (
  needs: Core & {
    servers: ServersService
    registry: Registry
    tags: ServerTags
    targeting: Targeting
    mirror: Mirror
    protection: Protection
    commands: CommandsService
  },
): Promise<Feature<FleetBans>> => {
  const { registry, commands, servers, tags } = needs
  const sets = await createHostSets(needs)
  // After the reply to the operator: waking a thousand hosts takes longer than making the ban.
  sets.onChange(targets =>
    setImmediate(() => {
      if (targets === 'all') for (const { row } of registry.all()) commands.wake(row.no)
      else for (const no of targets) commands.wake(no)
    }),
  )
  const service = createFleetBans({ ...needs, sets, guardEntry: createEntryGuard(needs) })
  tags.onRetag(service.retag, sets.catchUp)
  servers.onRemoval((change, serverNo) => removeFleetTagsOf(change.sql, serverNo))
  return {
    service,
    mount: http => mountFleetBans(http, service),
    jobs: [
      { name: 'fleet ban expiry', every: second, run: service.expire },
      { name: 'fleet ban progress', every: second, everywhere: true, run: service.tellProgress },
      { name: 'old fleet bans', every: hour, run: service.forgetOld },
    ],
    follow: { on: ['fleet_ban.create', 'fleet_ban.update', 'fleet_ban.delete', 'server.tags'], reload: sets.catchUp },
  }
}
