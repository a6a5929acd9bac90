import type { AgentMoves } from '../agent-moves/agent-moves.service.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { Portknock } from '../portknock/portknock.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { mountDesired } from './desired.routes.ts'
import { createDesired } from './desired.service.ts'
import type { Desired } from './desired.service.ts'

export const desiredFeature = async (
  needs: Core & {
    servers: ServersService
    registry: Registry
    mirror: Mirror
    portknock: Portknock
    fleetBans: FleetBans
    blocklists: Blocklists
    commands: CommandsService
    moves: AgentMoves
  },
): Promise<Feature<Desired>> => {
  const service = await createDesired({ ...needs, knocks: needs.portknock.hosts, wake: needs.commands.wake })
  return {
    service,
    mount: http => mountDesired(http, service),
    follow: { on: ['whitelist.sync'], reload: service.reload },
  }
}
