import { statfsSync } from 'node:fs'
import { recordOf } from '@stockade/contract/untrusted.ts'

/** Bytes that this process may still write below a folder. */
export const freeBytes = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
/** `1.21 GB`, `866 MB`, `93.8 kB`: three digits tell what is needed from what is nearly enough. */
export const sizeText = (bytes: number): string => {
  const [unit, name] = bytes >= 1e9 ? [1e9, 'GB'] : bytes >= 1e6 ? [1e6, 'MB'] : [1e3, 'kB']
  return `${Number((bytes / unit).toPrecision(3))} ${name}`
}
/** Whether an error says that a disk has no room left: of the file system, of SQLite or of PostgreSQL. */
export const isDiskFull = (error: unknown): boolean => {
  const { code, errcode } = recordOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT' || code === '53100' || code === 13 || errcode === 13
}
