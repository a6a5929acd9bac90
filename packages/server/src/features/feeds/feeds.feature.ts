import { createBanFilterReader } from '../bans/ban-filters.ts'
import type { Core, Feature } from '../feature.ts'
import type { Protection } from '../reach/protected.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { createBouncers } from './bouncers/bouncers.service.ts'
import { mountBouncers } from './bouncers/bouncers.routes.ts'
import { createSentFeeds } from './bouncers/sent.store.ts'
import { createFeedReader } from './contents.ts'
import { mountFeeds } from './feeds.routes.ts'
import { createFeeds } from './feeds.service.ts'
import type { FeedsService } from './feeds.service.ts'

/** What is banned, as texts that firewalls and other programs fetch by a token. */
export const feedsFeature = (
  needs: Core & { servers: ServersService; registry: Registry; protection: Protection; baseUrl: () => string },
): Feature<FeedsService> => {
  const { contextAt } = createBanFilterReader(needs.db, needs.servers)
  const load = createFeedReader({ ...needs, contextAt })
  const service = createFeeds({ ...needs, load })
  const bouncers = createBouncers({ ...needs, ...service, sent: createSentFeeds(needs) })
  return {
    service,
    mount(http) {
      mountFeeds(http, service)
      mountBouncers(http, bouncers)
      // Beside the start. What fails here is told to the first bouncer that asks.
      http.fastify.addHook('onListen', done => {
        void bouncers.resume().catch(() => undefined)
        done()
      })
    },
    close: () => bouncers.close(),
  }
}
