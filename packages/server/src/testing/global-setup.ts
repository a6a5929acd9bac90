import pg from 'pg'
import { migrate } from '../db/migrate.ts'
import { openPostgres } from '../db/postgres.ts'
import { startPostgres } from './postgres.ts'

/**
 * One PostgreSQL for all files of a run. Each server of the tests gets a database of its own in it: a copy of one that is
 * migrated, because a copy costs a tenth of the migrations.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const { url, stop } = await startPostgres()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create database stockade_template')
  await client.end()
  const template = new URL(url)
  template.pathname = '/stockade_template'
  const db = await openPostgres(template.href, () => {})
  await migrate(db)
  await db.close()
  process.env.STOCKADE_TEST_POSTGRES = url
  return stop
}
