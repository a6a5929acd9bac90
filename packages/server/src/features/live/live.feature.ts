import type { BansService } from '../bans/bans.service.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { Targeting } from '../servers/targets.ts'
import { mountLive } from './live.ts'
import { createRecentEvents } from './recent.ts'

export const liveFeature = (
  needs: Core & {
    registry: Registry
    bans: BansService
    commands: CommandsService
    fleetBans: FleetBans
    targeting: Targeting
    /** Resolves when this process has read what the events it heard of changed. */
    taken: () => Promise<unknown>
  },
): Feature<{ position(): string }> => {
  const { events, log, metrics, taken } = needs
  const fail = (error: unknown) => log.error({ err: error }, 'the live feed failed')
  const recent = createRecentEvents()
  let feed: Awaited<ReturnType<typeof mountLive>> | null = null
  metrics.gauge({ name: 'stockade_live_clients', help: 'Open live feeds' }, () => feed?.count() ?? 0)
  return {
    service: { position: recent.position },
    async mount(http) {
      feed = await mountLive(http, {
        ...needs,
        recent,
        events: {
          subscribe: listener =>
            events.subscribe(happened => {
              taken()
                .then(() => listener(happened))
                .catch(fail)
            }),
        },
        renew: async request => {
          const actor = await http.identify(request, true)
          return actor.kind === 'anonymous' ? null : actor
        },
        log: fail,
      })
    },
    drain: () => feed?.close(),
  }
}
