import type { ReplyOf, auth } from '@stockade/contract'
import type { UserActor } from '../../core/actor.ts'
import { sees } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { LookupService } from '../lookup/lookup.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { SessionsService } from './sessions.model.ts'

type Reply = ReplyOf<typeof auth.me>
/** What the caller learns about its own account. */
export type Me = (actor: UserActor) => Promise<Reply>

/** How many addresses of the caller's sessions are looked up. */
const mostAddresses = 10

export const createMe = (needs: {
  version: string
  clock: Clock
  sessions: Pick<SessionsService, 'me' | 'listOf'>
  lookup: Pick<LookupService, 'standing'>
  settings: Pick<SettingsService, 'get'>
  registry: Pick<Registry, 'all'>
}): Me => {
  const { version, clock, sessions, lookup, registry } = needs
  /** The addresses of the caller's sessions, the latest first: each once, by its current or latest session. */
  const sessionAddresses = async (actor: UserActor) => {
    const byAddress = new Map<string, Awaited<ReturnType<SessionsService['listOf']>>[number]>()
    for (const session of await sessions.listOf(actor.userId, actor.sessionId)) {
      const { ip_address: ip, current, last_activity } = session
      const knownAddress = byAddress.get(ip)
      if (!knownAddress || current || (!knownAddress.current && knownAddress.last_activity < last_activity))
        byAddress.set(ip, session)
    }
    const addresses = [...byAddress.values()]
      .sort((a, b) => (a.last_activity < b.last_activity ? 1 : -1))
      .map(({ ip_address: ip, user_agent, last_activity, current }) => ({
        ip,
        user_agent,
        last_activity,
        current: current && ip === actor.ip,
      }))
    // The caller may have moved to another address since signing in.
    const here = { ip: actor.ip, user_agent: '', last_activity: iso(clock()), current: true }
    return (addresses.some(({ ip }) => ip === actor.ip) ? addresses : [here, ...addresses]).slice(0, mostAddresses)
  }
  return async actor => {
    const account = await sessions.me(actor, version)
    // A user who must still set up a required second factor gets no data of the fleet.
    if (actor.mfaMissing) return { ...account, server_count: 0, own_unban: false, addresses: [] }
    const addresses = await sessionAddresses(actor)
    const standing = await lookup.standing(
      actor,
      addresses.map(({ ip }) => ip),
    )
    return {
      ...account,
      server_count: registry.all().filter(({ row }) => sees(actor, row.no)).length,
      own_unban: needs.settings.get('security.own_unban') && actor.servers === 'all',
      addresses: addresses.map((address, index) => ({
        ...address,
        whitelisted: standing[index]?.whitelisted ?? false,
        active_bans: standing[index]?.active_bans ?? [],
      })),
    }
  }
}
