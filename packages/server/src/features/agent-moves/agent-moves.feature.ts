import { createServedPin } from '../../http/tls.ts'
import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { createAddressProofs } from './address-proofs.ts'
import { mountAgentMoves } from './agent-moves.routes.ts'
import { createAgentMoves } from './agent-moves.service.ts'
import type { AgentMoves } from './agent-moves.service.ts'
import { removeMoveOf } from './agent-moves.store.ts'

/** Another address of the server for hosts that are enrolled. */
export const agentMovesFeature = async (
  needs: Core & { baseUrl: () => string; settings: SettingsService; servers: ServersService; registry: Registry },
): Promise<Feature<AgentMoves>> => {
  const servedPin = createServedPin(needs.config.tls, needs.clock)
  const service = await createAgentMoves({ ...needs, servedPin })
  const proofs = createAddressProofs({ ...needs, servedPin })
  needs.servers.onRemoval((change, serverNo) => removeMoveOf(change.sql, serverNo))
  return {
    service,
    mount: http => mountAgentMoves(http, service, proofs),
    follow: { on: ['agents.move'], reload: service.reload },
  }
}
