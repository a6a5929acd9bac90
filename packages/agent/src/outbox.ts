import * as fs from 'node:fs'
import { join } from 'node:path'
import { isOneOf, isRecord } from '@stockade/contract/untrusted.ts'
import { privateDirectory, readJson, syncDirectory, writeDurably } from './files.ts'
import { asFields, asInteger } from './json.ts'
import { errorText } from './text.ts'
import type { AdoptedBan, BanReport, KnockReport, UnbanReport } from './wire.ts'

/** An event that waits for the server. `offset` is the server's clock minus ours at that time, null if unknown. */
export type Entry =
  | {
      readonly kind: 'ban'
      readonly at: number
      readonly offset: number | null
      readonly ban: Omit<BanReport, 'banned_at'>
    }
  | {
      readonly kind: 'unban'
      readonly at: number
      readonly offset: number | null
      readonly unban: Omit<UnbanReport, 'unbanned_at'>
    }
  | {
      readonly kind: 'adopt'
      readonly at: number
      readonly offset: number | null
      readonly adopt: Omit<AdoptedBan, 'banned_at'>
    }
  | {
      readonly kind: 'knock'
      readonly at: number
      readonly offset: number | null
      readonly knock: Omit<KnockReport, 'timestamp'>
    }

/** The report in an entry. */
export const subject = (entry: Entry): { readonly event_id: string; readonly ip: string } => {
  switch (entry.kind) {
    case 'ban':
      return entry.ban
    case 'unban':
      return entry.unban
    case 'adopt':
      return entry.adopt
    case 'knock':
      return entry.knock
  }
}

export interface Batch {
  readonly entries: readonly Entry[]
  /** Removes the entries: the server has decided about each. If a crash loses this, they are repeated, which ids make harmless. */
  done(): void
}

interface Segment {
  readonly number: number
  size: number
}

export interface Limits {
  readonly total: number
  readonly segment: number
}

const defaultLimits: Limits = { total: 64 * 1024 * 1024, segment: 1024 * 1024 }
const maxInMemory = 20_000

export interface Outbox {
  /** True: the entries are durable. False: they are in memory, and a later call writes them. */
  append(entries: readonly Entry[]): boolean
  flush(): boolean
  /** The oldest entries, at most `maxEntries` and about `maxBytes`; null if there are none. */
  next(maxEntries: number, maxBytes: number): Batch | null
  bytes(): number
  dropped(): number
}

/**
 * Events that wait for the server: append-only JSON lines, fsynced before the cursor in fail2ban's table moves, so that a
 * crash can only repeat an event. They are read in batches, because a long outage must not fill the memory.
 */
