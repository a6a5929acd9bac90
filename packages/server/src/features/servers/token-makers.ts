import type { Principal } from '../../core/actor.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import { findKey } from '../keys/keys.store.ts'
import { standingOf } from '../users/standing.ts'
import type { UsersService } from '../users/users.service.ts'
import { findUser } from '../users/users.store.ts'

/** Who made a token, as it is stored beside it. A key stands for itself, so that what it made ends with it. */
export const makerOf = (actor: Principal): string =>
  actor.kind === 'key' ? `key:${actor.keyId}` : `user:${actor.userId}`

/**
 * Whether who made a token may still add servers. Within a change it reads by the change's connection: many hosts that come at once
 * hold all others.
 */
export const createMakers = (needs: {
  clock: Clock
  users: Pick<UsersService, 'isVouchedFor' | 'lacksFactor'>
}): ((sql: Database['read'], creator: string | null) => Promise<boolean>) => {
  const { clock, users } = needs
  const isUserEntitled = async (sql: Database['read'], userId: number): Promise<boolean> => {
    const user = await findUser(sql, userId)
    // Administrators have access to all servers.
    return user?.role === 'Admin' && standingOf(users, user)?.mfaMissing === false
  }
  return async (sql, creator) => {
    const [kind, id] = (creator ?? '').split(':')
    if (kind === 'user') return isUserEntitled(sql, Number(id))
    const key = kind === 'key' ? await findKey(sql, Number(id)) : undefined
    // What limits a key never changes: one that was good enough stays so.
    if (!key || (key.expires_at !== null && key.expires_at <= clock())) return false
    return key.user_id === null || isUserEntitled(sql, key.user_id)
  }
}
