import { day, minute, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { tooManyRequests } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { forgetNetworks, networksOf } from './networks.store.ts'
import {
  addAttempt,
  failureTimes,
  removeAttempt,
  removeAttemptsBefore,
  removeAttemptsOf,
  removeAttemptsTo,
} from './throttle.store.ts'
import type { FailedAttempt, FailureFilter } from './throttle.store.ts'

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

type Kind = FailedAttempt['kind']
/** What a rule counts failures by: the account, the caller's own network, or the network around it. */
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
/** What came before an attempt, as far as a rule looks. */
interface Before {
  readonly id: number
  readonly at: number
}
const filterOf = ({ of, within }: Rule, { id, at }: Before): FailureFilter => ({ of, since: at - within, beforeId: id })

/** Kept in storage: a restart forgets nothing, and N processes count together. */
export const createThrottle = (db: Database, clock: Clock): Throttle => {
  /** Until when the rule refuses; null where it does not. */
  const refusedUntil = async (tried: FailedAttempt, rule: Rule, before: Before): Promise<number | null> => {
    const times = await failureTimes(db.read, tried, filterOf(rule, before), rule.failures)
    const [newest, oldest] = [times[0], times[rule.failures - 1]]
    if (newest === undefined || oldest === undefined) return null
    if (rule.ifFailed) {
      const own = await failureTimes(db.read, tried, filterOf({ ...rule, of: [...rule.of, 'net'] }, before), 1)
      if (own.length === 0) return null
    }
    return (rule.within === day ? oldest : newest) + rule.within
  }
  /** Whether the failures before leave just this one of the day's budget. */
  const isLastOfDay = async (tried: FailedAttempt, before: Before): Promise<boolean> => {
    const rule: Rule = { failures: dailyFailures, within: day, of: ['subject'] }
    const times = await failureTimes(db.read, tried, filterOf(rule, before), dailyFailures)
    return times.length === dailyFailures - 1
  }

  const attempt = async (kind: Kind, subject: string, ip: string, known: boolean): Promise<Attempt> => {
    const now = clock()
    const tried = { kind, subject, ...networksOf(ip) }
    const id = await addAttempt(db.write, tried, ip, now)
    const before = { id, at: now }
    for (const rule of rules[kind]) {
      if (rule.strangers && known) continue
      const until = await refusedUntil(tried, rule, before)
      if (until === null) continue
      // A refused attempt does not count as a failure; repeated attempts would prolong the block for ever.
      await removeAttempt(db.write, id)
      throw tooManyRequests(
        Math.max(1, Math.ceil((until - now) / second)),
        'Too many wrong attempts for this account. Try again later.',
      )
    }
    return {
      last: kind === 'login' && (await isLastOfDay(tried, before)),
      async succeeded() {
        await (kind === 'login' ? removeAttemptsTo(db.write, tried, id) : removeAttempt(db.write, id))
      },
    }
  }
  return {
    login: (name, ip, known = false) => attempt('login', name.toLowerCase().slice(0, 254), ip, known),
    code: (userId, ip) => attempt('code', String(userId), ip, true),
    async clearCodes(userId) {
      await removeAttemptsOf(db.write, 'code', String(userId))
    },
    async sweep() {
      await removeAttemptsBefore(db.write, clock() - day)
      await forgetNetworks(db.write, clock())
    },
  }
}
