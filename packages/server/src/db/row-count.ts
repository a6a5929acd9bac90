import type { SelectQueryBuilder } from 'kysely'
import type { Schema } from './schema.ts'

/** How many rows a query finds that selects nothing yet. */
export const rowCount = async <T extends keyof Schema>(
  query: SelectQueryBuilder<Schema, T, object>,
): Promise<number> => {
  const { n } = await query.select(eb => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  return Number(n)
}
