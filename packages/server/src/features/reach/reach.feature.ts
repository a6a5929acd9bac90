import type { Core, Feature } from '../feature.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { createProtection } from './protected.ts'
import type { Protection } from './protected.ts'

/** Whom sets of addresses would hit. It stands below everything that bans on several servers. */
export const reachFeature = (
  needs: Core & { registry: Registry; mirror: Mirror; baseUrl: () => string },
): Feature<Protection> => ({ service: createProtection(needs) })
