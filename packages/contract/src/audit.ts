import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { pages } from './limits.ts'
import { id, listOf, paging, searchText, timestamp } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

const admin = { tag: 'Settings', access: 'admin', fleet: true } as const

export const auditEntry = resource('AuditEntry', {
  id,
  user: field(Type.String(), 'User, API key or server that caused the event.'),
  action: Type.String({ examples: ['settings.update'] }),
  details: field(Type.Record(Type.String(), Type.Unknown()), 'Details; the fields depend on the action.'),
  ip_address: nullable(Type.String()),
  timestamp,
})
export type AuditEntry = Static<typeof auditEntry>

const auditFilter = {
  user_id: field(Type.Optional(id), 'Id of the user who caused the event.'),
  action: field(Type.Optional(text(1, 64)), 'Whole name of the action, or its beginning up to a dot, such as `auth.`.'),
  from: Type.Optional(timestamp),
  to: Type.Optional(timestamp),
  q: searchText,
}

export const listAudit = endpoint('GET /settings/audit', {
  ...admin,
  scope: 'audit',
  summary: 'Read the audit log',
  description:
    'Newest first. `action` is a whole name, or a beginning that ends in a dot such as `auth.`; `from` is inclusive, `to` exclusive.',
  query: shape({ ...auditFilter, ...paging(pages.audit) }),
  reply: listOf('entries', auditEntry),
})

export const exportAudit = endpoint('GET /settings/audit/export', {
  ...admin,
  scope: 'audit',
  summary: 'Export the audit log',
  description:
    'All entries that match, newest first, as far as there were any when it began. `csv` has the header `id,timestamp,user,action,ip_address,details`, with details as JSON, and escapes what a spreadsheet would run.',
  query: shape({ ...auditFilter, format: Type.Optional(oneOf(['json', 'csv'], { default: 'json' })) }),
  reply: shape({ exported_at: timestamp, entries: field(Type.Array(auditEntry), 'The entries, newest first.') }),
  produces: ['application/json', 'text/csv'],
})
