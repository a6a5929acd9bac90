import type { QueryOf, portknock } from '@stockade/contract'
import { ranges } from '../../lib/ranges.ts'

/* What the URLs of port knocking say. */

export interface PageSearch {
  readonly page?: number | undefined
}
export const statuses = ['success', 'failed', 'blocked'] as const
/** Relative ranges stay relative: `from=now-24h`. */
export interface HistorySearch extends PageSearch {
  readonly server?: string | undefined
  readonly sequence?: number | undefined
  readonly status?: (typeof statuses)[number] | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}
export const periods = ['day', 'week', 'month'] as const
export interface StatsSearch {
  readonly period?: (typeof periods)[number] | undefined
}
/** The range of the history that holds what a period of the statistics counts. */
export const rangeOf = { day: 'now-24h', week: 'now-7d', month: 'now-30d' } as const

const whole = (value: unknown, least: number): number | undefined => {
  const found = Number(value)
  return Number.isSafeInteger(found) && found >= least ? found : undefined
}
const moment = (value: unknown): string | undefined =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value) &&
  !Number.isNaN(Date.parse(value))
    ? value
    : undefined

/* Read in the first chunk of the dashboard, so the contract's helpers for tables are not loaded here. */
const given = <T extends object>(found: T): Partial<T> => {
  const kept: Partial<T> = {}
  for (const name in found) if (found[name] !== undefined) kept[name] = found[name]
  return kept
}

export const readPageSearch = (raw: Record<string, unknown>): PageSearch => given({ page: whole(raw.page, 2) })

export const readHistorySearch = (raw: Record<string, unknown>): HistorySearch =>
  given({
    server: typeof raw.server === 'string' && /^[0-9a-f-]{36}$/i.test(raw.server) ? raw.server : undefined,
    sequence: whole(raw.sequence, 1),
    status: statuses.find(known => known === raw.status),
    from: ranges.find(known => known === raw.from) ?? moment(raw.from),
    to: moment(raw.to),
    page: whole(raw.page, 2),
  })

export const readStatsSearch = (raw: Record<string, unknown>): StatsSearch =>
  given({ period: periods.find(known => known === raw.period && known !== 'day') })

export const historyLimit = 50
const hour = 3_600_000
const lengths: Readonly<Record<string, number>> = { 'now-24h': 24 * hour, 'now-7d': 168 * hour, 'now-30d': 720 * hour }

/** The API's filter for it, at this moment. */
export const historyQueryOf = (search: HistorySearch, now: number): QueryOf<typeof portknock.listKnocks> => {
  const { server, sequence, status, from, to, page = 1 } = search
  const length = lengths[from ?? '']
  return {
    page,
    limit: historyLimit,
    ...(server ? { server_id: server } : {}),
    ...(sequence ? { sequence_id: sequence } : {}),
    ...(status ? { status } : {}),
    ...(from ? { from: length ? new Date((to ? Date.parse(to) : now) - length).toISOString() : from } : {}),
    ...(to ? { to } : {}),
  }
}
