const half = 1n << 32n

/** A row of `horizonQuery`. */
export interface Snapshot {
  readonly cluster: string
  readonly next: string
  readonly running: readonly string[]
  readonly hidden: boolean
}
/** What `horizonIn` reads from, in one row. */
export const horizonQuery = `select pg_snapshot_xmin(pg_current_snapshot())::text as cluster, pg_snapshot_xmax(pg_current_snapshot())::text as next,
  array(select backend_xid::text from pg_stat_get_activity(null) as session, pg_database
    where pg_database.oid = session.datid and datname = current_database() and backend_xid is not null) as running,
  not pg_has_role(current_user, 'pg_read_all_stats', 'usage') and exists (
    select from pg_stat_get_activity(null) as session, pg_database
    where pg_database.oid = session.datid and datname = current_database()
      and usesysid <> (select oid from pg_roles where rolname = current_user)) as hidden`

/**
 * The transaction id below which every event of this PostgreSQL database is committed, or never will be, for any
 * statement that begins after this one was answered. Serial ids are not in commit order, so readers stop there.
 *
 * `pg_snapshot_xmin` would do, but it counts the transactions of all databases of the cluster: an hour's job of a
 * neighbour would hold back every event for an hour. Here only sessions on this database count. Where sessions of another
 * role hide what they run, the cluster's bound is taken after all.
 */
export const horizonIn = (row: Snapshot | undefined): string => {
  if (!row) throw new Error('PostgreSQL does not tell its snapshot.')
  if (row.hidden) return row.cluster
  const next = BigInt(row.next)
  /** Sessions tell the lower half of the id. */
  const whole = (xid: string) => {
    const guess = next - (next % half) + BigInt(xid)
    return guess >= next + half / 2n ? guess - half : guess + half / 2n < next ? guess + half : guess
  }
  return row.running
    .map(whole)
    .reduce((least, xid) => (xid < least ? xid : least), next)
    .toString()
}
