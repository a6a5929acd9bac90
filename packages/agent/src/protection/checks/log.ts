import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { EngineConfig } from '../../engine/config.ts'
import { sharedAge } from '../../engine/engine.ts'
import type { Engine } from '../../engine/engine.ts'
import { ownJail } from '../../engine/own-files.ts'
import { insideText } from '../../engine/places.ts'
import type { Places } from '../../engine/places.ts'
import { filesOf, isGlob } from '../../glob.ts'
import type { JournalJails } from '../journal/journal-jails.ts'
import type { ReadPositions } from '../log-positions.ts'
import { bad, ok, unknown, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

const maxScan = 64 * 1024
/** fail2ban looks at its logs once a second, and a busy host is late: looks that are closer than this (milliseconds) say nothing. */
const shortest = 4000
/**
 * fail2ban saves positions once in ten seconds, and only while it reads: the end of a burst stays unsaved until the log grows again. A line
 * that is written later than this after an unsaved one, in milliseconds, makes fail2ban save.
 */
const savedAfter = 10_500

/** Files of one glob that are looked at. */
const mostFiles = 1000
/** A file that is new to a jail counts once it has grown at so many looks: what a log was renamed to may get a last line. */
const newGrowths = 2

/** How far a jail has read one log, look by look. */
interface Progress {
  readonly position: number
  readonly size: number
  /** Looks at which the file had grown, and one after them, while the position stood still. */
  readonly growths: number
  readonly isQuiet: boolean
  /** When this look was made, of a clock that never jumps, in milliseconds. */
  readonly at: number
  /** The first look with this position, epoch milliseconds. */
  readonly since: number
}
/** What one look finds. */
interface Look extends Pick<Progress, 'position' | 'size' | 'at'> {
  readonly hasUnread: boolean
  /** The time of this look, epoch milliseconds. */
  readonly lookedAt: number
  /** When the log was last written, epoch milliseconds. */
  readonly writtenAt: number
}

/** Whether each jail has logs to read, and reads them. */
export const logCheck = (needs: {
  engine: Pick<Engine, 'jails' | 'sources' | 'databaseFile'>
  config: Pick<EngineConfig, 'jails'>
  places: Pick<Places, 'outside' | 'isMapped'>
  /** fail2ban may have files that the agent does not see. */
  isElsewhere: () => boolean
  positions: ReadPositions
  journalJails: JournalJails
}): Check => {
  const { engine } = needs
  const progress = new Map<string, Progress>()
  const readable = new Map<string, number>()

  const positionsNow = async (): Promise<ReadonlyMap<string, number> | null> => {
    const file = await engine.databaseFile()
    if (file === null) return null
    try {
      return await needs.positions(file)
    } catch {
      // The state of the database is the finding of another check.
      return null
    }
  }

  const judgePath = (jail: string, name: string, position: number | undefined): Finding => {
    const subject = `${jail}: ${name}`
    const path = needs.places.outside(name)
    if (path === null) return unknown(subject, insideText(`the log ${name} of jail ${jail}`))
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    if (!stat) {
      progress.delete(subject)
      if (!readable.has(path) && needs.isElsewhere())
        return unknown(subject, insideText(`the log ${name} of jail ${jail}`))
      return bad(subject, missingText(jail, { name, path }, readable.get(path)))
    }
    readable.set(path, stat.ino)
    if (!stat.isFile() || position === undefined) return ok(subject)
    const next = progressOf(progress.get(subject), {
      position,
      size: stat.size,
      hasUnread: hasWholeLine(path, position),
      writtenAt: stat.mtimeMs,
      at: performance.now(),
      lookedAt: Date.now(),
    })
    progress.set(subject, next)
    if (next.growths === 0 || !next.isQuiet) return ok(subject)
    const bytes = stat.size - position
    return bad(subject, `jail ${jail} does not read its log ${name}: ${bytes} bytes of it are unread, and it grows`)
  }

  const sizes = new Map<string, { readonly size: number; readonly growths: number }>()
  /** Files that match the configuration of a jail, grow, and are not among those that it reads. */
  const judgeNew = async (read: ReadonlyMap<string, readonly string[]>): Promise<Finding[]> => {
    const findings: Finding[] = []
    const lookedAt = new Set<string>()
    // A glob would have to be followed as the container sees it.
    const configured = needs.places.isMapped ? [] : await needs.config.jails().catch(() => [])
    for (const { name, logpath } of configured) {
      const files = new Set(read.get(name))
      if (files.size === 0) continue
      const globs = logpath.split('\n').flatMap(line => line.trim().split(/\s+/)[0] ?? [])
      for (const path of globs.filter(isGlob).flatMap(glob => filesOf(glob, mostFiles))) {
        const stat = files.has(path) ? undefined : fs.statSync(path, { throwIfNoEntry: false })
        if (!stat?.isFile()) continue
        const subject = `${name}: ${path}`
        lookedAt.add(subject)
        const before = sizes.get(subject)
        const growths = (before?.growths ?? 0) + (before && stat.size > before.size ? 1 : 0)
        sizes.set(subject, { size: stat.size, growths })
        if (growths >= newGrowths)
          findings.push(
            warning(
              subject,
              `jail ${name} does not read ${path}, which matches its logpath and grows: fail2ban looks for new logs at a start and at a reload only. Reload the jail.`,
            ),
          )
      }
    }
    for (const subject of sizes.keys()) if (!lookedAt.has(subject)) sizes.delete(subject)
    return findings
  }

  return {
    id: 'log',
    // Five looks have to find a jail that reads nothing, and a minute is all they have.
    every: 12_000,
    badAfter: 5000,
    looks: 2,
    needsEngine: true,
    async look() {
      const positions = await positionsNow()
      const findings: Finding[] = []
      const ofJournal = new Map<string, string[][]>()
      const read = new Map<string, readonly string[]>()
      for (const jail of await engine.jails(sharedAge)) {
        if (jail === ownJail) continue
        const { files, journalMatches } = await engine.sources(jail)
        if (files.length === 0 && journalMatches === null)
          findings.push(bad(jail, `jail ${jail} reads no log: it has no source`))
        if (journalMatches !== null) ofJournal.set(jail, journalMatches)
        read.set(jail, files)
        for (const path of files) findings.push(judgePath(jail, path, positions?.get(`${jail}|${path}`)))
      }
      return [...findings, ...(await judgeNew(read)), ...(await needs.journalJails.look(ofJournal))]
    },
  }
}

/**
 * A log counts as unread only when it grows so late that fail2ban would have saved a new position, and a later look finds it where it was.
 */
export const progressOf = (
  before: Progress | undefined,
  { hasUnread, writtenAt, position, size, at, lookedAt }: Look,
): Progress => {
  const isStill = hasUnread && before?.position === position && before.size <= size && before.size > position
  if (!isStill) return { position, size, growths: 0, isQuiet: false, at, since: lookedAt }
  if (at - before.at < shortest) return before
  const { since, growths } = before
  const hasGrown = size > before.size && writtenAt > since + savedAfter
  return { position, size, growths: growths + (hasGrown ? 1 : 0), isQuiet: growths > 0, at, since }
}

/** fail2ban leaves a line unread until its end is written. */
const hasWholeLine = (path: string, from: number): boolean => {
  const file = fs.openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(Math.min(maxScan, Math.max(0, fs.fstatSync(file).size - from)))
    return buffer.subarray(0, fs.readSync(file, buffer, 0, buffer.length, from)).includes(0x0a)
  } finally {
    fs.closeSync(file)
  }
}

const missingText = (
  jail: string,
  { name, path }: { name: string; path: string },
  inode: number | undefined,
): string => {
  const moved = inode === undefined ? null : siblingWith(path, inode)
  return moved === null
    ? `the log ${name} of jail ${jail} does not exist: nothing is found in it, and fail2ban does not start without it`
    : `the log ${name} of jail ${jail} was renamed to ${moved}, and nothing took its place`
}

const siblingWith = (path: string, inode: number): string | null => {
  try {
    const names = fs.readdirSync(dirname(path)).filter(name => name.startsWith(basename(path)))
    return names.find(name => fs.statSync(join(dirname(path), name), { throwIfNoEntry: false })?.ino === inode) ?? null
  } catch {
    return null
  }
}
