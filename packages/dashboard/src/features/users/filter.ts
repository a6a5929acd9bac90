/** What the URL says of the list of users. */
export interface UsersSearch {
  readonly search?: string | undefined
  readonly role?: 'Admin' | 'Operator' | 'Viewer' | undefined
  readonly page?: number | undefined
}
export const roles = ['Viewer', 'Operator', 'Admin'] as const

export const readUsersSearch = (raw: Record<string, unknown>): UsersSearch => {
  const search = typeof raw.search === 'string' ? raw.search.trim().slice(0, 254) : ''
  const role = roles.find(known => known === raw.role)
  const page = Number(raw.page)
  return {
    ...(search ? { search } : {}),
    ...(role ? { role } : {}),
    ...(Number.isInteger(page) && page > 1 ? { page } : {}),
  }
}
