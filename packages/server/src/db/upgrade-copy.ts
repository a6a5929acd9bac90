import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, backup } from 'node:sqlite'
import { ConfigError } from '../config-reader.ts'
import { freeBytes, isDiskFull, sizeText } from '../core/disk.ts'

/** So many copies stay: of the last upgrade, and of the one before. */
const keptCopies = 2
/** The copy and what the migrations write beside it. */
const roomFor = 1.2
const beginning = (file: string) => `${basename(file)}.before-upgrade-`

/** Copies of a database that were made before upgrades, the newest first. */
export const upgradeCopies = (file: string): string[] =>
  readdirSync(dirname(file))
    .filter(name => name.startsWith(beginning(file)) && !name.endsWith('.part'))
    .sort()
    .reverse()
    .map(name => join(dirname(file), name))

/** What a start that was killed left of its copy. A start that is tried again and again must not fill the disk. */
const removeParts = (file: string): void => {
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(beginning(file)) && name.endsWith('.part')) rmSync(join(dirname(file), name), { force: true })
}
const refuseWithoutRoom = (file: string): void => {
  const folder = dirname(file)
  const [needed, free] = [statSync(file).size * roomFor, freeBytes(folder)]
  if (free < needed)
    throw new ConfigError(
      `the upgrade copies the database before it changes anything. That needs ${sizeText(needed)} in ${folder}, and ${sizeText(free)} are free. ` +
        'Make room; or make a backup elsewhere and set STOCKADE_MIGRATE_COPY=no.',
    )
}
const copyInto = async (file: string, part: string): Promise<void> => {
  const isClosed = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0
  // A reader, such as a running backup, kept SQLite from emptying its log.
  if (!isClosed) {
    const db = new DatabaseSync(file, { readOnly: true })
    return backup(db, part).then(() => db.close())
  }
  copyFileSync(file, part, constants.COPYFILE_FICLONE)
}

/**
 * Copies a closed database beside itself and keeps the newest copies.
 * @returns the copy
 * @throws ConfigError where there is not enough room
 */
export const copyBeforeUpgrade = async (file: string, at: Date): Promise<string> => {
  removeParts(file)
  refuseWithoutRoom(file)
  const copy = join(dirname(file), `${beginning(file)}${at.toISOString().replace(/[:.]/g, '-')}`)
  const part = `${copy}.part`
  try {
    await copyInto(file, part)
    const handle = openSync(part, 'r+')
    fsyncSync(handle)
    closeSync(handle)
    renameSync(part, copy)
  } catch (error) {
    rmSync(part, { force: true })
    if (!isDiskFull(error)) throw error
    throw new ConfigError(
      `the disk ran full while the database was copied before the upgrade. Make room in ${dirname(file)}.`,
    )
  }
  for (const old of upgradeCopies(file).slice(keptCopies)) rmSync(old, { force: true })
  return copy
}
