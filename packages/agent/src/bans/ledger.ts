import type { BanLength } from '../engine/banned.ts'
import { banEventId } from '../event-id.ts'
import { canonicalIp } from '../ip.ts'
import type { Entry } from '../outbox.ts'
import { activeEventId, createBanEntries, unknownLength } from './ban-entries.ts'
import { placeKey } from './memory.ts'
import type { Intent, Memory } from './memory.ts'
import type { ActiveBan } from './remembered-bans.ts'
import { createRounds } from './rounds.ts'
import type { BanRow } from './table.ts'

export interface Ledger {
  /** Takes new rows, or rows seen before. Each ban is reported once. */
  bans(rows: readonly BanRow[]): number
  /** Remembers bans from before the first run, which are never reported. */
  baseline(rows: readonly BanRow[]): void
  /** Takes over bans that fail2ban holds from before, so that their end is reported. They are not reported as new. */
  adopt(bans: readonly { readonly row: BanRow; readonly isEndKnown: boolean }[]): void
  /** Sends bans again that are in force and that the server has lost. */
  tellAgain(bans: readonly ActiveBan[]): void
  /** Sends bans as new ones that are in force and that the server lists as ended. What ended here meanwhile is left out. */
  tellRenewed(bans: readonly ActiveBan[]): void
  knows(jail: string, ip: string, time: number): boolean
  /** Whether nothing is to be reported of a ban that fail2ban has: it was reported, is no ban of this host, or of no address. */
  isSettled(jail: string, ip: string): boolean
  active(jail: string, ip: string): ActiveBan | null
  /** The bans of this address, in one jail or in all. */
  activeOf(ip: string, jail: string | null): ActiveBan[]
  allActive(): ActiveBan[]
  /**
   * fail2ban says how long a ban lasts. A later end is told at once; an earlier one is not believed, because fail2ban itself may
   * hold such a ban until the end of before.
   */
  lasts(jail: string, ip: string, length: BanLength): void
  /** The ban ended because its jail stopped. It may return with the jail. */
  paused(ban: ActiveBan, at: number): void
  allPaused(): ActiveBan[]
  forgetPaused(ban: ActiveBan): void
  /** A ban that was reported as ended is in force again: reports a new ban for the remaining time. */
  resumed(ban: ActiveBan, now: number): void
  /** The ban is over. It is reported once, even if several watchers notice it. */
  ended(jail: string, ip: string, at: number): void
}

/**
 * Decides what is reported. Table, action, snapshot and commands all call this, in any order and more than once. The
 * result is one event for each ban and one for its end.
 */
