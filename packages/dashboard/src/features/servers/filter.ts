import { withoutEmpty, pageOf } from '../../lib/search-params.ts'
import { withTerms } from '../../lib/terms.ts'

/** What the URL says of the list of servers. */
export interface ServersSearch {
  /** In the grammar of searches. */
  readonly q?: string | undefined
  /** Taken of links only: it becomes a term of the search. */
  readonly status?: 'online' | 'offline' | 'pending' | undefined
  readonly page?: number | undefined
}
const statuses = ['online', 'offline', 'pending'] as const

/** Words of a plain search as they stand, whatever the grammar would make of them. */
const plain = (text: string): string => {
  const words = text.trim().replaceAll('"', ' ').trim()
  return words === '' ? '' : /^[\w.-]+$/.test(words) ? words : `"${words}"`
}

export const readServersSearch = (raw: Record<string, unknown>): ServersSearch => {
  const status = statuses.find(known => known === raw.status)
  const q = withTerms(
    [status && `status:${status}`, typeof raw.search === 'string' ? plain(raw.search) : undefined],
    raw.q,
  )
  return withoutEmpty({ q, page: pageOf(raw) })
}
