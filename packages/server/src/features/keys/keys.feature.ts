import { hour, second } from '../../core/clock.ts'
import type { Core, Feature } from '../feature.ts'
import type { UsersService } from '../users/users.service.ts'
import { createKeys } from './keys.service.ts'
import type { KeysService } from './keys.service.ts'

/** Its endpoints are mounted by the accounts, which know the servers that a key may be bound to. */
export const keysFeature = async (needs: Core & { users: UsersService }): Promise<Feature<KeysService>> => {
  const { events, log } = needs
  const service = await createKeys(needs)
  // Whether a second factor is required decides what a key may do.
  events.subscribe(happened => {
    if (happened.some(({ name }) => name === 'settings.update'))
      service.reloadAll().catch((error: unknown) => log.error({ err: error }, 'reading the API keys again failed'))
  })
  return {
    service,
    jobs: [
      { name: 'last use of API keys', every: 20 * second, everywhere: true, run: service.flush },
      { name: 'old changes of API keys', every: hour, run: service.sweep },
    ],
    follow: {
      on: ['key.*', 'server.*', 'user.*'],
      reload: happened => (happened.length === 0 ? service.reloadAll() : service.reload()),
    },
    close: service.flush,
  }
}
