import { sql as raw } from 'kysely'
import type { Kysely, Selectable } from 'kysely'
import type { Engine } from '../../db/database.ts'
import type { KnockSequencesTable, KnockSequenceServersTable } from '../../db/tables/knock.ts'
import type { Schema } from '../../db/schema.ts'
import { valuesTable } from '../../db/given.ts'

type Sql = Kysely<Schema>
const chunk = 500

export interface HostRevision {
  readonly server_no: number
  readonly knock_revision: number
}
export const hostRevisions = (sql: Sql): Promise<HostRevision[]> =>
  sql.selectFrom('host_states').select(['server_no', 'knock_revision']).where('knock_revision', '>', 0).execute()
export const hostRevision = async (sql: Sql, serverNo: number): Promise<number> =>
  (await sql.selectFrom('host_states').select('knock_revision').where('server_no', '=', serverNo).executeTakeFirst())
    ?.knock_revision ?? 0

/**
 * Gives hosts a new revision, in the order of their numbers so that two changes never wait for each other. A revision is the
 * time in milliseconds, or one more than the last: so a restored backup does not give one again that meant something else.
 */
export const raiseHostRevisions = async (
  sql: Sql,
  serverNos: readonly number[],
  now: number,
): Promise<HostRevision[]> => {
  const sorted = [...new Set(serverNos)].sort((a, b) => a - b)
  const raised: HostRevision[] = []
  for (let start = 0; start < sorted.length; start += chunk)
    raised.push(
      ...(await sql
        .insertInto('host_states')
        .values(sorted.slice(start, start + chunk).map(server_no => ({ server_no, knock_revision: now })))
        .onConflict(on =>
          on.column('server_no').doUpdateSet({
            knock_revision: raw`case when host_states.knock_revision >= excluded.knock_revision
              then host_states.knock_revision + 1 else excluded.knock_revision end`,
          }),
        )
        .returning(['server_no', 'knock_revision'])
        .execute()),
    )
  return raised
}

export interface HostSequence {
  readonly id: number
  readonly revision: number
  readonly protected_port: number
  readonly knock_ports: KnockSequencesTable['knock_ports']
  readonly protocol: 'tcp' | 'udp'
  readonly timeout: number
  readonly knock_timeout: number
  readonly max_attempts: number
  readonly block_duration: number
}
export const sequencesOfHost = (sql: Sql, serverNo: number): Promise<HostSequence[]> =>
  sql
    .selectFrom('knock_sequence_servers as here')
    .innerJoin('knock_sequences as sequence', 'sequence.id', 'here.sequence_id')
    .select([
      'sequence.id',
      'here.revision',
      'sequence.protected_port',
      'sequence.knock_ports',
      'sequence.protocol',
      'sequence.timeout',
      'sequence.knock_timeout',
      'sequence.max_attempts',
      'sequence.block_duration',
    ])
    .where('here.server_no', '=', serverNo)
    .where('sequence.deleted_at', 'is', null)
    .orderBy('sequence.id')
    .execute()

/** Open ones, and closed ones whose connections are still to be cut. */
export const openingsOfHost = (sql: Sql, serverNo: number, now: number) =>
  sql
    .selectFrom('knock_openings')
    .select(['id', 'sequence_id', 'ip', 'expires_at', 'closed_at', 'cut_until'])
    .where('server_no', '=', serverNo)
    .where(({ or, and, eb }) =>
      or([and([eb('closed_at', 'is', null), eb('expires_at', '>', now)]), eb('cut_until', '>', now)]),
    )
    .orderBy('id')
    .execute()
export const blockedOfHost = (sql: Sql, serverNo: number, now: number) =>
  sql
    .selectFrom('knock_blocked')
    .select(['sequence_id', 'ip', 'expires_at'])
    .where('server_no', '=', serverNo)
    .where('unblocked_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('sequence_id')
    .orderBy('ip')
    .execute()

export type Spoken = Pick<
  Selectable<KnockSequenceServersTable>,
  'sequence_id' | 'server_no' | 'revision' | 'state' | 'error'
>

/** What hosts say became of sequences; nothing of a revision that was never given out, or older than what was said before. */
export const saveSpoken = async (sql: Sql, engine: Engine, rows: readonly Spoken[]): Promise<void> => {
  const columns = {
    sequence_id: 'bigint',
    server_no: 'bigint',
    revision: 'bigint',
    state: 'text',
    error: 'text',
  } as const
  for (let start = 0; start < rows.length; start += chunk)
    await raw`update knock_sequence_servers set acked_revision = given.revision, state = given.state, error = given.error
      from ${valuesTable(engine, rows.slice(start, start + chunk), columns)}
      where knock_sequence_servers.sequence_id = given.sequence_id and knock_sequence_servers.server_no = given.server_no
        and knock_sequence_servers.revision >= given.revision
        and coalesce(knock_sequence_servers.acked_revision, 0) <= given.revision`.execute(sql)
}

/** Openings that hosts have not confirmed. */
export const unconfirmedOf = (sql: Sql, serverNos: readonly number[], now: number) =>
  sql
    .selectFrom('knock_openings')
    .select('id')
    .where('server_no', 'in', serverNos)
    .where('confirmed_at', 'is', null)
    .where('closed_at', 'is', null)
    .where('expires_at', '>', now)
    .execute()
/** The host has read the state of that revision; what was extended since then it has not heard of. Answers what it confirmed. */
export const confirmOpenings = async (
  sql: Sql,
  { serverNo, revision }: { readonly serverNo: number; readonly revision: number },
  ids: readonly string[],
  now: number,
): Promise<string[]> => {
  const confirmed: string[] = []
  for (let start = 0; start < ids.length; start += chunk) {
    const rows = await sql
      .updateTable('knock_openings')
      .set({ confirmed_at: now })
      .where('id', 'in', ids.slice(start, start + chunk))
      .where('server_no', '=', serverNo)
      .where('revision', '<=', revision)
      .where('confirmed_at', 'is', null)
      .where('closed_at', 'is', null)
      .returning('id')
      .execute()
    confirmed.push(...rows.map(({ id }) => id))
  }
  return confirmed
}
