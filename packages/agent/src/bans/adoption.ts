import type { BannedPlaces, Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { eventLoopTurn } from '../serial.ts'
import { errorText } from '../text.ts'
import { endOf } from './ledger.ts'
import type { Ledger } from './ledger.ts'
import type { BanRow, ReadRows } from './table.ts'
import { tableStart } from './table.ts'

export interface Adoption {
  run(): Promise<void>
  /** A ban may have returned just now, so that a list of before does not say so. */
  runAnew(): Promise<void>
}

/** Bans that are adopted between two turns of the event loop. */
const portion = 500
/** The first list of bans may be so old, in milliseconds. */
const listAge = 5000

/** The newest row of a ban, without what adoption does not need. */
type Newest = Pick<BanRow, 'time' | 'bantime'>

/**
 * Finds bans that fail2ban holds and that were never reported: those from before the first run, and those that come
 * with a jail. The server lists them as bans that were there already.
 */
export const createAdoption = (needs: {
  engine: Pick<Engine, 'banned' | 'databaseFile'>
  ledger: Pick<Ledger, 'isSettled' | 'adopt'>
  /** Reports the rows that are new in the table. */
  drain: () => Promise<void>
  read: ReadRows
  /** Without a table, later bans are reported as new ones. */
  isFirstRun: boolean
  now: () => number
  log: Log
}): Adoption => {
  const { engine, ledger, now } = needs
  let isFirstLook = needs.isFirstRun

  const isUnknown = (jail: string, ip: string): boolean => !ledger.isSettled(jail, ip)

  const unknownAmong = (banned: BannedPlaces): Map<string, Map<string, Newest | null>> => {
    const newestByJail = new Map<string, Map<string, Newest | null>>()
    for (const [jail, ips] of banned) {
      const unknown = new Map<string, Newest | null>()
      for (const ip of ips) if (isUnknown(jail, ip)) unknown.set(ip, null)
      if (unknown.size > 0) newestByJail.set(jail, unknown)
    }
    return newestByJail
  }

  /** Notes the newest row of each of these bans. */
  const readRows = async (file: string, candidates: Map<string, Map<string, Newest | null>>): Promise<void> => {
    let cursor = tableStart
    for (let more = true; more;) {
      const part = await needs.read(file, cursor, true)
      for (const { jail, ip, time, bantime } of part.rows) {
        const newest = candidates.get(jail)?.get(ip)
        if (newest !== undefined && (newest?.time ?? 0) <= time) candidates.get(jail)?.set(ip, { time, bantime })
      }
      cursor = part.end
      more = part.more
    }
  }

  const adopt = async (candidates: Map<string, Map<string, Newest | null>>, still: BannedPlaces): Promise<void> => {
    let bans: { row: BanRow; isEndKnown: boolean }[] = []
    for (const [jail, ips] of candidates) {
      for (const [ip, newest] of ips) {
        if (still.get(jail)?.has(ip) !== true || !isUnknown(jail, ip)) continue
        bans.push({ row: rowOf(jail, ip, newest, now()), isEndKnown: newest !== null && !isOver(newest, now()) })
        if (bans.length < portion) continue
        ledger.adopt(bans)
        bans = []
        await eventLoopTurn()
      }
    }
    ledger.adopt(bans)
  }

  const look = async (maxAge: number): Promise<void> => {
    const file = await engine.databaseFile()
    if (file === null && !isFirstLook) return
    const before = await engine.banned(maxAge)
    // What was banned while the agent runs is in the table now, and is reported as a new ban.
    await needs.drain()
    const candidates = unknownAmong(before)
    if (candidates.size > 0) {
      if (file !== null) await readRows(file, candidates)
      // A ban that ended in the meantime was removed from the ledger before it was removed here, or after.
      await adopt(candidates, await engine.banned())
      const count = [...candidates.values()].reduce((sum, ips) => sum + ips.size, 0)
      needs.log.info(`${count} bans were there already`)
    }
    isFirstLook = false
  }

  const run = async (maxAge: number): Promise<void> => {
    try {
      await look(maxAge)
    } catch (error) {
      needs.log.debug(`no look for bans of before: ${errorText(error)}`)
    }
  }

  return { run: () => run(listAge), runAnew: () => run(0) }
}

const isOver = (row: Newest, now: number): boolean => (endOf(row) ?? Infinity) <= now

/** `newest`: null without a table or without a row in it. */
const rowOf = (jail: string, ip: string, newest: Newest | null, now: number): BanRow => ({
  ...(newest ?? { time: Math.round(now / 1000), bantime: -1 }),
  jail,
  ip,
  failures: 0,
  logLines: '',
})
