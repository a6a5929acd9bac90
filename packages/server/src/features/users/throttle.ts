import { sql as raw } from 'kysely'
import { day, minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { tooManyRequests } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'

/** An attempt counts as failed from its beginning until it succeeded: many at once get no further than one by one. */
export interface Attempt {
  /** It was right: takes it back, and the failures of the same address before it. */
  succeeded(): Promise<void>
}

export interface Throttle {
  /**
   * A wrong password: after 10 failures for one name within 15 minutes, 429 for 15 minutes from the addresses that failed.
   * Counted by the name typed, existing or not, so that the answer tells nothing.
   */
  login(name: string, ip: string): Promise<Attempt>
  /** A wrong code, over all tokens and addresses: 10 in 15 minutes, or 20 in 24 hours. */
  code(userId: number, ip: string): Promise<Attempt>
  clearCodes(userId: number): Promise<void>
  /** Forgets what no rule looks at any more. */
  sweep(): Promise<void>
}

interface Rule {
  readonly failures: number
  readonly within: number
  /** Only addresses that failed themselves are refused. */
  readonly byAddress: boolean
}
const rules: Record<'login' | 'code', readonly Rule[]> = {
  login: [{ failures: 10, within: 15 * minute, byAddress: true }],
  code: [
    { failures: 10, within: 15 * minute, byAddress: false },
    { failures: 20, within: day, byAddress: false },
  ],
}

/** Kept in storage: a restart forgets nothing, and N processes count together. */
export const createThrottle = (db: Database, clock: Clock): Throttle => {
  const attempt = async (kind: 'login' | 'code', subject: string, ip: string): Promise<Attempt> => {
    const now = clock()
    const mine = await db.write
      .insertInto('failed_attempts')
      .values({ kind, subject, ip, at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    const remove = (where: 'this' | 'this address') =>
      db.write
        .deleteFrom('failed_attempts')
        .where('kind', '=', kind)
        .where('subject', '=', subject)
        .$if(where === 'this', query => query.where('id', '=', mine.id))
        .$if(where === 'this address', query => query.where('ip', '=', ip).where('id', '<=', mine.id))
        .execute()
    for (const rule of rules[kind]) {
      const before = await db.read
        .selectFrom('failed_attempts')
        .select(['ip', 'at'])
        .where('kind', '=', kind)
        .where('subject', '=', subject)
        .where('at', '>', now - rule.within)
        .where('id', '<', mine.id)
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(200)
        .execute()
      if (before.length < rule.failures) continue
      if (rule.byAddress && !before.some(row => row.ip === ip)) continue
      // A refused attempt is no failure, else knocking on would keep the door shut for ever.
      await remove('this')
      const [newest] = before
      const oldest = before[rule.failures - 1]
      const until = ((rule.within === day ? oldest : newest)?.at ?? now) + rule.within
      throw tooManyRequests(
        Math.max(1, Math.ceil((until - now) / second)),
        'Too many wrong attempts for this account. Try again later.',
      )
    }
    return {
      async succeeded() {
        await remove(kind === 'login' ? 'this address' : 'this')
      },
    }
  }
  return {
    login: (name, ip) => attempt('login', name.toLowerCase().slice(0, 254), ip),
    code: (userId, ip) => attempt('code', String(userId), ip),
    async clearCodes(userId) {
      await db.write
        .deleteFrom('failed_attempts')
        .where('kind', '=', 'code')
        .where('subject', '=', String(userId))
        .execute()
    },
    async sweep() {
      await raw`delete from failed_attempts where at < ${clock() - day}`.execute(db.write)
    },
  }
}
