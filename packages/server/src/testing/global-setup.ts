import { startPostgres } from './postgres.ts'

/** One PostgreSQL for all files of a run; each server of the tests gets a database of its own in it. */
export default async function setup(): Promise<() => Promise<void>> {
  const { url, stop } = await startPostgres()
  process.env.STOCKADE_TEST_POSTGRES = url
  return stop
}
