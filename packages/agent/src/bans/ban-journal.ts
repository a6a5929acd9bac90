import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { readOr } from '@stockade/contract/untrusted.ts'
import { isMissing, syncDirectory } from '../files.ts'
import { asInteger, asList, asText } from '../json.ts'
import type { Places } from './places.ts'
import type { ActiveBan, RememberedBans } from './remembered-bans.ts'

const chunkBytes = 64 * 1024
/** Lines that are out of date are removed when there are more of them than valid lines, and more than this. */
const toleratedLines = 10_000

/**
 * The remembered bans on the disk: JSON lines, one a change, so that a ban costs a line and not a file with all bans. Lines that are out of
 * date go when the file is written anew.
 *
 *   ["s", high, low, time]                     a ban that was reported
 *   ["a", jail, ip, time, bantime, round]      a ban in force ("p": paused); without a time: no longer
 */
export const openBanJournal = (path: string, bans: RememberedBans, options: { isTrusted: boolean }) => {
  const { seen, active, paused } = bans
  /** Null: the file has to be written anew. */
  let written = options.isTrusted ? readJournal(path, bans) : null

  const lineOf = (mark: 'a' | 'p', places: Places<ActiveBan>, jail: string, ip: string): string => {
    const ban = places.get(jail, ip)
    return line(ban === null ? [mark, jail, ip] : [mark, jail, ip, ban.time, ban.bantime, ban.round])
  }

  const lines = {
    *ofChanges(): Generator<string> {
      for (const entry of seen.changed()) yield line(['s', ...entry])
      for (const [jail, ip] of active.changed()) yield lineOf('a', active, jail, ip)
      for (const [jail, ip] of paused.changed()) yield lineOf('p', paused, jail, ip)
    },
    *ofEverything(): Generator<string> {
      for (const entry of seen.entries()) yield line(['s', ...entry])
      for (const { jail, ip } of active.values()) yield lineOf('a', active, jail, ip)
      for (const { jail, ip } of paused.values()) yield lineOf('p', paused, jail, ip)
    },
  }

  const append = (before: Written): Written => {
    const file = fs.openSync(path, 'r+')
    try {
      try {
        return writeLines(file, lines.ofChanges(), before)
      } catch (error) {
        // The next append must not continue half a line.
        fs.ftruncateSync(file, before.bytes)
        throw error
      }
    } finally {
      fs.closeSync(file)
    }
  }

  const rewrite = (): Written => {
    const temporary = `${path}.new`
    const file = fs.openSync(temporary, 'w', 0o600)
    let now: Written
    try {
      now = writeLines(file, lines.ofEverything(), { lines: 0, bytes: 0 })
    } finally {
      fs.closeSync(file)
    }
    fs.renameSync(temporary, path)
    syncDirectory(dirname(path))
    return now
  }

  const isWorn = (now: Written): boolean =>
    now.lines > 2 * (seen.size() + active.size() + paused.size()) + toleratedLines

  const isOurs = ({ bytes }: Written): boolean => fs.statSync(path, { throwIfNoEntry: false })?.size === bytes

  return {
    /** Writes what changed, durably. */
    save(): void {
      const before = written
      // A failure leaves a file whose content is not certain.
      written = null
      written = before === null || isWorn(before) || !isOurs(before) ? rewrite() : append(before)
      for (const part of [seen, active, paused]) part.settle()
    },
  }
}

interface Written {
  readonly lines: number
  readonly bytes: number
}

const line = (values: readonly (string | number)[]): string => `${JSON.stringify(values)}\n`

const writeLines = (file: number, lines: Iterable<string>, before: Written): Written => {
  let { lines: count, bytes } = before
  let waiting = ''
  const write = (): void => {
    const chunk = Buffer.from(waiting, 'utf8')
    for (let at = 0; at < chunk.length;) at += fs.writeSync(file, chunk, at, chunk.length - at, bytes + at)
    bytes += chunk.length
    waiting = ''
  }
  for (const text of lines) {
    waiting += text
    count += 1
    if (waiting.length > chunkBytes) write()
  }
  if (waiting !== '') write()
  if (bytes !== before.bytes) fs.fdatasyncSync(file)
  return { lines: count, bytes }
}

/** Null: there is none, or it ends in half a line, which a crash left. */
const readJournal = (path: string, bans: RememberedBans): Written | null => {
  let file: number
  try {
    file = fs.openSync(path, 'r')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
  try {
    const chunk = Buffer.alloc(chunkBytes)
    let rest = Buffer.alloc(0)
    let [lines, bytes] = [0, 0]
    for (let length = -1; length !== 0;) {
      length = fs.readSync(file, chunk, 0, chunkBytes, bytes)
      bytes += length
      const part = Buffer.concat([rest, chunk.subarray(0, length)])
      const end = part.lastIndexOf(0x0a) + 1
      for (const text of part.toString('utf8', 0, end).split('\n')) {
        if (text === '') continue
        restoreLine(text, bans)
        lines += 1
      }
      rest = part.subarray(end)
    }
    for (const { settle } of [bans.seen, bans.active, bans.paused]) settle()
    return rest.length === 0 ? { lines, bytes } : null
  } finally {
    fs.closeSync(file)
  }
}

/** Repeated event ids make a lost line harmless. */
const restoreLine = (text: string, { seen, active, paused }: RememberedBans): void => {
  const [mark, ...values] = parsed(text)
  if (mark === 's') {
    const [high = 0, low = 1, time = 0] = values.map(value => asInteger(value, 0))
    return seen.restore([high, low, time])
  }
  if (mark !== 'a' && mark !== 'p') return
  const places = mark === 'a' ? active : paused
  const [jail, ip] = [asText(values[0]), asText(values[1])]
  if (values.length === 2) return places.delete(jail, ip)
  const [time = 0, bantime = -1, round = 0] = values.slice(2).map(value => asInteger(value, 0))
  places.set({ jail, ip, time, bantime, round })
}

const parsed = (text: string): readonly unknown[] => readOr([], () => asList(JSON.parse(text)))
