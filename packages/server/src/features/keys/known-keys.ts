import { hour } from '../../core/clock.ts'
import { createLatest } from '../../core/latest.ts'
import type { Database } from '../../db/database.ts'
import { allKeys, findKeyByHash, keyChangesPlace, keysChangedSince } from './keys.store.ts'
import type { KeyRow } from './keys.store.ts'

/** Changes are kept for so long, in hours. */
export const keptKeyChanges = 24
/** After so long without a read the changes may be gone. */
const readAllAfter = (keptKeyChanges / 2) * hour

/** Every key by its hash: an agent's request costs no query, and an unknown key none either. */
export interface KnownKeys {
  get(hash: string): KeyRow | undefined
  set(row: KeyRow): void
  delete(hash: string): void
  /** Reads the keys again that changed since the last read, here or in another process. */
  readChanges(): Promise<void>
  readAll(): Promise<void>
  /** Asks the storage for a key that is not known; another process may have made it a moment ago. */
  find(hash: string): Promise<KeyRow | undefined>
}

export const createKnownKeys = ({ read, engine }: Pick<Database, 'read' | 'engine'>): KnownKeys => {
  const latest = createLatest()
  let keys = new Map<string, KeyRow>()
  let place = '0'
  let readAt = -Infinity
  /** The place is taken before the rows, so that no change falls between two reads. */
  const placed = async <T>(rows: (since: string) => Promise<T>) => {
    const began = performance.now()
    const since = place
    const next = await keyChangesPlace(read, engine)
    return { began, next, found: await rows(since) }
  }
  const readAll = () =>
    latest(
      () => placed(() => allKeys(read)),
      ({ began, next, found }) => {
        ;[place, readAt] = [next, began]
        keys = new Map(found.map(row => [row.hash, row]))
      },
    )
  return {
    get: hash => keys.get(hash),
    set: row => void keys.set(row.hash, row),
    delete: hash => void keys.delete(hash),
    readAll,
    readChanges: () =>
      performance.now() - readAt > readAllAfter
        ? readAll()
        : latest(
            () => placed(since => keysChangedSince(read, engine, since)),
            ({ began, next, found }) => {
              ;[place, readAt] = [next, began]
              for (const [hash, row] of found)
                if (row) keys.set(hash, row)
                else keys.delete(hash)
            },
          ),
    async find(hash) {
      const before = latest.taken()
      const row = await findKeyByHash(read, hash)
      // What a read found meanwhile is newer.
      if (row && latest.taken() === before) keys.set(hash, row)
      return row
    },
  }
}
