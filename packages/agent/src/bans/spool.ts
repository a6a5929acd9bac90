import * as fs from 'node:fs'
import { basename, dirname } from 'node:path'
import { steadyNow } from '../clock.ts'
import { asFields, asInteger, asText } from '../json.ts'
import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { onBeat } from '../schedule.ts'
import { errorText } from '../text.ts'
import { endOf } from './ledger.ts'
import type { Ledger } from './ledger.ts'
import type { Memory } from './memory.ts'
import type { BanRow } from './table.ts'

const rotateAtBytes = 1024 * 1024
const chunkBytes = 256 * 1024
const holdTime = 3000
const lookEvery = 5000

export interface Spool {
  start(): void
  look(): Promise<void>
  stop(): void
}

/**
 * Reads the events that the Python action writes. They save time and catch bans that end at once. A ban waits up to 3 s
 * for its row in fail2ban's table, which has the final duration, and is reported from here only if no row appears.
 */
export const createSpool = (needs: {
  path: string
  /** False: a link of a container leads elsewhere, and nothing is read. */
  isShared: () => boolean
  ledger: Ledger
  /** Called before bans of these jails are reported. */
  onJails: (jails: readonly string[]) => Promise<void>
  memory: Memory
  changed: () => void
  drain: () => Promise<void>
  hasTable: () => boolean
  /** fail2ban ended a ban by command too early. Answers true if the ban was renewed. */
  renew: (jail: string, ip: string, expired: boolean) => Promise<boolean>
  /** A jail lifted all of its bans, and announces none of them. Before a stop, too. */
  onFlush: () => void
  onStop: () => void
  /** A ban is back within the second in which it ended, so that its row in the table is not a new one. */
  onReturn: () => void
  /** The firewall actions of a ban have run: our action is the last one. */
  onActed: (jail: string, ip: string) => void
  log: Log
}): Spool => {
  const { ledger, memory } = needs
  const heldRows = new Map<string, { row: BanRow; until: number }>()
  const trouble = createOnce(needs.log.warn)
  let busy = false
  let again = false
  let timer: NodeJS.Timeout | null = null
  let watcher: fs.FSWatcher | null = null
  const endLooks = onBeat(lookEvery, () => void look())
  const old = `${needs.path}.old`

  const start = (): void => {
    try {
      watcher = fs.watch(dirname(needs.path), (_, changed) => {
        if (changed === null || changed === basename(needs.path)) wake(20)
      })
      watcher.on('error', () => watcher?.close())
    } catch {
      // Without a watcher, the ticker reads every 5 s.
    }
    void look()
  }

  const wake = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = null
      void look()
    }, ms)
  }

  const look = async (): Promise<void> => {
    if (busy) {
      again = true
      return
    }
    busy = true
    try {
      do {
        again = false
        if (needs.isShared()) await readNew()
        releaseHeld()
      } while (again)
      trouble.over()
    } catch (error) {
      trouble.tell(`the action's events cannot be read: ${errorText(error)}`)
    } finally {
      busy = false
    }
    if (heldRows.size > 0) wake(500)
  }

  const readNew = async (): Promise<void> => {
    if (fs.existsSync(old)) await finishOld()
    const stat = fs.statSync(needs.path, { throwIfNoEntry: false })
    if (!stat) return
    if (!memory.started) {
      memory.spool = { inode: stat.ino, offset: stat.size }
      return
    }
    if (stat.ino !== memory.spool.inode || stat.size < memory.spool.offset)
      memory.spool = { inode: stat.ino, offset: 0 }
    // Mostly there is nothing new, and a look every 5 s should cost little.
    while (stat.size > memory.spool.offset) {
      const { lines, end } = readLines(needs.path, memory.spool.offset)
      for (const line of lines) await take(line)
      if (end === memory.spool.offset) break
      memory.spool = { inode: stat.ino, offset: end }
      needs.changed()
    }
    if (memory.spool.offset > rotateAtBytes) {
      fs.renameSync(needs.path, old)
      // fail2ban may hold the old file open for one more write.
      await new Promise(resolve => setTimeout(resolve, 1000))
      await finishOld()
    }
  }

  /** Safe to repeat after a crash: events that were read before are known and have no effect. */
  const finishOld = async (): Promise<void> => {
    let offset = fs.statSync(old).ino === memory.spool.inode ? memory.spool.offset : 0
    for (;;) {
      const { lines, end } = readLines(old, offset)
      for (const line of lines) await take(line)
      if (end === offset) break
      offset = end
    }
    fs.rmSync(old, { force: true })
    memory.spool = { inode: 0, offset: 0 }
    needs.changed()
  }

  const take = async (line: string): Promise<void> => {
    const event = parse(line)
    const jail = asText(event['jail'])
    const ip = asText(event['ip'])
    const time = asInteger(event['time'], -1)
    const at = typeof event['at'] === 'number' ? event['at'] * 1000 : Date.now()
    if (event['ev'] === 'flush') return needs.onFlush()
    if (event['ev'] === 'stop') return needs.onStop()
    if (jail === '' || ip === '' || time < 0) return
    const key = `${jail}|${ip}|${time}`
    switch (event['ev']) {
      case 'ban':
        needs.onActed(jail, ip)
        if (ledger.knows(jail, ip, time)) {
          if (!ledger.isSettled(jail, ip)) needs.onReturn()
          return
        }
        await needs.onJails([jail])
        heldRows.set(key, { row: rowOf(event, jail, ip, time), until: needs.hasTable() ? steadyNow() + holdTime : 0 })
        if (needs.hasTable()) void needs.drain().catch(() => undefined)
        return
      case 'prolong':
        return prolong(jail, ip, time, asInteger(event['bantime'], -1))
      case 'unban':
        return unban(jail, ip, time, at)
    }
  }

  const prolong = (jail: string, ip: string, time: number, bantime: number): void => {
    const key = `${jail}|${ip}|${time}`
    const waiting = heldRows.get(key)
    if (waiting) heldRows.set(key, { ...waiting, row: { ...waiting.row, bantime } })
    if (ledger.active(jail, ip)?.time === time) ledger.lasts(jail, ip, { from: time, seconds: bantime })
  }

  const unban = async (jail: string, ip: string, time: number, at: number): Promise<void> => {
    if (ledger.active(jail, ip)?.time !== time) {
      await needs.drain().catch(() => undefined)
      const waiting = heldRows.get(`${jail}|${ip}|${time}`)
      if (waiting) ledger.bans([waiting.row])
      heldRows.delete(`${jail}|${ip}|${time}`)
    }
    const ban = ledger.active(jail, ip)
    // This is the end of an older ban of the address, not of the current one.
    if (!ban || ban.time > time) return
    const end = endOf(ban)
    if (await needs.renew(jail, ip, end !== null && at >= end - 2000)) return
    ledger.ended(jail, ip, at)
  }

  const releaseHeld = (): void => {
    for (const [key, { row, until }] of heldRows) {
      const isKnown = ledger.knows(row.jail, row.ip, row.time)
      if (!isKnown && steadyNow() < until) continue
      heldRows.delete(key)
      if (!isKnown) ledger.bans([row])
    }
  }

  return {
    start,
    look,
    stop(): void {
      endLooks()
      if (timer) clearTimeout(timer)
      watcher?.close()
    },
  }
}

const parse = (line: string) => {
  try {
    return asFields(JSON.parse(line))
  } catch {
    return asFields(null)
  }
}

const rowOf = (event: Readonly<Record<string, unknown>>, jail: string, ip: string, time: number): BanRow => ({
  jail,
  ip,
  time,
  bantime: asInteger(event['bantime'], -1),
  failures: asInteger(event['failures'], 0),
  logLines: asText(event['matches']),
})

const readLines = (path: string, from: number): { lines: string[]; end: number } => {
  // A container may share the folder: neither a link nor a pipe in place of the file is followed or waited for.
  const file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    const buffer = Buffer.alloc(Math.min(chunkBytes, Math.max(0, fs.fstatSync(file).size - from)))
    const length = fs.readSync(file, buffer, 0, buffer.length, from)
    const newline = buffer.subarray(0, length).lastIndexOf(0x0a) + 1
    // Our lines are shorter than a chunk. Skip a longer one, because everything behind it would wait forever.
    const end = newline === 0 && length === chunkBytes ? length : newline
    const text = buffer.toString('utf8', 0, end)
    return { lines: text.split('\n').filter(line => line !== ''), end: from + end }
  } finally {
    fs.closeSync(file)
  }
}
