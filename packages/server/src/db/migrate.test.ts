import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { engine, freshDatabase } from '../testing/index.ts'
import { unhurried } from './migrate.ts'
import { openPostgres } from './postgres.ts'

test.runIf(engine === 'postgres')('a migration has no time-out, and what comes after it has one again', async () => {
  const database = await freshDatabase()
  // Its last connections may still be there when the database is dropped, and are ended by that.
  const db = await openPostgres(database?.url ?? '', () => {})
  const timeOut = async (on: Parameters<Parameters<typeof unhurried>[1]['up']>[0]): Promise<string> => {
    const { rows } = await sql<{ statement_timeout: string }>`show statement_timeout`.execute(on)
    return rows[0]?.statement_timeout ?? ''
  }
  try {
    let within = ''
    const migration = unhurried('postgres', {
      async up(on) {
        within = await timeOut(on)
      },
    })
    await db.write.transaction().execute(transaction => migration.up(transaction))
    expect(within).toBe('0')
    expect(await timeOut(db.write)).toBe('30s')
  } finally {
    await db.close()
    await database?.drop()
  }
})
