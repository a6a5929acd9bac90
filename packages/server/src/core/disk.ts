import { statfsSync } from 'node:fs'

/** Bytes that this process may still write below a folder. */
export const freeBytes = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
/** `1.2 GB`, `866 MB`: rounded up, so that what is asked for is enough. */
export const sizeText = (bytes: number): string => {
  if (bytes >= 1e9) return `${(Math.ceil(bytes / 1e8) / 10).toFixed(1)} GB`
  return `${Math.ceil(bytes / 1e6)} MB`
}
/** Whether an error says that a disk has no room left: of the file system, of SQLite or of PostgreSQL. */
export const isDiskFull = (error: unknown): boolean => {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT' || code === '53100' || code === 13 || errcode === 13
}
