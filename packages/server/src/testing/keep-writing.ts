import { CompiledQuery } from 'kysely'
import { openSqlite } from '../db/sqlite.ts'

/*
 * For tests, as a process of its own: writes into the SQLite file of its argument until its input ends, and prints a line of
 * JSON for what the writer tells, and one at the end.
 */

const say = (told: unknown) => process.stdout.write(`${JSON.stringify(told)}\n`)
let over = false
process.stdin.on('end', () => (over = true)).resume()

/**
 * Milliseconds between two changes: so that the log is copied as fast as it grows, and once something is told, slow enough for whoever
 * hears it to do something about it.
 */
let rest = 1
const db = await openSqlite(process.argv[2] ?? '', {
  mostLogged: 300,
  hear(news) {
    say(news)
    rest = 5
  },
})
const run = (sql: string) => db.write.executeQuery(CompiledQuery.raw(sql))
await run('create table filler (data blob not null)')
let written = 0
let failed = 0
while (!over) {
  await run('insert into filler values (randomblob(20000))').then(
    () => written++,
    () => failed++,
  )
  await new Promise(resolve => setTimeout(resolve, rest))
}
say({ written, failed })
await db.close()
