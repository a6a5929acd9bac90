import type { Principal } from './actor.ts'

/** Who made a change, as the audit log shows it. */
export interface Author {
  readonly name: string
  readonly userId: number | null
  readonly ip: string | null
}
/** Stockade itself: what expires, or is done on a schedule. */
export const system: Author = { name: 'system', userId: null, ip: null }

export const authorOf = ({ name, userId, ip }: Pick<Principal, 'name' | 'userId' | 'ip'>): Author => ({
  name,
  userId,
  ip,
})
