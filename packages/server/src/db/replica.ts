import pg from 'pg'
import { codeOf } from '@stockade/contract/error-code.ts'
import { second } from '../core/clock.ts'

/*
 * Whether long reads may go to a replica. It must be a standby of this very database, answer, and have replayed what the primary had
 * written at the look before: so an answer is at most two looks old, also where the standby lost its connection to the primary.
 */

/** Milliseconds between two looks. */
const lookEvery = 2 * second
/** An answer of the replica is at most this old, in milliseconds. */
const longestLag = 2 * lookEvery

export interface ReplicaState {
  readonly isUsed: boolean
  /** Why it is not used; null while it is. */
  readonly reason: string | null
}
/** Hears of each change of the state. Must not throw. */
export type ReplicaWatch = (state: ReplicaState) => void

export interface Replica {
  isUsable(): boolean
  /** A read failed there: it is not used until the next look finds it well. */
  doubt(error: Error): void
  close(): Promise<void>
}

interface Position {
  readonly is_standby: boolean
  /** Identifies the cluster: a standby has that of its primary. */
  readonly cluster: string
  /** Bytes of the write-ahead log that are written (primary) or replayed (standby). */
  readonly bytes: number
}
const positionOf = (pool: pg.Pool): Promise<Position> =>
  pool
    .query<Position>(
      `select pg_is_in_recovery() as is_standby, (select system_identifier::text from pg_control_system()) as cluster,
        coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, '0/0'), 0)
          ::float8 as bytes`,
    )
    .then(({ rows: [position] }) => {
      if (!position) throw new Error('It gave no position.')
      return position
    })

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || codeOf(error) || 'It does not answer.' : String(error)

/** A connection for the looks alone: they never wait for reads, and a peer that is silent does not hold them up. */
const lookPool = (url: string): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: lookEvery,
    query_timeout: lookEvery,
    application_name: 'stockade-replica',
  })
  // A connection that breaks is found by the next look.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}

/** @returns why the replica can't be used now; null: it can. */
const problemOf = (primary: Position, replica: Position, writtenBefore: number | null): string | null => {
  if (!replica.is_standby) return 'It is not a standby.'
  if (replica.cluster !== primary.cluster) return 'It is a standby of another database.'
  if (writtenBefore === null) return 'It has not been compared yet.'
  if (replica.bytes < writtenBefore) return `It is more than ${lookEvery / second} seconds behind.`
  return null
}

/** Looks once, without asking how far behind it is. @returns why the replica can't be used; null: it can. */
export const examineReplica = async (primaryUrl: string, replicaUrl: string): Promise<string | null> => {
  const pools = [lookPool(primaryUrl), lookPool(replicaUrl)] as const
  try {
    const [primary, replica] = await Promise.all([positionOf(pools[0]), positionOf(pools[1])])
    return problemOf(primary, replica, 0)
  } catch (error) {
    return reasonOf(error)
  } finally {
    await Promise.all(pools.map(pool => pool.end()))
  }
}

/** Looks at both by itself until it is closed. */
export const watchReplica = (primaryUrl: string, replicaUrl: string, hear: ReplicaWatch): Replica => {
  const pools = { primary: lookPool(primaryUrl), replica: lookPool(replicaUrl) }
  let usableUntil = 0
  let writtenBefore: number | null = null
  let reason: string | null | undefined
  const tell = (problem: string | null) => {
    if (problem === reason) return
    reason = problem
    hear({ isUsed: problem === null, reason: problem })
  }
  const look = async () => {
    const startedAt = performance.now()
    try {
      const [primary, replica] = await Promise.all([positionOf(pools.primary), positionOf(pools.replica)])
      const problem = problemOf(primary, replica, writtenBefore)
      const isFirst = writtenBefore === null
      writtenBefore = primary.bytes
      usableUntil = problem === null ? startedAt + longestLag : 0
      // The first look has nothing to compare with: that is no news.
      if (!isFirst || problem === null) tell(problem)
    } catch (error) {
      usableUntil = 0
      writtenBefore = null
      tell(reasonOf(error))
    }
  }
  let looking = Promise.resolve()
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  const begin = () => {
    looking = look().then(() => {
      if (!isClosed) timer = setTimeout(begin, lookEvery).unref()
    })
  }
  begin()
  return {
    isUsable: () => performance.now() < usableUntil,
    doubt(error) {
      usableUntil = 0
      tell(error.message)
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await Promise.allSettled([looking])
      await Promise.all([pools.primary.end(), pools.replica.end()])
    },
  }
}
