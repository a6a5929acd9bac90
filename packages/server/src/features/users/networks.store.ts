import { sql as raw } from 'kysely'
import type { Kysely } from 'kysely'
import { day } from '../../core/clock.ts'
import { parseIp, parseRange } from '../../core/ip.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>

/** The caller's own network, an IPv4 address or an IPv6 /64, and the network around it, a /24 or a /48. */
export const networksOf = (ip: string): { net: string; wide: string } => {
  const address = parseIp(ip)
  if (!address) return { net: ip.slice(0, 64), wide: ip.slice(0, 64) }
  const [net, wide] = address.bytes.length === 4 ? [32, 24] : [64, 48]
  const within = (prefix: number) => parseRange(`${address.text}/${prefix}`)?.text ?? address.text
  return { net: within(net), wide: within(wide) }
}

/** A network without a sign-in for this long counts as unknown again. */
const forgottenAfter = 90 * day

/** Whether that user has signed in from there before. Asks also for a user that there is not, so that the time tells nothing. */
export const isKnownNetwork = async (sql: Sql, userId: number, ip: string, now: number): Promise<boolean> =>
  (await sql
    .selectFrom('known_networks')
    .select('net')
    .where('user_id', '=', userId)
    .where('net', '=', networksOf(ip).net)
    .where('seen_at', '>', now - forgottenAfter)
    .executeTakeFirst()) !== undefined
export const noteNetwork = async (sql: Sql, userId: number, ip: string, now: number): Promise<void> => {
  await sql
    .insertInto('known_networks')
    .values({ user_id: userId, net: networksOf(ip).net, seen_at: now })
    .onConflict(on => on.columns(['user_id', 'net']).doUpdateSet({ seen_at: now }))
    .execute()
}
export const forgetNetworks = async (sql: Sql, now: number): Promise<void> => {
  await raw`delete from known_networks where seen_at < ${now - forgottenAfter}`.execute(sql)
}
