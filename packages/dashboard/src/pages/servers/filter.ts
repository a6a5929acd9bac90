/** What the URL says of the list of servers. */
export interface ServersSearch {
  readonly search?: string | undefined
  readonly status?: 'online' | 'offline' | 'pending' | undefined
  readonly page?: number | undefined
}
export const statuses = ['online', 'offline', 'pending'] as const

export const readServersSearch = (raw: Record<string, unknown>): ServersSearch => {
  const search = typeof raw.search === 'string' ? raw.search.trim().slice(0, 253) : ''
  const status = statuses.find(known => known === raw.status)
  const page = Number(raw.page)
  return {
    ...(search ? { search } : {}),
    ...(status ? { status } : {}),
    ...(Number.isInteger(page) && page > 1 ? { page } : {}),
  }
}
