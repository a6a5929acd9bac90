import { sql as raw } from 'kysely'
import { parseRange } from '../../core/ip.ts'
import type { Change } from '../../events/events.ts'

/** The jail of the bans that the shield holds. */
const shieldJail = 'stockade'

/**
 * Adds what a host dropped because of its active bans. `packets` is the host's own count, which starts at 0 again when the host
 * loads its bans again: a lower count than the last one is a new beginning, and the same count twice adds nothing.
 */
export const addDrops = async (
  { sql }: Pick<Change, 'sql'>,
  serverNo: number,
  drops: readonly { readonly ip: string; readonly packets: number }[],
  now: number,
): Promise<void> => {
  for (const { ip, packets } of drops) {
    const range = parseRange(ip)
    if (range === null) continue
    const { bytes, prefix } = range
    const ofEntry = raw`ip = ${bytes} and server_no = ${serverNo} and ${prefix === null ? raw`prefix is null` : raw`prefix = ${prefix}`}
      and jail_id = (select id from jails where name = ${shieldJail})`
    await raw`update bans set dropped_at = ${now}, dropped_seen = ${packets}, dropped_packets = coalesce(dropped_packets, 0)
        + case when dropped_seen <= ${packets} then ${packets} - dropped_seen else ${packets} end
      where ${ofEntry} and unbanned_at is null and (dropped_seen is null or dropped_seen <> ${packets})`.execute(sql)
  }
}
