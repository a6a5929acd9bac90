import { sql as raw } from 'kysely'
import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { Engine } from '../../db/database.ts'
import type { KnockSequencesTable, KnockSequenceServersTable } from '../../db/tables/knock.ts'
import { rowCount } from '../../db/row-count.ts'
import type { Schema } from '../../db/schema.ts'

type Sql = Kysely<Schema>
export type SequenceRow = Selectable<KnockSequencesTable>
export type PlaceRow = Selectable<KnockSequenceServersTable>
const chunk = 500

/** Changes of sequences are serialized: the state that they are checked against must still hold when they are stored. */
export const lockSequences = async (sql: Sql, engine: Engine): Promise<void> => {
  if (engine === 'postgres') await raw`select pg_advisory_xact_lock(hashtext('stockade knock sequences'))`.execute(sql)
}
export const liveSequences = (sql: Sql): Promise<SequenceRow[]> =>
  sql.selectFrom('knock_sequences').selectAll().where('deleted_at', 'is', null).orderBy('id').execute()
export const countSequences = (sql: Sql): Promise<number> =>
  rowCount(sql.selectFrom('knock_sequences').where('deleted_at', 'is', null))
/** Also one that is deleted. */
export const findSequence = (sql: Sql, id: number): Promise<SequenceRow | undefined> =>
  sql.selectFrom('knock_sequences').selectAll().where('id', '=', id).executeTakeFirst()
/** To be changed: reports and knocks that refer to it wait for the commit. */
export const takeSequence = (sql: Sql, engine: Engine, id: number): Promise<SequenceRow | undefined> =>
  sql
    .selectFrom('knock_sequences')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .$if(engine === 'postgres', query => query.forUpdate())
    .executeTakeFirst()
/** By name on a server; stays as it is until the end of the transaction. */
export const holdSequenceOn = (
  sql: Sql,
  engine: Engine,
  serverNo: number,
  nameKey: string,
): Promise<SequenceRow | undefined> =>
  sql
    .selectFrom('knock_sequences as sequence')
    .innerJoin('knock_sequence_servers as here', 'here.sequence_id', 'sequence.id')
    .selectAll('sequence')
    .where('here.server_no', '=', serverNo)
    .where('sequence.name_key', '=', nameKey)
    .where('sequence.deleted_at', 'is', null)
    .$if(engine === 'postgres', query => query.forShare('sequence'))
    .executeTakeFirst()
/** Null when the name is taken. */
export const insertSequence = async (sql: Sql, row: Insertable<KnockSequencesTable>): Promise<SequenceRow | null> =>
  (await sql
    .insertInto('knock_sequences')
    .values(row)
    .onConflict(on => on.column('name_key').where('deleted_at', 'is', null).doNothing())
    .returningAll()
    .executeTakeFirst()) ?? null
export const isNameTaken = async (sql: Sql, nameKey: string, byOtherThan: number): Promise<boolean> =>
  (await sql
    .selectFrom('knock_sequences')
    .select('id')
    .where('name_key', '=', nameKey)
    .where('deleted_at', 'is', null)
    .where('id', '<>', byOtherThan)
    .executeTakeFirst()) !== undefined
export const changeSequence = (sql: Sql, id: number, set: Updateable<KnockSequencesTable>): Promise<SequenceRow> =>
  sql.updateTable('knock_sequences').set(set).where('id', '=', id).returningAll().executeTakeFirstOrThrow()

export const allPlaces = (sql: Sql): Promise<PlaceRow[]> =>
  sql.selectFrom('knock_sequence_servers').selectAll().execute()
export const placesOf = (sql: Sql, sequenceId: number): Promise<PlaceRow[]> =>
  sql.selectFrom('knock_sequence_servers').selectAll().where('sequence_id', '=', sequenceId).execute()
/** The sequence is to be in force there, as of these revisions. */
export const putPlaces = async (
  sql: Sql,
  sequenceId: number,
  places: readonly { readonly server_no: number; readonly revision: number }[],
): Promise<void> => {
  for (let start = 0; start < places.length; start += chunk)
    await sql
      .insertInto('knock_sequence_servers')
      .values(places.slice(start, start + chunk).map(place => ({ ...place, sequence_id: sequenceId })))
      .onConflict(on =>
        on.columns(['sequence_id', 'server_no']).doUpdateSet(({ ref }) => ({ revision: ref('excluded.revision') })),
      )
      .execute()
}

/** Takes a sequence off servers, with all that is open or blocked there by it. */
export const removePlaces = async (sql: Sql, sequenceId: number, serverNos: readonly number[]): Promise<void> => {
  for (let start = 0; start < serverNos.length; start += chunk) {
    const some = serverNos.slice(start, start + chunk)
    for (const table of ['knock_sequence_servers', 'knock_openings', 'knock_blocked'] as const)
      await sql.deleteFrom(table).where('sequence_id', '=', sequenceId).where('server_no', 'in', some).execute()
  }
}
/** What ends with a server; history stays as long as retention lets it. */
export const removeServer = async (sql: Sql, serverNo: number): Promise<void> => {
  for (const table of ['knock_sequence_servers', 'knock_openings', 'knock_blocked'] as const)
    await sql.deleteFrom(table).where('server_no', '=', serverNo).execute()
}

export interface Neighbour extends Pick<SequenceRow, 'name' | 'protected_port' | 'knock_ports' | 'protocol'> {
  readonly server_no: number
}
/** The other sequences on these servers. */
export const neighboursOf = async (
  sql: Sql,
  sequenceId: number | null,
  serverNos: readonly number[],
): Promise<Neighbour[]> => {
  const neighbours: Neighbour[] = []
  for (let start = 0; start < serverNos.length; start += chunk)
    neighbours.push(
      ...(await sql
        .selectFrom('knock_sequence_servers as here')
        .innerJoin('knock_sequences as sequence', 'sequence.id', 'here.sequence_id')
        .select([
          'here.server_no',
          'sequence.name',
          'sequence.protected_port',
          'sequence.knock_ports',
          'sequence.protocol',
        ])
        .where('here.server_no', 'in', serverNos.slice(start, start + chunk))
        .where('sequence.id', '<>', sequenceId ?? 0)
        .orderBy('sequence.id')
        .orderBy('here.server_no')
        .execute()),
    )
  return neighbours
}
