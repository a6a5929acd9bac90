import * as fs from 'node:fs'
import { basename, dirname } from 'node:path'
import { databaseMark } from '../files.ts'
import { onBeat } from '../schedule.ts'
import { errorText } from '../text.ts'
import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import type { Ledger } from './ledger.ts'
import type { Memory } from './memory.ts'
import type { ReadRows } from './table.ts'

const debounceTime = 50
const readEvery = 15_000

export interface Tail {
  /** Where the table is; null when fail2ban keeps none. */
  follow(path: string | null): void
  hasTable(): boolean
  /** Resolves when all rows that are in the table now have been read. */
  drain(): Promise<void>
  stop(): void
}

/** Follows fail2ban's ban table: reads after changes in its directory, and every 15 s in case one was missed. */
export const createTail = (needs: {
  read: ReadRows
  ledger: Ledger
  /** Called before bans of these jails are reported. */
  onJails: (jails: readonly string[]) => Promise<void>
  memory: Memory
  saved: { changed(): void; save(): void }
  backfill: boolean
  log: Log
}): Tail => {
  const { memory } = needs
  const trouble = createOnce(needs.log.warn)
  let file: string | null = null
  let watcher: fs.FSWatcher | null = null
  let debounce: NodeJS.Timeout | null = null
  let running: Promise<void> | null = null
  let queued: Promise<void> | null = null
  /** Of the file when it was read last; null: it has to be read. */
  let readMark: string | null = null
  const endLooks = onBeat(readEvery, () => void look())

  const watch = (): void => {
    watcher?.close()
    watcher = null
    if (file === null) return
    const name = basename(file)
    try {
      watcher = fs.watch(dirname(file), (_, changed) => {
        if (changed === null || changed.startsWith(name)) debounce ??= setTimeout(settled, debounceTime)
      })
      watcher.on('error', () => {
        watcher?.close()
        watcher = null
      })
    } catch {
      // inotify is exhausted, or the directory does not exist yet: the ticker reads, and tries to watch again.
      watcher = null
    }
  }

  const settled = (): void => {
    debounce = null
    void look()
  }

  const look = async (): Promise<void> => {
    if (file === null) return
    if (watcher === null) watch()
    await drain().catch(() => undefined)
  }

  const drain = async (): Promise<void> => {
    if (running) {
      queued ??= running
        .catch(() => undefined)
        .then(() => {
          queued = null
          return drain()
        })
      return queued
    }
    running = readAll().finally(() => {
      running = null
    })
    return running
  }

  const readAll = async (): Promise<void> => {
    if (file === null) return
    const path = file
    const mark = databaseMark(path)
    // A program has to read the file, so a file that did not change is not read again.
    if (mark !== null && mark === readMark && memory.started) return
    readMark = null
    try {
      for (let more = true; more;) {
        const isReported = memory.started || needs.backfill
        const read = await needs.read(path, memory.cursor, !isReported)
        await needs.onJails(read.rows.map(({ jail }) => jail))
        if (isReported) needs.ledger.bans(read.rows)
        else needs.ledger.baseline(read.rows)
        const moved = memory.cursor.last !== read.end.last || read.rows.length > 0
        memory.cursor = read.end
        if (moved) needs.saved.changed()
        more = read.more
      }
      readMark = mark
      trouble.over()
    } catch (error) {
      // fail2ban has not created the table yet, so there are no bans.
      if (!/no such table|unable to open/.test(errorText(error))) {
        trouble.tell(`fail2ban's ban table cannot be read: ${errorText(error)}`)
        throw error
      }
    }
    if (!memory.started) {
      memory.started = true
      needs.saved.save()
    }
  }

  return {
    follow(path: string | null): void {
      if (path !== file) {
        file = path
        readMark = null
        watch()
      }
      if (path === null && !memory.started) {
        memory.started = true
        needs.saved.save()
      }
      void drain().catch(() => undefined)
    },
    hasTable: (): boolean => file !== null,
    drain,
    stop(): void {
      endLooks()
      if (debounce) clearTimeout(debounce)
      watcher?.close()
    },
  }
}
