import type { Author } from '../../core/author.ts'
import type { Clock } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import { inSlices } from '../../core/slices.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import { chunk } from './changes.ts'
import type { Mirror } from './mirror.ts'
import type { Lift } from './whitelist.model.ts'
import type { NewEntry } from './entries.ts'
import { activeAfter, activeTouching } from './whitelist.store.ts'
import type { ActiveAddress } from './whitelist.store.ts'

/** So many orders one change gives at most; the rest of the covered bans the hosts lift by themselves when they apply the list. */
const mostLifts = 5000

/** Orders the hosts to lift the bans that new entries cover. */
export const createCoveredBans = (needs: {
  db: Database
  clock: Clock
  mirror: Pick<Mirror, 'touches'>
  registry: Pick<Registry, 'byNo'>
  /** Queues an `unban-ip` with jail `*` for each. */
  lift: (author: Author, lifts: readonly Lift[]) => Promise<void>
}) => {
  const { db, clock, mirror, registry } = needs

  /** What is banned now and has to do with the new entries: a few are asked for, of many all that is active is gone through. */
  const bannedWithin = async (entries: readonly NewEntry[]): Promise<ActiveAddress[]> => {
    const now = clock()
    const rows: ActiveAddress[] = []
    if (entries.length <= 20) {
      for (const { range } of entries) rows.push(...(await activeTouching(db.read, range, now)))
      return rows
    }
    let after = { banned_at: -1, ban_id: 0 }
    for (;;) {
      const page = await activeAfter(db.read, after, now, chunk)
      await inSlices(page, row => {
        const range = { bytes: row.ip, prefix: row.prefix, text: '' }
        // What an older entry covers has no business in a ban either.
        if (mirror.touches(range)) rows.push(row)
      })
      const last = page.at(-1)
      if (!last || page.length < chunk) return rows
      after = { banned_at: last.banned_at, ban_id: last.ban_id }
    }
  }
  /** Orders the hosts to lift what the new entries cover. Returns how many active bans that are. */
  const liftCovered = async (author: Author, entries: readonly NewEntry[]): Promise<number> => {
    if (entries.length === 0) return 0
    const banned = (await bannedWithin(entries)).filter(row => registry.byNo(row.server_no))
    const lifts = new Map(
      banned.map(row => {
        const ip = ipText(row.ip, row.prefix)
        return [`${row.server_no} ${ip}`, { serverNo: row.server_no, ip }]
      }),
    )
    await needs.lift(author, [...lifts.values()].slice(0, mostLifts))
    return new Set(banned.map(({ ban_id }) => ban_id)).size
  }

  return { lift: liftCovered }
}
