/** What the URL says of the whitelist. */
export interface WhitelistSearch {
  readonly search?: string | undefined
  readonly page?: number | undefined
}

export const readWhitelistSearch = (raw: Record<string, unknown>): WhitelistSearch => {
  const search = typeof raw.search === 'string' ? raw.search.trim().slice(0, 1000) : ''
  const page = Number(raw.page)
  return { ...(search ? { search } : {}), ...(Number.isInteger(page) && page > 1 ? { page } : {}) }
}
