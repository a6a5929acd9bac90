import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'
import { codeOf } from '@stockade/contract/error-code.ts'

/** Statements that are prepared, at most: PostgreSQL keeps each of them with its plan in each connection. */
const mostPrepared = 100
/** A statement is prepared when it comes for the n-th time. */
const oftenEnough = 20
/** Texts that are counted at a time. */
const mostCounted = 2000

/**
 * Names for statements that come again and again: PostgreSQL then reads and plans them once a connection, which takes longer than most of them run. Only for
 * what reads, and names its columns: a prepared `select *` fails for good once a newer version of the program adds a column.
 */
export const createNames = (): ((text: string) => string | undefined) => {
  const names = new Map<string, string>()
  const uses = new Map<string, number>()
  const mayRepeat = (text: string) => /^\s*select\b/i.test(text) && !text.replaceAll('(*)', '').includes('*')
  return text => {
    const name = names.get(text)
    if (name !== undefined || names.size >= mostPrepared || !mayRepeat(text)) return name
    const count = (uses.get(text) ?? 0) + 1
    if (count < oftenEnough) {
      if (uses.size >= mostCounted) uses.clear()
      uses.set(text, count)
      return undefined
    }
    uses.delete(text)
    const statementName = `stockade read ${names.size}`
    names.set(text, statementName)
    return statementName
  }
}

/** PostgreSQL says so of a prepared statement whose columns have other types by now. */
const isOutdated = (error: unknown) => codeOf(error) === '0A000'

type Client = Pick<PostgresPoolClient, 'release'> & {
  query(text: string, values: readonly unknown[]): Promise<pg.QueryResult>
}
const wrap = (client: pg.PoolClient, nameOf: ReturnType<typeof createNames>): Client => {
  /** What it prepared is of no use any more. */
  let isStale = false
  return {
    async query(text, values) {
      const plain = { text, values: [...values] }
      const name = isStale ? undefined : nameOf(text)
      if (name === undefined) return client.query(plain)
      try {
        return await client.query({ ...plain, name })
      } catch (error) {
        if (!isOutdated(error)) throw error
        isStale = true
        // Within a transaction this fails as well: then the first reason is the one to tell.
        return client.query(plain).catch(() => Promise.reject(error as Error))
      }
    },
    release: isBroken => client.release(isBroken || isStale),
  }
}
/** A pool for Kysely whose connections prepare what comes often. */
export const preparing = (pool: pg.Pool): PostgresPool => {
  const nameOf = createNames()
  /** Kysely knows a connection again by the object. */
  const clients = new WeakMap<pg.PoolClient, Client>()
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect()
      const wrapped = clients.get(client) ?? wrap(client, nameOf)
      clients.set(client, wrapped)
      // Cursors, which Kysely also asks of a client, are not used here.
      return wrapped as unknown as PostgresPoolClient
    },
    end: () => pool.end(),
  }
}
