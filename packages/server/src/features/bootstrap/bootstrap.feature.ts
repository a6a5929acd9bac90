import { bootstrap as contract } from '@stockade/contract'
import { atLeast } from '../../core/actor.ts'
import type { Feature } from '../feature.ts'
import type { LicenseService } from '../license/license.service.ts'
import type { PreferencesService } from '../preferences/preferences.service.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Me } from '../sessions/me.ts'
import type { SignInOptions } from '../sessions/options.ts'

/** One request in place of the five that a cold page of the dashboard begins with. */
export const bootstrapFeature = (needs: {
  me: Me
  options: SignInOptions
  preferences: Pick<PreferencesService, 'read'>
  servers: Pick<ServersService, 'summary'>
  license: Pick<LicenseService, 'read'>
  feed: { position(): string }
  /** Prepares what the pages ask for next. */
  warmUp(): Promise<void>
}): Feature<null> => ({
  service: null,
  mount: http =>
    http.serve(contract.bootstrap, async ({ actor }) => {
      // A user who must still set up a required second factor gets no data of the fleet.
      const isFull = !actor.mfaMissing
      if (isFull) void needs.warmUp()
      // Before anything is read: what changes from here on comes by the feed.
      const live_position = needs.feed.position()
      const [me, options, preferences, license] = await Promise.all([
        needs.me(actor),
        needs.options(),
        isFull ? needs.preferences.read(actor.userId) : null,
        isFull && atLeast(actor.permission, 'admin') ? needs.license.read() : null,
      ])
      return {
        me,
        options,
        preferences: preferences && { preferences },
        summary: isFull ? needs.servers.summary(actor) : null,
        license,
        live_position,
      }
    }),
})
