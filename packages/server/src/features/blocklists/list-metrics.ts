import { second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Metrics } from '../../http/metrics.ts'
import { allLists } from './blocklists.store.ts'
import type { BlocklistRow } from './blocklists.store.ts'

/** Adds gauges of lists by name. Answers what reads their figures, at intervals and not at each scrape. */
export const createListMetrics = (needs: { db: Database; clock: Clock; metrics: Metrics }): (() => Promise<void>) => {
  const { db, clock, metrics } = needs
  let rows: readonly BlocklistRow[] = []
  const gauge = (name: string, help: string, read: (row: BlocklistRow) => number) =>
    metrics.gauge({ name: `stockade_blocklist_${name}`, help, label: 'list' }, () =>
      Object.fromEntries(rows.map(row => [row.name, read(row)])),
    )
  gauge('entries', 'Entries of the version in force', row => row.entries)
  gauge('age_seconds', 'Seconds since the last look at the source that succeeded', row =>
    Math.max(0, Math.round((clock() - (row.checked_at ?? row.created_at)) / second)),
  )
  gauge('failing', '1 while the last look failed or its content was not applied', row =>
    Number(row.last_error !== null),
  )
  return async () => {
    rows = await allLists(db.read)
  }
}
