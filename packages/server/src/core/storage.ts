import { errorText } from '@stockade/contract/error-code.ts'

/** Errors of a database that is away or full: the same work may pass later. */
const isStorageAway = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  // The writer's thread tells SQLite's number.
  const code = 'code' in error ? String(error.code) : ''
  // PostgreSQL: connection (08), out of resources (53), shutting down or starting (57P0x). SQLite: 5 busy, 10 I/O, 13 full.
  return (
    /^(08|53|57P0)/.test(code) ||
    ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', '5', '10', '13'].includes(code) ||
    /^(timeout exceeded when trying to connect|Connection terminated|The database is closed|Client has encountered a connection error|Client was closed)/.test(
      error.message,
    )
  )
}

const quiet = 5000

/**
 * Tells a storage that is away from a defect. While it is away everything fails: one line every five seconds says so,
 * and how often. Returns whether the error was of that kind.
 */
export const createStorageWatch = (
  say: (told: { reason: string; failures: number }) => void,
): ((error: unknown) => boolean) => {
  let at = -Infinity
  let failures = 0
  return error => {
    if (!isStorageAway(error)) return false
    failures++
    if (performance.now() - at >= quiet) {
      say({ reason: errorText(error), failures })
      at = performance.now()
      failures = 0
    }
    return true
  }
}