export const openOutbox = (directory: string, options: { limits?: Limits; warn: (text: string) => void }): Outbox => {
  const limits = options.limits ?? defaultLimits
  privateDirectory(directory)
  const headFile = join(directory, 'head.json')
  const segments = listSegments(directory)
  const fileOf = (number: number): string => join(directory, `${String(number).padStart(10, '0')}.jsonl`)

  const saved = asFields(readJson(headFile))
  let head = { segment: asInteger(saved['segment'], 0), offset: asInteger(saved['offset'], 0) }
  let dropped = 0
  /** Lines that could not be written (disk full or read-only). While there are any, nothing is durable. */
  const memory: string[] = []

  const removeSegment = (segment: Segment): void => {
    fs.rmSync(fileOf(segment.number), { force: true })
    const index = segments.indexOf(segment)
    if (index >= 0) segments.splice(index, 1)
  }

  for (const segment of segments.filter(({ number }) => number < head.segment)) removeSegment(segment)
  const last = segments[segments.length - 1]
  if (last) last.size = cutTornLine(fileOf(last.number), last.size)
  const first = segments[0]
  if (first && first.number !== head.segment) head = { segment: first.number, offset: 0 }
  if (!first) head = { segment: head.segment + 1, offset: 0 }

  const write = (text: string): void => {
    let segment = segments[segments.length - 1]
    const fresh = !segment || segment.size >= limits.segment
    if (!segment || fresh) {
      segment = { number: segment ? segment.number + 1 : head.segment, size: 0 }
      segments.push(segment)
    }
    const bytes = Buffer.from(text, 'utf8')
    const file = fs.openSync(fileOf(segment.number), 'a', 0o600)
    try {
      let written = 0
      try {
        while (written < bytes.length) written += fs.writeSync(file, bytes, written)
        fs.fdatasyncSync(file)
      } catch (error) {
        // The next append must not continue half a batch.
        fs.ftruncateSync(file, segment.size)
        throw error
      }
      segment.size += bytes.length
    } finally {
      fs.closeSync(file)
    }
    if (fresh) syncDirectory(directory)
  }

  const shrink = (): void => {
    let total = segments.reduce((sum, segment) => sum + segment.size, 0)
    while (total > limits.total && segments.length > 1) {
      const oldest = segments[0]
      if (!oldest) return
      total -= oldest.size
      const lost = fs.readFileSync(fileOf(oldest.number), 'utf8').split('\n').length - 1
      dropped += lost
      removeSegment(oldest)
      moveHead({ segment: segments[0]?.number ?? oldest.number + 1, offset: 0 })
      options.warn(
        `the outbox is full (${Math.round(limits.total / 1024 / 1024)} MB): the oldest ${lost} events are lost, ${dropped} in all`,
      )
    }
  }

  const moveHead = (to: { segment: number; offset: number }): void => {
    head = to
    writeDurably(headFile, JSON.stringify(head))
  }

  const flush = (): boolean => {
    if (memory.length === 0) return true
    try {
      write(memory.join(''))
      memory.length = 0
      shrink()
      return true
    } catch (error) {
      options.warn(`the outbox cannot be written: ${errorText(error)}; events are kept in memory`)
      if (memory.length > maxInMemory) dropped += memory.splice(0, memory.length - maxInMemory).length
      return false
    }
  }

  return {
    append(entries: readonly Entry[]): boolean {
      for (const entry of entries) memory.push(`${JSON.stringify(entry)}\n`)
      return flush()
    },
    flush,
    next(maxEntries: number, maxBytes: number): Batch | null {
      flush()
      for (;;) {
        const segment = segments[0]
        if (!segment) return null
        if (!fs.existsSync(fileOf(segment.number))) {
          options.warn('a file of the outbox was taken away; its events are lost')
          removeSegment(segment)
          moveHead({ segment: segments[0]?.number ?? segment.number + 1, offset: 0 })
          continue
        }
        const { lines, end } = readLines(fileOf(segment.number), head.offset, maxEntries, maxBytes)
        const whole = end >= segment.size
        if (lines.length === 0) {
          if (!whole || segments.length === 1) return null
          removeSegment(segment)
          moveHead({ segment: segments[0]?.number ?? segment.number + 1, offset: 0 })
          continue
        }
        const number = segment.number
        return {
          entries: lines.map(parseEntry).filter((entry): entry is Entry => entry !== null),
          done() {
            if (head.segment !== number) return
            const current = segments.find(candidate => candidate.number === number)
            if (!current) return
            if (end >= current.size) {
              removeSegment(current)
              moveHead({ segment: segments[0]?.number ?? number + 1, offset: 0 })
            } else moveHead({ segment: number, offset: end })
          },
        }
      }
    },
    bytes: (): number =>
      segments.reduce((sum, segment) => sum + segment.size, 0) - (segments.length > 0 ? head.offset : 0),
    dropped: (): number => dropped,
  }
}

const listSegments = (directory: string): Segment[] =>
  fs
    .readdirSync(directory)
    .filter(name => /^\d{10}\.jsonl$/.test(name))
    .map(name => ({ number: Number(name.slice(0, 10)), size: fs.statSync(join(directory, name)).size }))
    .sort((a, b) => a.number - b.number)

/** Removes the partial line that a crash left. Its event is read again, because the cursor has not passed it. */
const cutTornLine = (path: string, size: number): number => {
  const bytes = fs.readFileSync(path)
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end < size) fs.truncateSync(path, end)
  return end
}

const readLines = (
  path: string,
  from: number,
  maxLines: number,
  maxBytes: number,
): { lines: string[]; end: number } => {
  const file = fs.openSync(path, 'r')
  try {
    const rest = fs.fstatSync(file).size - from
    let size = Math.min(Math.max(64 * 1024, maxBytes), Math.max(0, rest))
    if (size === 0) return { lines: [], end: from }
    for (;;) {
      const buffer = Buffer.alloc(size)
      const length = fs.readSync(file, buffer, 0, size, from)
      const lines: string[] = []
      let at = 0
      while (lines.length < maxLines) {
        const end = buffer.subarray(0, length).indexOf(0x0a, at)
        if (end < 0) break
        lines.push(buffer.toString('utf8', at, end))
        at = end + 1
      }
      if (lines.length > 0 || size >= rest) return { lines, end: from + at }
      size = Math.min(size * 2, rest)
    }
  } finally {
    fs.closeSync(file)
  }
}

/** Checks the outline only: the file is written by this agent or an earlier version. Each kind of entry has a field of the same name. */
const isEntry = (value: unknown): value is Entry =>
  isRecord(value) && isOneOf(['ban', 'unban', 'adopt', 'knock'], value['kind']) && isRecord(value[value['kind']])

const parseEntry = (line: string): Entry | null => {
  try {
    const entry: unknown = JSON.parse(line)
    return isEntry(entry) ? entry : null
  } catch {
    return null
  }
}
