import type { QueryOf, ReplyOf, settings as contract } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { csvRow } from '../../core/csv.ts'
import { timeRange } from '../../core/page.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { readSearch } from '../../db/search.ts'
import { system } from '../../events/events.ts'
import { auditSearch, countAudit, isKnownUser, listAuditRows } from './audit.store.ts'
import type { AuditFilter, AuditRow, Before } from './audit.store.ts'

type AuditEntry = ReplyOf<typeof contract.listAudit>['entries'][number]
type ListQuery = QueryOf<typeof contract.listAudit>
type ExportQuery = QueryOf<typeof contract.exportAudit>

export interface AuditService {
  list(query: ListQuery): Promise<ReplyOf<typeof contract.listAudit>>
  /** The text of an export, piece by piece. @throws Problem 400 at once, before the first piece. */
  export(query: ExportQuery): Promise<AsyncGenerator<string>>
}

/** So many entries are in memory at once. */
const piece = 500

export const createAudit = ({ db, clock }: { db: Database; clock: Clock }): AuditService => {
  const filterOf = async ({
    user_id,
    action,
    from,
    to,
    q,
  }: Pick<ListQuery, 'user_id' | 'action' | 'from' | 'to' | 'q'>): Promise<AuditFilter> => {
    if (user_id !== undefined && !(await isKnownUser(db.read, user_id)))
      throw invalid('user_id', `There is no user ${user_id}.`)
    const tree = readSearch(q, 'audit')
    return {
      ...(user_id === undefined ? {} : { userId: user_id }),
      ...(action === undefined ? {} : { action }),
      ...timeRange(from, to),
      ...(tree ? { search: await auditSearch(db.scan, db.engine, tree, clock()) } : {}),
    }
  }
  /** What is searched for has no index: beside the event loop. */
  const readerOf = (filter: AuditFilter) => (filter.search ? db.scan : db.read)
  const view = (row: AuditRow): AuditEntry => ({
    id: row.id,
    user: row.actor ?? system.name,
    action: row.name,
    details: row.data === null ? {} : (JSON.parse(row.data) as Record<string, unknown>),
    ip_address: row.actor_ip === '' ? null : row.actor_ip,
    timestamp: iso(row.at),
  })
  const csv = ({ id, timestamp, user, action, ip_address, details }: AuditEntry) =>
    csvRow([String(id), timestamp, user, action, ip_address ?? '', JSON.stringify(details)])

  async function* pieces(filter: AuditFilter): AsyncGenerator<AuditEntry[]> {
    // What comes meanwhile is newer than what was read already: it has no place here.
    let before: Before | undefined
    for (;;) {
      const rows = await listAuditRows(readerOf(filter), filter, 0, piece, before)
      const last = rows.at(-1)
      if (!last) return
      yield rows.map(view)
      before = { at: last.at, id: last.id }
    }
  }
  async function* asCsv(filter: AuditFilter) {
    yield csvRow(['id', 'timestamp', 'user', 'action', 'ip_address', 'details'])
    for await (const entries of pieces(filter)) yield entries.map(csv).join('')
  }
  async function* asJson(filter: AuditFilter) {
    yield `{"exported_at":${JSON.stringify(iso(clock()))},"entries":[`
    let first = true
    for await (const entries of pieces(filter)) {
      yield (first ? '' : ',') + entries.map(entry => JSON.stringify(entry)).join(',')
      first = false
    }
    yield ']}'
  }
  return {
    async list(query) {
      const { page = 1, limit = 50 } = query
      const filter = await filterOf(query)
      const [rows, total] = await Promise.all([
        listAuditRows(readerOf(filter), filter, (page - 1) * limit, limit),
        countAudit(readerOf(filter), filter),
      ])
      return { entries: rows.map(view), total, page, limit }
    },
    async export({ format = 'json', ...query }) {
      const filter = await filterOf(query)
      return format === 'csv' ? asCsv(filter) : asJson(filter)
    },
  }
}
