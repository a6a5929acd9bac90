import { sql as raw } from 'kysely'
import { day, minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { tooManyRequests } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { forgetNetworks, networksOf } from './networks.store.ts'

/** An attempt counts as failed from its beginning until it succeeded: many at once get no further than one by one. */
export interface Attempt {
  /** It was right: takes it back, and the failures of the same address before it. */
  succeeded(): Promise<void>
  /** Whether, unless it succeeds, it uses the account's budget of the day up. */
  readonly last: boolean
}

export interface Throttle {
  /**
   * A wrong password: after 10 failures for one name within 15 minutes, 429 for 15 minutes from the addresses that failed.
   * Networks from which nobody of that name has signed in have further limits. Counted by the name typed, existing or not, so
   * that the answer tells nothing.
   */
  login(name: string, ip: string, known?: boolean): Promise<Attempt>
  /** A wrong code, over all tokens and addresses: 10 in 15 minutes, or 20 in 24 hours. */
  code(userId: number, ip: string): Promise<Attempt>
  clearCodes(userId: number): Promise<void>
  /** Forgets what no rule looks at any more. */
  sweep(): Promise<void>
}

type Kind = 'login' | 'code'
/** Whose failures a rule counts: of the account, of the caller's own network, or of what stands around it. */
type Scope = 'subject' | 'net' | 'wide'
interface Rule {
  readonly failures: number
  readonly within: number
  readonly of: readonly Scope[]
  /** Only networks that failed themselves are refused. */
  readonly ifFailed?: true
  /** Does not hold where the account was signed in to before. */
  readonly strangers?: true
}
/** Wrong passwords for one account in a day; then only networks that it knows may try. */
const dailyFailures = 100
const rules: Record<Kind, readonly Rule[]> = {
  login: [
    { failures: 10, within: 15 * minute, of: ['subject'], ifFailed: true },
    { failures: 30, within: 15 * minute, of: ['subject', 'wide'], strangers: true },
    { failures: 100, within: 15 * minute, of: ['net'], strangers: true },
    { failures: 300, within: 15 * minute, of: ['wide'], strangers: true },
    { failures: dailyFailures, within: day, of: ['subject'], strangers: true },
  ],
  code: [
    { failures: 10, within: 15 * minute, of: ['subject'] },
    { failures: 20, within: day, of: ['subject'] },
  ],
}
interface Tried {
  readonly kind: Kind
  readonly subject: string
  readonly net: string
  readonly wide: string
}
/** What came before an attempt, as far as a rule looks. */
interface Before {
  readonly id: number
  readonly at: number
}

/** Kept in storage: a restart forgets nothing, and N processes count together. */
export const createThrottle = (db: Database, clock: Clock): Throttle => {
  const failuresOf = (tried: Tried, { of, within }: Rule, { id, at }: Before) => {
    let query = db.read
      .selectFrom('failed_attempts')
      .where('kind', '=', tried.kind)
      .where('at', '>', at - within)
      .where('id', '<', id)
    for (const scope of of) query = query.where(scope, '=', tried[scope])
    return query
  }
  /** Until when the rule refuses; null where it does not. */
  const refusedUntil = async (tried: Tried, rule: Rule, before: Before): Promise<number | null> => {
    const rows = await failuresOf(tried, rule, before)
      .select('at')
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(rule.failures)
      .execute()
    const [newest, oldest] = [rows[0], rows[rule.failures - 1]]
    if (!newest || !oldest) return null
    if (rule.ifFailed) {
      const own = failuresOf(tried, { ...rule, of: [...rule.of, 'net'] }, before)
      if (!(await own.select('id').limit(1).executeTakeFirst())) return null
    }
    return (rule.within === day ? oldest : newest).at + rule.within
  }
  /** Whether the failures before leave just this one of the day's budget. */
  const isLastOfDay = async (tried: Tried, before: Before): Promise<boolean> => {
    const rule: Rule = { failures: dailyFailures, within: day, of: ['subject'] }
    const rows = await failuresOf(tried, rule, before).select('id').limit(dailyFailures).execute()
    return rows.length === dailyFailures - 1
  }

  const attempt = async (kind: Kind, subject: string, ip: string, known: boolean): Promise<Attempt> => {
    const now = clock()
    const tried = { kind, subject, ...networksOf(ip) }
    const mine = await db.write
      .insertInto('failed_attempts')
      .values({ ...tried, ip, at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    const remove = (where: 'this' | 'this address') =>
      db.write
        .deleteFrom('failed_attempts')
        .where('kind', '=', kind)
        .where('subject', '=', subject)
        .$if(where === 'this', query => query.where('id', '=', mine.id))
        .$if(where === 'this address', query => query.where('net', '=', tried.net).where('id', '<=', mine.id))
        .execute()
    const before = { id: mine.id, at: now }
    for (const rule of rules[kind]) {
      if (rule.strangers && known) continue
      const until = await refusedUntil(tried, rule, before)
      if (until === null) continue
      // A refused attempt is no failure, else knocking on would keep the door shut for ever.
      await remove('this')
      throw tooManyRequests(
        Math.max(1, Math.ceil((until - now) / second)),
        'Too many wrong attempts for this account. Try again later.',
      )
    }
    return {
      last: kind === 'login' && (await isLastOfDay(tried, before)),
      async succeeded() {
        await remove(kind === 'login' ? 'this address' : 'this')
      },
    }
  }
  return {
    login: (name, ip, known = false) => attempt('login', name.toLowerCase().slice(0, 254), ip, known),
    code: (userId, ip) => attempt('code', String(userId), ip, true),
    async clearCodes(userId) {
      await db.write
        .deleteFrom('failed_attempts')
        .where('kind', '=', 'code')
        .where('subject', '=', String(userId))
        .execute()
    },
    async sweep() {
      await raw`delete from failed_attempts where at < ${clock() - day}`.execute(db.write)
      await forgetNetworks(db.write, clock())
    },
  }
}
