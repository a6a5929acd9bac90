import { withoutEmpty, pageOf, words } from '../../lib/search-params.ts'

/** What the URL says of the list of users. */
export interface UsersSearch {
  readonly search?: string | undefined
  readonly role?: 'Admin' | 'Operator' | 'Viewer' | undefined
  readonly page?: number | undefined
}
export const roles = ['Viewer', 'Operator', 'Admin'] as const

export const readUsersSearch = (raw: Record<string, unknown>): UsersSearch =>
  withoutEmpty({ search: words(raw.search, 254), role: roles.find(known => known === raw.role), page: pageOf(raw) })
