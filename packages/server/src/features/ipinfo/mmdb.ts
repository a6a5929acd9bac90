import { readFileSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Reader } from 'maxmind'
import type { Response } from 'maxmind'
import type { FastifyBaseLogger } from 'fastify'
import { codeOf, errorText } from '@stockade/contract/error-code.ts'
import { createFinder } from './tree.ts'
import type { TreeEntry } from './tree.ts'

/** An open MMDB file. Records are foreign data: readers check each field. */
export interface Mmdb {
  /** The record of an address of 4 or 16 bytes; shared by all that read it, so not to be changed. Null: none. */
  find(bytes: Uint8Array): unknown
  /** Every network that has a record. */
  entries(): Iterable<TreeEntry>
  /** Kind and build date as the file says, such as `GeoLite2-City of 2026-11-20`; null while there is none. */
  label(): string | null
  close(): void
}

/** The content of a file: how records are found, and its kind and build date. @throws when it is no MMDB file */
export const openMmdb = (data: Buffer) => {
  const reader = new Reader<Response>(data)
  const { databaseType, buildEpoch } = reader.metadata
  return { find: createFinder(data, reader), label: `${databaseType} of ${buildEpoch.toISOString().slice(0, 10)}` }
}

/**
 * A file of the operator's: read again when it changes, and waited for while it is missing. A half-written or broken
 * one changes nothing: the last good one goes on, and the log says so. Looked at every `interval` milliseconds, because
 * notices of changes get lost on network file systems and when a file is replaced by renaming. `expected`: a missing one
 * is worth a line in the log.
 */
export const openWatched = (
  file: string,
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  interval: number,
  expected = true,
): Mmdb => {
  let reader: ReturnType<typeof openMmdb> | null = null
  /** What the file was when it was last read; taken before reading, so that no later change is missed. */
  let lastMark = ''
  let looking = false
  let broken = false
  const versionOf = ({ mtimeMs, size, ino }: Stats) => `${mtimeMs} ${size} ${ino}`
  const failed = (error: unknown) =>
    log.warn(
      { file, reason: errorText(error) },
      reader ? 'GeoIP file not read, the one before is kept' : 'GeoIP file not read, looking again when it changes',
    )
  const take = (data: Buffer) => {
    reader = openMmdb(data)
    broken = false
  }
  try {
    lastMark = versionOf(statSync(file))
    take(readFileSync(file))
  } catch (error) {
    if (expected || codeOf(error) !== 'ENOENT') failed(error)
  }
  const look = async () => {
    // Missing: perhaps about to be replaced. What was read goes on.
    const version = await stat(file).then(versionOf, () => lastMark)
    if (version === lastMark) return
    lastMark = version
    try {
      take(await readFile(file))
      log.info({ file, data: reader?.label }, 'GeoIP file read again')
    } catch (error) {
      failed(error)
    }
  }
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    void look().finally(() => {
      looking = false
    })
  }, interval).unref()
  return {
    find(bytes) {
      try {
        return reader?.find(bytes) ?? null
      } catch (error) {
        // A damaged file answers some addresses and not others; the bans behind them must not fail for that.
        if (!broken) failed(error)
        broken = true
        return null
      }
    },
    entries: () => reader?.find.entries() ?? [],
    label: () => reader?.label ?? null,
    close: () => clearInterval(timer),
  }
}
