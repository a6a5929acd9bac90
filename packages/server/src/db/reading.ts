import type { CompiledQuery, DatabaseConnection, Driver } from 'kysely'

export const noStream = (): never => {
  throw new Error('Results are not streamed; page them.')
}

/** A driver that only reads: `rowsOf` answers one statement, and there are no transactions. */
export const readingDriver = (rowsOf: (query: CompiledQuery) => Promise<readonly unknown[]>): Driver => {
  const refuse = async () => {
    throw new Error('This connection only reads.')
  }
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery) => ({ rows: (await rowsOf(query)) as R[] }),
    streamQuery: noStream,
  }
  return {
    async init() {},
    async acquireConnection() {
      return connection
    },
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    async releaseConnection() {},
    async destroy() {},
  }
}
