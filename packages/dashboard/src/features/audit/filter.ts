import type { QueryOf, settings } from '@stockade/contract'
import { beginning } from '../../lib/ranges.ts'
import { withoutEmpty, matching, moment, pageOf, whole } from '../../lib/search-params.ts'
import { withTerms } from '../../lib/terms.ts'

/** What the URL says of the audit log. Relative ranges stay relative: `from=now-24h`. */
export interface AuditSearch {
  /** In the grammar of searches. */
  readonly q?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** The newest moment of further pages, so that what comes meanwhile moves nothing. */
  readonly pin?: string | undefined
  readonly page?: number | undefined
  /** The entry that is unfolded. */
  readonly open?: number | undefined
}
export const auditLimit = 50

export const readAuditSearch = (raw: Record<string, unknown>): AuditSearch => {
  const action = matching(raw.action, /^[\w.]{1,64}$/)
  return withoutEmpty({
    // Links may name the action alone.
    q: withTerms([action && `action:${action}`], raw.q),
    from: matching(raw.from, /^now-\d{1,4}[hd]$/) ?? moment(raw.from),
    to: moment(raw.to),
    pin: moment(raw.pin),
    page: pageOf(raw),
    open: whole(raw.open, 1),
  })
}

type Filter = Pick<QueryOf<typeof settings.listAudit>, 'q' | 'from' | 'to'>

/** The API's filter for it, at this moment; list and export take the same. */
export const auditFilterOf = (search: AuditSearch, now: number): Filter => {
  const { q, from, to, pin } = search
  const end = to !== undefined && pin !== undefined ? (Date.parse(to) < Date.parse(pin) ? to : pin) : (to ?? pin)
  return {
    ...(q ? { q } : {}),
    ...(from ? { from: beginning(from, to ? Date.parse(to) : now) } : {}),
    ...(end ? { to: end } : {}),
  }
}

/** Another page of the list as it is now: `to` is exclusive. */
export const turnTo = (search: AuditSearch, page: number, newest: string | undefined): AuditSearch => ({
  ...search,
  open: undefined,
  page: page > 1 ? page : undefined,
  pin: page > 1 ? (search.pin ?? (newest ? new Date(Date.parse(newest) + 1).toISOString() : undefined)) : undefined,
})

/** The address of one entry: the moment that it is of, with it unfolded. */
export const linkOf = ({ id, timestamp }: { readonly id: number; readonly timestamp: string }): AuditSearch => ({
  from: timestamp,
  to: new Date(Date.parse(timestamp) + 1).toISOString(),
  open: id,
})

/** The list as the page's address for the export of all that match. */
export const exportOf = (search: AuditSearch, now: number, format: 'csv' | 'json'): string => {
  const parameters = Object.entries(auditFilterOf(search, now)).map(([key, value]) => [key, String(value)])
  return `./api/v1/settings/audit/export?${new URLSearchParams([...parameters, ['format', format]]).toString()}`
}
