import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { mountAgentMoves } from './agent-moves.routes.ts'
import { createAddressProofs } from './address-proofs.ts'

/** Another address of the server for hosts that are enrolled. */
export const agentMovesFeature = (
  needs: Core & { settings: SettingsService; registry: Registry; servedPin: () => string | null },
): Feature<null> => {
  const proofs = createAddressProofs(needs)
  return { service: null, mount: http => mountAgentMoves(http, proofs) }
}
