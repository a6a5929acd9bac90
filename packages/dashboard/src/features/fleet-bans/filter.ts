import { withoutEmpty, pageOf, words } from '../../lib/search-params.ts'

/** The URL of the list of fleet bans. */
export interface FleetBansSearch {
  readonly search?: string | undefined
  readonly show?: 'ended' | undefined
  readonly page?: number | undefined
}

export const readFleetBansSearch = (raw: Record<string, unknown>): FleetBansSearch =>
  withoutEmpty({ search: words(raw.search, 500), show: raw.show === 'ended' ? raw.show : undefined, page: pageOf(raw) })
