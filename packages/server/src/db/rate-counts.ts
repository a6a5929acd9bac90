import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** What a process adds to the count of a caller in a minute. */
export interface RateCount {
  readonly key: string
  readonly bucket: number
  readonly n: number
}

/** Adds counts and answers what all processes counted; sorted, so that two of them never wait in a circle. */
export const addRateCounts = async (db: Kysely<Schema>, counts: readonly RateCount[]): Promise<RateCount[]> => {
  if (counts.length === 0) return []
  const sorted = [...counts].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.bucket - b.bucket))
  const { rows } = await sql<RateCount>`
    insert into rate_counts (key, bucket, n) values ${sql.join(sorted.map(({ key, bucket, n }) => sql`(${key}, ${bucket}, ${n})`))}
    on conflict (key, bucket) do update set n = rate_counts.n + excluded.n returning key, bucket, n`.execute(db)
  return rows
}

export const forgetRateCounts = async (db: Kysely<Schema>, before: number): Promise<void> => {
  await sql`delete from rate_counts where bucket < ${before}`.execute(db)
}