export const createLedger = (needs: {
  serverId: string
  memory: Memory
  append: (entries: readonly Entry[]) => void
  changed: () => void
  clockOffset: () => number | null
  /** Whether the server may see the lines that this jail found. */
  tellsLines: (jail: string) => boolean
  now: () => number
  warn: (text: string) => void
  /** Whether the shield holds the ban. It goes on then, whatever fail2ban says. */
  isShielded?: (jail: string, ip: string) => boolean
  /** Whether fail2ban has the ban because of a fleet ban, which is one object at the server and no ban of each host. */
  isOfFleet?: (jail: string, ip: string) => boolean
  /** Called for each ban that was not known before. */
  onBan?: (jail: string, ip: string) => void
}): Ledger => {
  const { memory } = needs
  const rounds = createRounds(memory.seen)
  const { banEntry, unbanEntry, adoptEntry } = createBanEntries(needs)

  /** The command that caused this row: it asked for a ban of that address in that jail, and the row has no failures. */
  const takeIntent = (row: BanRow, ip: string): Intent | null => {
    const place = placeKey(row.jail, ip)
    const intent = memory.intents.get(place)
    if (!intent || row.failures !== 0 || row.time * 1000 < intent.since - 2000) return null
    memory.intents.delete(place)
    return intent
  }

  const isOfFleet = ({ jail, ip, failures }: BanRow): boolean => failures === 0 && needs.isOfFleet?.(jail, ip) === true

  /** Seconds that are left of a ban; of one by command, as the command said. */
  const lengthLeft = (ban: ActiveBan, now: number): number => {
    const override = memory.overrides.get(placeKey(ban.jail, ban.ip))
    const end = override === undefined ? endOf(ban) : override.until
    if (end === null) return override === undefined ? ban.bantime : -1
    return Math.max(1, Math.round((end - now) / 1000))
  }
  /** Tells a ban as a new one that the server lists as ended, or is about to. */
  const renew = (ban: ActiveBan, bantime: number, now: number): Entry[] => {
    rounds.ended(ban)
    const renewed = { ...ban, bantime, round: rounds.next(ban) }
    memory.active.set(renewed)
    return adoptEntry(renewed, now, lengthLeft(renewed, now))
  }
  const lengthen = (ban: ActiveBan, bantime: number): Entry[] => {
    // The agent keeps the end of a ban by command, and the shield that of its own.
    if (memory.overrides.has(placeKey(ban.jail, ban.ip)) || needs.isShielded?.(ban.jail, ban.ip) === true) return []
    const now = needs.now()
    // fail2ban lists a ban that was shortened with an end in the past, for as long as it holds it.
    if (!isLonger(bantime, ban.bantime) || (endOf({ ...ban, bantime }) ?? Infinity) <= now) return []
    if ((endOf(ban) ?? Infinity) <= now + tellTime) return renew(ban, bantime, now)
    const moved = { ...ban, bantime }
    memory.active.set(moved)
    return adoptEntry(moved, ban.time * 1000, bantime)
  }

  const note = (row: BanRow): Entry[] => {
    const key = [row.jail, row.ip, row.time] as const
    const before = memory.active.get(row.jail, row.ip)
    if (memory.seen.has(key)) {
      return before?.time === row.time ? lengthen(before, row.bantime) : []
    }
    memory.seen.add(key)
    const ip = canonicalIp(row.ip)
    if (ip === null) {
      needs.warn(`jail ${row.jail} banned something that is not an address; the server lists it apart`)
      return []
    }
    const intent = takeIntent(row, ip)
    if (intent === null && isOfFleet(row)) return []
    if (intent && intent.commandId === null && before) {
      memory.active.set({ ...before, time: row.time, bantime: row.bantime })
      return []
    }
    const ban: ActiveBan = { jail: row.jail, ip: row.ip, time: row.time, bantime: row.bantime, round: 0 }
    const eventId = banEventId(needs.serverId, row.jail, row.ip, row.time)
    // A report of its end would end the later ban, too, which the server has: so it is told as one that lasted until then.
    if (before && before.time > row.time) return [banEntry(shortened(row, before.time), ip, eventId, intent)]
    const entries = [banEntry(row, ip, eventId, intent)]
    if (before) entries.unshift(unbanEntry(before, Math.min(endOf(before) ?? Infinity, row.time * 1000)))
    memory.active.set(ban)
    needs.onBan?.(ban.jail, ban.ip)
    return entries
  }

  const ended = (jail: string, ip: string, at: number): void => {
    const ban = memory.active.get(jail, ip)
    if (!ban || needs.isShielded?.(jail, ip) === true) return
    memory.active.delete(jail, ip)
    if (at < (endOf(ban) ?? Infinity)) rounds.ended(ban)
    needs.append([unbanEntry(ban, at)])
    needs.changed()
  }

  return {
    bans(rows: readonly BanRow[]): number {
      const entries = rows.flatMap(note)
      needs.append(entries)
      if (rows.length > 0) needs.changed()
      return entries.length
    },
    baseline(rows: readonly BanRow[]): void {
      for (const row of rows) memory.seen.add([row.jail, row.ip, row.time])
      needs.changed()
    },
    adopt(bans): void {
      const entries = bans.flatMap(({ row: { jail, ip, time, bantime }, isEndKnown }): Entry[] => {
        if (canonicalIp(ip) === null) return []
        memory.seen.add([jail, ip, time])
        const round = rounds.next({ jail, ip, time })
        const ban = { jail, ip, time, bantime: isEndKnown ? bantime : unknownLength, round }
        memory.active.set(ban)
        return adoptEntry(ban, time * 1000, ban.bantime)
      })
      needs.append(entries)
      needs.changed()
      for (const { row } of bans) needs.onBan?.(row.jail, row.ip)
    },
    tellAgain(bans) {
      needs.append(bans.flatMap(ban => adoptEntry(ban, ban.time * 1000, lengthLeft(ban, ban.time * 1000))))
    },
    tellRenewed(bans) {
      const now = needs.now()
      const entries = bans.flatMap((told): Entry[] => {
        const ban = memory.active.get(told.jail, told.ip)
        if (ban === null || ban.time !== told.time || ban.round !== told.round) return []
        // fail2ban still holds it after its end: only fail2ban knows for how long.
        return renew(ban, now < (endOf(ban) ?? Infinity) ? ban.bantime : unknownLength, now)
      })
      needs.append(entries)
      needs.changed()
    },
    knows: (jail: string, ip: string, time: number): boolean => memory.seen.has([jail, ip, time]),
    isSettled: (jail, ip) =>
      memory.active.get(jail, ip) !== null ||
      memory.paused.get(jail, ip) !== null ||
      needs.isOfFleet?.(jail, ip) === true ||
      // Jails may ban user names and names of hosts, which are no bans to the server (other-ids.ts).
      canonicalIp(ip) === null,
    active: memory.active.get,
    activeOf: memory.active.of,
    allActive: (): ActiveBan[] => [...memory.active.values()],
    lasts(jail, ip, length) {
      const ban = memory.active.get(jail, ip)
      const entries = ban === null ? [] : lengthen(ban, bantimeOf(ban, length))
      if (entries.length === 0) return
      needs.append(entries)
      needs.changed()
    },
    paused(ban: ActiveBan, at: number): void {
      memory.paused.set(ban)
      ended(ban.jail, ban.ip, at)
    },
    allPaused: (): ActiveBan[] => [...memory.paused.values()],
    forgetPaused(ban: ActiveBan): void {
      memory.paused.delete(ban.jail, ban.ip)
      needs.changed()
    },
    resumed(ban: ActiveBan, now: number): void {
      const again = { ...ban, round: Math.max(ban.round + 1, rounds.next(ban)) }
      const eventId = activeEventId(needs.serverId, again)
      const row: BanRow = {
        ...ban,
        time: Math.round(now / 1000),
        bantime: lengthLeft(ban, now),
        failures: 1,
        logLines: '',
      }
      memory.paused.delete(ban.jail, ban.ip)
      memory.active.set(again)
      needs.append([banEntry(row, canonicalIp(ban.ip) ?? ban.ip, eventId, null)])
      needs.changed()
    },
    ended,
  }
}

/** Milliseconds within which a report reaches a server that is up. */
const tellTime = 5000

/** Seconds that a ban lasts from its time on. One that was found without its row has the time at which it was found. */
const bantimeOf = (ban: ActiveBan, { from, seconds }: BanLength): number =>
  seconds >= 0 && ban.bantime === unknownLength && from < ban.time ? Math.max(0, from + seconds - ban.time) : seconds

const isLonger = (bantime: number, before: number): boolean =>
  before === unknownLength ? bantime !== unknownLength : before >= 0 && (bantime < 0 || bantime > before)

/** A ban that was over at this time at the latest, in epoch seconds. */
const shortened = (row: BanRow, end: number): BanRow => {
  const most = end - row.time
  return { ...row, bantime: row.bantime < 0 ? most : Math.min(row.bantime, most) }
}

/** When fail2ban itself ends the ban, in epoch milliseconds; null for never. */
export const endOf = (ban: { time: number; bantime: number }): number | null =>
  ban.bantime < 0 ? null : (ban.time + ban.bantime) * 1000
