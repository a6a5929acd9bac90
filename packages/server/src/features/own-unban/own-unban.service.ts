import type { ReplyOf, bans as contract } from '@stockade/contract'
import { bounds } from '@stockade/contract/limits.ts'
import type { UserActor } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { day, hour, iso } from '../../core/clock.ts'
import { parseIp } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { conflict, forbidden } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import { countAudit } from '../audit/audit.store.ts'
import { pageOfBans } from '../bans/bans.store.ts'
import type { Blocklists } from '../blocklists/blocklists.service.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import type { WhitelistService } from '../whitelist/whitelist.model.ts'
import { holdUser } from './own-unban.store.ts'

/** Of more active bans than that, the newest are looked at. */
const mostBans = 1000

/** @throws Problem 403 for a caller with access to some servers, 409 where it is off, used up, or there is nothing to lift */
export type LiftOwnBan = (actor: UserActor) => Promise<ReplyOf<typeof contract.liftOwnBan>>

/**
 * Lets a user lift the ban of the address that the request comes from: a whitelist entry of an hour. The address is the one that the
 * server resolved, and nothing in the request names it.
 */
export const createOwnUnban = (
  needs: StoreAccess & {
    settings: Pick<SettingsService, 'get'>
    whitelist: Pick<WhitelistService, 'add' | 'check'>
    fleetBans: Pick<FleetBans, 'covering'>
    blocklists: Pick<Blocklists, 'covering'>
  },
): LiftOwnBan => {
  const { db, clock, events, whitelist } = needs
  /** What a person decided is taken back by a person; what fail2ban or a rule decided may have been a typing error. */
  const refuseDecided = async (actor: UserActor, ip: IpRange) => {
    const bans = await pageOfBans(db.read, db.engine, { servers: 'all', ip, active: true }, clock(), 0, mostBans)
    const fleetBans = await needs.fleetBans.covering(actor, ip)
    if ((await needs.blocklists.covering(actor, ip)).length > 0)
      throw conflict(`${ip.text} is on a blocklist. An operator can look at it.`)
    if (bans.length + fleetBans.length === 0) throw conflict(`${ip.text} itself is not banned.`)
    const isDecided =
      bans.some(({ banned_by }) => (banned_by ?? 'engine') !== 'engine') ||
      fleetBans.some(({ source }) => source === 'manual')
    if (isDecided) throw conflict(`Somebody banned ${ip.text} on purpose. An operator can lift it.`)
    // Lifting it would also unban the other addresses of the range.
    if (fleetBans.some(({ entry }) => entry !== ip.text))
      throw conflict(`A range that contains ${ip.text} is banned. An operator can lift it.`)
  }
  /** Counted before it is done: what fails afterwards counts too. */
  const takeTurn = (actor: UserActor, ip: string, expires_at: string): Promise<number> =>
    events.change(async change => {
      await holdUser(change.sql, db.engine, actor.userId)
      const since = { userId: actor.userId, action: 'ban.own_unban', from: clock() - day }
      const times = await countAudit(change.sql, since)
      if (times >= bounds.ownUnbans)
        throw conflict(`You have lifted ${times} bans of your own within 24 hours, as many as you may.`)
      await change.record({ name: 'ban.own_unban', author: authorOf(actor), data: { ip, expires_at } })
      return bounds.ownUnbans - times - 1
    })

  return async actor => {
    if (!needs.settings.get('security.own_unban'))
      throw conflict('Lifting a ban of the own address is switched off. An administrator can set security.own_unban.')
    // The whitelist is for all servers.
    if (actor.servers !== 'all')
      throw forbidden('You have access to some servers only, and this would lift bans on all of them.')
    const ip = parseIp(actor.ip)
    if (!ip) throw conflict('The address of this request is unknown.')
    const { matched_entry: entry } = await whitelist.check(ip.text)
    if (entry) throw conflict(`${ip.text} is on the whitelist already (${entry.ip}).`)
    await refuseDecided(actor, ip)
    const expires_at = iso(clock() + hour)
    const left = await takeTurn(actor, ip.text, expires_at)
    const description = `${actor.name} lifted the ban of the own address`
    const { lifted_bans } = await whitelist.add(actor, { ip: ip.text, description, expires_at })
    return { ip: ip.text, expires_at, lifted_bans, left }
  }
}
