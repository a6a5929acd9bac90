import { bounds } from '@stockade/contract'
import { day, second } from '../../core/clock.ts'
import { conflict, tooManyRequests } from '../../core/problem.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import { addUses, claimNotice, endlessBans, forgetUses, jailNamesOn, usesOf } from './quotas.store.ts'

/** What one server may report on a UTC day, and leave standing; 0: as much as it likes. */
export interface QuotaLimits {
  readonly reports: number
  readonly bytes: number
  /** Active bans without an end. */
  readonly endless: number
}
/** What a report takes of a day. */
export interface Share {
  readonly reports: number
  readonly bytes: number
}

/**
 * What one host may fill the storage with. Counted in memory and written every few seconds, so that a report costs no query; N
 * processes learn of each other then.
 */
export interface Quotas {
  /** @throws Problem 429 until midnight UTC */
  take(serverNo: number, share: Share): void
  /** What was not stored after all. */
  giveBack(serverNo: number, share: Share): void
  /** @throws Problem 409 where the server has too many bans without an end */
  admitEndless(serverNo: number): void
  /** Whether it is known at once that the server may use a jail of that name; else ask `admitJail`. */
  knowsJail(serverNo: number, jail: string): boolean
  /** @throws Problem 409 where the server has used too many names */
  admitJail(serverNo: number, jail: string): Promise<void>
  /** Writes what was counted, and learns what others counted. */
  flush(): Promise<void>
  /** Counts bans without an end again. */
  recount(): Promise<void>
  sweep(): Promise<void>
}

interface Counted {
  /** Known to be in storage. */
  stored: Share
  /** Not written yet. */
  fresh: Share
}
const none: Share = { reports: 0, bytes: 0 }
const plus = (a: Share, b: Share): Share => ({ reports: a.reports + b.reports, bytes: a.bytes + b.bytes })
const minus = (a: Share, b: Share): Share => ({ reports: a.reports - b.reports, bytes: a.bytes - b.bytes })

export const createQuotas = async (
  needs: StoreAccess & {
    registry: Pick<Registry, 'byNo'>
    limits: QuotaLimits
    fail: (error: unknown) => void
  },
): Promise<Quotas> => {
  const { db, clock, events, registry, limits } = needs
  const dayNow = () => Math.floor(clock() / day)
  let today = dayNow()
  let counts = new Map<number, Counted>()
  const reportedServers = new Set<string>()
  const jails = new Map<number, Set<string>>()
  let endless: ReadonlyMap<number, number> = new Map()
  /** Since they were counted. */
  let newEndless = new Map<number, number>()
  let hasEndless = true

  const of = (serverNo: number): Counted => {
    const knownCount = counts.get(serverNo)
    if (knownCount) return knownCount
    const newCount = { stored: none, fresh: none }
    counts.set(serverNo, newCount)
    return newCount
  }
  const learn = async () => {
    for (const { server_no, reports, bytes } of await usesOf(db.read, today))
      of(server_no).stored = { reports: Number(reports), bytes: Number(bytes) }
  }
  const turn = () => {
    const now = dayNow()
    if (now === today) return
    today = now
    counts = new Map()
    reportedServers.clear()
  }
  const tell = async (serverNo: number, on: number) => {
    const server = registry.byNo(serverNo)
    if (!server || reportedServers.has(`${serverNo} ${on}`)) return
    reportedServers.add(`${serverNo} ${on}`)
    await events.change(async change => {
      if (!(await claimNotice(change.sql, db.engine, serverNo, on))) return
      await change.record({
        name: 'server.quota',
        serverNo,
        data: { id: server.row.id, hostname: server.row.hostname, reports: limits.reports, bytes: limits.bytes },
      })
    })
  }
  await learn()
  return {
    take(serverNo, share) {
      turn()
      const counted = of(serverNo)
      const { reports, bytes } = plus(plus(counted.stored, counted.fresh), share)
      const isOver = (used: number, limit: number) => limit > 0 && used > limit
      if (isOver(reports, limits.reports) || isOver(bytes, limits.bytes)) {
        tell(serverNo, today).catch(needs.fail)
        const seconds = Math.max(1, Math.ceil(((today + 1) * day - clock()) / second))
        throw tooManyRequests(
          seconds,
          `This server has reported what it may on a day (${limits.reports} bans, ${limits.bytes} bytes). Try again after midnight UTC, in ${seconds} seconds.`,
        )
      }
      counted.fresh = plus(counted.fresh, share)
    },
    giveBack(serverNo, share) {
      const counted = of(serverNo)
      counted.fresh = minus(counted.fresh, share)
    },
    admitEndless(serverNo) {
      hasEndless = true
      const fresh = newEndless.get(serverNo) ?? 0
      if (limits.endless > 0 && (endless.get(serverNo) ?? 0) + fresh >= limits.endless)
        throw conflict(
          `This server has ${limits.endless} active bans without an end, which is as many as one may have. Give the ban a duration, or lift others.`,
        )
      newEndless.set(serverNo, fresh + 1)
    },
    knowsJail: (serverNo, jail) => jails.get(serverNo)?.has(jail) ?? false,
    async admitJail(serverNo, jail) {
      const names = jails.get(serverNo) ?? new Set(await jailNamesOn(db.read, serverNo))
      if (!jails.has(serverNo)) jails.set(serverNo, names)
      if (!names.has(jail) && names.size >= bounds.jailsPerHost)
        throw conflict(`This server has reported bans of ${bounds.jailsPerHost} jails, as many as one may have.`)
      names.add(jail)
    },
    async flush() {
      turn()
      const on = today
      const uses = [...counts].flatMap(([server_no, { fresh }]) =>
        fresh.reports === 0 && fresh.bytes === 0 ? [] : [{ server_no, ...fresh }],
      )
      if (uses.length === 0 && db.engine === 'sqlite') return
      await db.write.transaction().execute(sql => addUses(sql, db.engine, on, uses))
      if (on !== today) return
      for (const { server_no, ...written } of uses) {
        const counted = of(server_no)
        counted.stored = plus(counted.stored, written)
        counted.fresh = minus(counted.fresh, written)
      }
      if (db.engine === 'postgres') await learn()
    },
    async recount() {
      if (!hasEndless || limits.endless === 0) return
      hasEndless = newEndless.size > 0
      newEndless = new Map()
      endless = await endlessBans(db.scan)
    },
    sweep: () => forgetUses(db.write, today - 7),
  }
}
