import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { codeOf } from '@stockade/contract/error-code.ts'
import { readOr } from '@stockade/contract/untrusted.ts'

/** Writes a file atomically and durably: temporary file, fsync, rename, fsync of the directory. */
export const writeDurably = (path: string, text: string, mode = 0o600): void => prepareDurably(path, text, mode)()

/** Does what needs room on the disk, and changes nothing yet. What it returns puts the file in its place. */
export const prepareDurably = (path: string, text: string, mode = 0o600): (() => void) => {
  const temporary = `${path}.new`
  // Never through a link that somebody else may have left there.
  fs.rmSync(temporary, { force: true })
  const file = fs.openSync(temporary, 'wx', mode)
  try {
    fs.fchmodSync(file, mode)
    fs.writeFileSync(file, text)
    fs.fsyncSync(file)
  } catch (error) {
    // On a full disk even half a file is in the way.
    fs.rmSync(temporary, { force: true })
    throw error
  } finally {
    fs.closeSync(file)
  }
  return () => {
    fs.renameSync(temporary, path)
    syncDirectory(dirname(path))
  }
}

export const syncDirectory = (path: string): void => {
  const directory = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(directory)
  } finally {
    fs.closeSync(directory)
  }
}

export const removeDurably = (path: string): void => {
  fs.rmSync(path, { force: true })
  syncDirectory(dirname(path))
}

export const readText = (path: string): string | null => {
  // Some files are mostly absent and looked for every few seconds, and an exception costs more than this look.
  const stat = fs.statSync(path, { throwIfNoEntry: false })
  // A pipe would never end.
  if (!stat || stat.isFIFO()) return null
  try {
    return fs.readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** The file's JSON; null if it is absent or invalid. Callers then start with empty state, which repeated ids make harmless. */
export const readJson = (path: string): unknown => {
  const text = readText(path)
  if (text === null) return null
  return readOr(null, () => JSON.parse(text))
}

/**
 * Changes with each commit to an SQLite database that keeps no write-ahead log, and when the file or its mode changes. Null: it changed in the
 * last 2 s, so that a later change may have the same time stamp, or commits do not change this file, or it is missing.
 */
export const databaseMark = (path: string): string | null => {
  const stat = fs.statSync(path, { throwIfNoEntry: false })
  if (!stat || fs.existsSync(`${path}-wal`) || Math.abs(Date.now() - stat.ctimeMs) < 2000) return null
  return `${path}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`
}

export const privateDirectory = (path: string): string => {
  fs.mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}

/** @throws Error the sentence where the disk is full, otherwise what was thrown */
export const withFullDisk = <T>(sentence: string, act: () => T): T => {
  try {
    return act()
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') throw new Error(sentence, { cause: error })
    throw error
  }
}

export const isMissing = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** The path without links. A file that is not there yet is where its folder is; null when that is unknown too. */
export const realPath = (path: string): string | null => {
  try {
    return fs.realpathSync(path)
  } catch {
    // A link that leads nowhere may lead somewhere a moment later.
    if (fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) return null
    return readOr(null, () => join(fs.realpathSync(dirname(path)), basename(path)))
  }
}
