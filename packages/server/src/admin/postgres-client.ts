import pg from 'pg'

/** A connection of its own, on which nothing ends a long statement. */
export const connectForBackup = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, application_name: 'stockade-backup' })
  await client.connect()
  await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
  return client
}
