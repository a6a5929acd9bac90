import { realPath } from '../files.ts'
import { globPattern, isGlob } from '../glob.ts'

const logDirectory = '/var/log'
/** The log path of a jail that reads no file. */
const nullDevice = '/dev/null'

/** Whether a log lies below /var/log or where one of the globs says, once every link on the way is followed. */
export const isAllowedLog = (path: string, globs: readonly string[]): boolean => {
  if (path === nullDevice) return true
  const real = realPath(path)
  if (real === null) return false
  return isBelow(real, realPath(logDirectory) ?? logDirectory) || globs.some(glob => matches(real, glob))
}

/** Whether one of the globs says so of a path as it is written, which may be a glob as well. */
export const isNamedLog = (path: string, globs: readonly string[]): boolean =>
  globs.some(glob => path === glob || globPattern(glob).test(path))

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`)

/** The part of the glob before its first sign may hold links as well: it is followed before it is compared. */
const matches = (real: string, glob: string): boolean => {
  const parts = glob.split('/')
  const sign = parts.findIndex(isGlob)
  const place = realPath(sign < 0 ? glob : parts.slice(0, sign).join('/') || '/')
  if (place === null || sign < 0) return real === place
  const folder = place === '/' ? '' : place
  return isBelow(real, folder) && globPattern(parts.slice(sign).join('/')).test(real.slice(folder.length + 1))
}
