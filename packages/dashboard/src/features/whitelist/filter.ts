import { withoutEmpty, pageOf, words } from '../../lib/search-params.ts'

/** What the URL says of the whitelist. */
export interface WhitelistSearch {
  readonly search?: string | undefined
  readonly page?: number | undefined
}

export const readWhitelistSearch = (raw: Record<string, unknown>): WhitelistSearch =>
  withoutEmpty({ search: words(raw.search, 1000), page: pageOf(raw) })
