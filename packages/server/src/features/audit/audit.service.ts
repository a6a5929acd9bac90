import type { QueryOf, ReplyOf, settings as contract } from '@stockade/contract'
import { system } from '../../core/author.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { csvRow } from '../../core/csv.ts'
import { parseJson } from '../../core/json-text.ts'
import { timeRange } from '../../core/page.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import { readSearch } from '../../db/search.ts'
import type { Before } from '../../db/search.ts'
import { auditSearch, countAudit, isKnownUser, listAuditRows } from './audit.store.ts'
import type { AuditFilter, AuditRow } from './audit.store.ts'

type AuditEntry = ReplyOf<typeof contract.listAudit>['entries'][number]
type ListQuery = QueryOf<typeof contract.listAudit>
type ExportQuery = QueryOf<typeof contract.exportAudit>

export interface AuditService {
  list(query: ListQuery): Promise<ReplyOf<typeof contract.listAudit>>
  /** The text of an export, piece by piece. @throws Problem 400 at once, before the first piece. */
  export(query: ExportQuery): Promise<AsyncGenerator<string>>
}

interface Read {
  readonly filter: AuditFilter
  readonly sql: Database['read']
}

/** So many entries are in memory at once. */
const piece = 500

export const createAudit = ({ db, clock }: { db: Database; clock: Clock }): AuditService => {
  /** The filters of a query, and what reads by them: what is searched for has no index, so that is beside the event loop. */
  const readBy = async (query: Pick<ListQuery, 'user_id' | 'action' | 'from' | 'to' | 'q'>): Promise<Read> => {
    const { user_id, action, from, to, q } = query
    if (user_id !== undefined && !(await isKnownUser(db.read, user_id)))
      throw invalid('user_id', `There is no user ${user_id}.`)
    const tree = readSearch(q, 'audit')
    const plain = {
      ...(user_id === undefined ? {} : { userId: user_id }),
      ...(action === undefined ? {} : { action }),
      ...timeRange(from, to),
    }
    if (!tree) return { filter: plain, sql: db.read }
    const sql = scanFor(db, 'audit', query)
    return { filter: { ...plain, search: await auditSearch(sql, db.engine, tree, clock()) }, sql }
  }
  const view = (row: AuditRow): AuditEntry => ({
    id: row.id,
    user: row.actor ?? system.name,
    action: row.name,
    details: row.data === null ? {} : parseJson(row.data),
    ip_address: row.actor_ip === '' ? null : row.actor_ip,
    timestamp: iso(row.at),
  })
  const csv = ({ id, timestamp, user, action, ip_address, details }: AuditEntry) =>
    csvRow([String(id), timestamp, user, action, ip_address ?? '', JSON.stringify(details)])

  async function* pieces({ filter, sql }: Read): AsyncGenerator<AuditEntry[]> {
    // What comes meanwhile is newer than what was read already: it has no place here.
    let before: Before | undefined
    for (;;) {
      const rows = await listAuditRows(sql, filter, 0, piece, before)
      const last = rows.at(-1)
      if (!last) return
      yield rows.map(view)
      before = { at: last.at, id: last.id }
    }
  }
  async function* asCsv(read: Read) {
    yield csvRow(['id', 'timestamp', 'user', 'action', 'ip_address', 'details'])
    for await (const entries of pieces(read)) yield entries.map(csv).join('')
  }
  async function* asJson(read: Read) {
    yield `{"exported_at":${JSON.stringify(iso(clock()))},"entries":[`
    let first = true
    for await (const entries of pieces(read)) {
      yield (first ? '' : ',') + entries.map(entry => JSON.stringify(entry)).join(',')
      first = false
    }
    yield ']}'
  }
  return {
    async list(query) {
      const { page = 1, limit = 50 } = query
      const { filter, sql } = await readBy(query)
      const [rows, total] = await Promise.all([
        listAuditRows(sql, filter, (page - 1) * limit, limit),
        countAudit(sql, filter),
      ])
      return { entries: rows.map(view), total, page, limit }
    },
    async export({ format = 'json', ...query }) {
      const read = await readBy(query)
      return format === 'csv' ? asCsv(read) : asJson(read)
    },
  }
}
