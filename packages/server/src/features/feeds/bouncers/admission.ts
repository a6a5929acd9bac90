import { minute, second } from '../../../core/clock.ts'
import type { Clock } from '../../../core/clock.ts'
import { forbidden, tooManyRequests } from '../../../core/problem.ts'
import { addressKey } from '../../../http/rate-limit.ts'
import type { FeedRow } from '../feeds.store.ts'

/** A bouncer that may ask. */
export interface Bouncer {
  readonly row: FeedRow
  readonly ip: string
  /** Another bouncer has another one. */
  readonly key: string
}
export interface Caller {
  /** As it stands in `X-Api-Key`. */
  readonly key: string | undefined
  readonly ip: string
  readonly program: string | undefined
}

/** Requests a minute. 500 bouncers ask 3000 times; those that ask for each visitor share the rest. Lists of everything are dear. */
const most = { token: 12_000, address: 3000, full: 1200, fullOfAddress: 120, refused: 10 } as const
/** Callers that are counted in a minute; more than that share one count. */
const mostCounts = 20_000

const form = /^(feed_[0-9A-Za-z]{40})(?:\.([0-9A-Za-z_-]{1,32}))?$/

/** Counts within each minute. The function that it returns throws a Problem 429 beyond the limit. */
const createCounts = (clock: Clock) => {
  let bucket = 0
  const counts = new Map<string, number>()
  return (who: string, limit: number): void => {
    const now = clock()
    const begun = Math.floor(now / minute) * minute
    if (begun !== bucket) {
      bucket = begun
      counts.clear()
    }
    const counted = counts.has(who) || counts.size < mostCounts ? who : 'others'
    const count = (counts.get(counted) ?? 0) + 1
    counts.set(counted, count)
    if (count > limit) throw tooManyRequests(Math.max(1, Math.ceil((bucket + minute - now) / second)))
  }
}

/** Who asks, and how often. Keys that are none are counted by address, as wrong passwords are. */
export const createBouncerAdmission = (needs: {
  readonly clock: Clock
  readonly find: (token: string) => Promise<FeedRow | undefined>
}) => {
  const spend = createCounts(needs.clock)
  // With counts of their own, so that strangers at many addresses take no room from bouncers.
  const spendOfStranger = createCounts(needs.clock)
  const refuse = (ip: string): never => {
    spendOfStranger(addressKey(ip), most.refused)
    // In the words of the protocol: bouncers show them.
    throw forbidden('access forbidden')
  }
  return {
    /** @throws Problem 403 without the token of a feed, 429 beyond the bounds */
    async admit({ key, ip, program }: Caller): Promise<Bouncer> {
      const [, token, name = ''] = form.exec(key ?? '') ?? []
      const row = token === undefined ? undefined : await needs.find(token)
      if (!row) return refuse(ip)
      spend(`feed ${row.id}`, most.token)
      spend(`feed ${row.id} ${addressKey(ip)}`, most.address)
      return { row, ip, key: `${row.token_hash} ${name} ${ip} ${(program ?? '').slice(0, 100)}` }
    },
    /** Counts a list of everything. @throws Problem 429 */
    spendFull({ row, ip }: Bouncer): void {
      spend(`full ${row.id}`, most.full)
      spend(`full ${row.id} ${addressKey(ip)}`, most.fullOfAddress)
    },
  }
}
