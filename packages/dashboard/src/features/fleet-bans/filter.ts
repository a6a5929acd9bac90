/** The URL of the list of fleet bans. */
export interface FleetBansSearch {
  readonly search?: string | undefined
  readonly show?: 'ended' | undefined
  readonly page?: number | undefined
}

export const readFleetBansSearch = (raw: Record<string, unknown>): FleetBansSearch => {
  const search = typeof raw.search === 'string' ? raw.search.trim().slice(0, 500) : ''
  const page = Number(raw.page)
  return {
    ...(search ? { search } : {}),
    ...(raw.show === 'ended' ? { show: 'ended' } : {}),
    ...(Number.isInteger(page) && page > 1 ? { page } : {}),
  }
}
