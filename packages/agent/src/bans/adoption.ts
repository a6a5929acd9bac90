import type { Engine } from '../engine/engine.ts'
import type { Log } from '../log.ts'
import { errorText } from '../text.ts'
import { endOf } from './ledger.ts'
import type { Ledger } from './ledger.ts'
import { placeKey } from './memory.ts'
import type { BanRow, Cursor, TableRead } from './table.ts'
import { tableStart } from './table.ts'

export interface Adoption {
  run(): Promise<void>
}

/**
 * Finds bans that fail2ban holds and that were never reported: those from before the first run, and those that come
 * with a jail. The server lists them as bans that were there already.
 */
export const createAdoption = (needs: {
  engine: Pick<Engine, 'banned' | 'databaseFile'>
  ledger: Pick<Ledger, 'active' | 'allPaused' | 'adopt'>
  /** Reports the rows that are new in the table. */
  drain: () => Promise<void>
  read: (file: string, cursor: Cursor) => Promise<TableRead>
  /** Without a table, later bans are reported as new ones. */
  isFirstRun: boolean
  now: () => number
  log: Log
}): Adoption => {
  const { engine, ledger, now } = needs
  let isFirstLook = needs.isFirstRun

  const unknownAmong = (banned: ReadonlyMap<string, ReadonlySet<string>>): Set<string> => {
    const paused = new Set(ledger.allPaused().map(({ jail, ip }) => placeKey(jail, ip)))
    const places = [...banned].flatMap(([jail, ips]) =>
      [...ips].filter(ip => ledger.active(jail, ip) === null).map(ip => placeKey(jail, ip)),
    )
    return new Set(places.filter(place => !paused.has(place)))
  }

  /** The newest row of each of these bans. */
  const rowsOf = async (file: string, places: ReadonlySet<string>): Promise<Map<string, BanRow>> => {
    const found = new Map<string, BanRow>()
    let cursor = tableStart
    for (let more = true; more;) {
      const part = await needs.read(file, cursor)
      for (const row of part.rows) {
        const place = placeKey(row.jail, row.ip)
        if (places.has(place) && (found.get(place)?.time ?? 0) <= row.time) found.set(place, row)
      }
      cursor = part.end
      more = part.more
    }
    return found
  }

  const look = async (): Promise<void> => {
    const file = await engine.databaseFile()
    if (file === null && !isFirstLook) return
    const before = await engine.banned()
    // What was banned while the agent runs is in the table now, and is reported as a new ban.
    await needs.drain()
    const candidates = unknownAmong(before)
    if (candidates.size > 0) {
      const rows = file === null ? new Map<string, BanRow>() : await rowsOf(file, candidates)
      // A ban that ended in the meantime was removed from the ledger before it was removed here, or after.
      const still = unknownAmong(await engine.banned())
      ledger.adopt(
        [...candidates]
          .filter(place => still.has(place))
          .map(place => rows.get(place) ?? rowWithoutTable(place, now()))
          .map(row => ({ row, isEndKnown: rows.has(placeKey(row.jail, row.ip)) && !isOver(row, now()) })),
      )
      needs.log.info(`${candidates.size} bans were there already`)
    }
    isFirstLook = false
  }

  return {
    async run() {
      try {
        await look()
      } catch (error) {
        needs.log.debug(`no look for bans of before: ${errorText(error)}`)
      }
    },
  }
}

const isOver = (row: BanRow, now: number): boolean => (endOf(row) ?? Infinity) <= now

const rowWithoutTable = (place: string, now: number): BanRow => {
  const [jail = '', ...ip] = place.split('|')
  return { jail, ip: ip.join('|'), time: Math.round(now / 1000), bantime: -1, failures: 0, logLines: '' }
}
