import type { QueryOf, portknock } from '@stockade/contract'
import { beginning, ranges } from '../../lib/ranges.ts'
import { withoutEmpty, moment, pageOf, serverIdOf, whole } from '../../lib/search-params.ts'

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

export const readPageSearch = (raw: Record<string, unknown>): PageSearch => withoutEmpty({ page: pageOf(raw) })

export const readHistorySearch = (raw: Record<string, unknown>): HistorySearch =>
  withoutEmpty({
    server: serverIdOf(raw.server),
    sequence: whole(raw.sequence, 1),
    status: statuses.find(known => known === raw.status),
    from: ranges.find(known => known === raw.from) ?? moment(raw.from),
    to: moment(raw.to),
    page: pageOf(raw),
  })

export const readStatsSearch = (raw: Record<string, unknown>): StatsSearch =>
  withoutEmpty({ period: periods.find(known => known === raw.period && known !== 'day') })

export const historyLimit = 50
/** The API's filter for it, at this moment. */
export const historyQueryOf = (search: HistorySearch, now: number): QueryOf<typeof portknock.listKnocks> => {
  const { server, sequence, status, from, to, page = 1 } = search
  return {
    page,
    limit: historyLimit,
    ...(server ? { server_id: server } : {}),
    ...(sequence ? { sequence_id: sequence } : {}),
    ...(status ? { status } : {}),
    ...(from ? { from: beginning(from, to ? Date.parse(to) : now) } : {}),
    ...(to ? { to } : {}),
  }
}
