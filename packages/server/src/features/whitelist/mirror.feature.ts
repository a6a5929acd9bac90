import type { Principal } from '../../core/actor.ts'
import type { Core, Feature } from '../feature.ts'
import { guardOwnAddresses } from '../servers/own-addresses.ts'
import type { Registry } from '../servers/registry.ts'
import { guardWhitelisted } from './guard.ts'
import { createMirror } from './mirror.ts'
import type { Mirror } from './mirror.ts'

/** Refuses what an operator must not ban. @throws Problem 409 */
export type GuardBan = (actor: Principal, params: Readonly<Record<string, unknown>>) => void

/** The whitelist in memory. It stands below everything that asks whether an address is on the list. */
export const mirrorFeature = async ({
  db,
  log,
  registry,
}: Core & { registry: Pick<Registry, 'all'> }): Promise<Feature<Mirror> & { readonly guardBan: GuardBan }> => {
  const service = await createMirror(db, error => log.error({ err: error }, 'packing the whitelist failed'))
  const guardListed = guardWhitelisted(service)
  const guardOwn = guardOwnAddresses(registry)
  return {
    service,
    guardBan(actor, params) {
      guardListed(params)
      guardOwn(actor, params)
    },
    follow: {
      on: ['whitelist.add', 'whitelist.remove'],
      reload: events =>
        service.catchUp(events.flatMap(({ name, data }) => (name === 'whitelist.remove' ? [Number(data.id)] : []))),
    },
  }
}
