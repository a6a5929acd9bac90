import type { DatabaseSync } from 'node:sqlite'
import type { PreparedProcedure } from '../../db/database.ts'
import { selecting } from '../../db/selecting.ts'
import type { TrimInput, Trimmed } from './retire-chunk.ts'

/** Runs in the writer thread. The gate is open within this transaction only, and invisible to others. */
export const prepare = (db: DatabaseSync): PreparedProcedure<TrimInput, Trimmed> => {
  const oldest = selecting<{ id: number; at: number }>(db, 'select id, at from events where id > ? order by id limit ?')
  const gate = db.prepare('update retention_gate set is_open = ?')
  const remove = db.prepare('delete from events where id = ?')
  const forget = db.prepare('delete from audit where event_id = ?')
  return ({ before, after, most }) => {
    const rows = oldest.all(after, most)
    const gone = rows.filter(({ at }) => at < before)
    if (gone.length === 0) return { removed: 0, next: null }
    gate.run(1)
    for (const { id } of gone) {
      remove.run(id)
      forget.run(id)
    }
    gate.run(0)
    return { removed: gone.length, next: rows.length === most ? (rows.at(-1)?.id ?? null) : null }
  }
}
