import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { withoutView, attackersQueryOf } from './filter.ts'
import type { BansSearch } from './filter.ts'

/** How a page of attackers is read, without the grammar of searches: the app asks for it before the page is loaded. */
export const attackersRead = (search: BansSearch) =>
  queryOptions({
    queryKey: ['attackers', 'listed', withoutView(search)],
    queryFn: ({ signal }) => api.call('GET /bans/attackers', { query: attackersQueryOf(search, Date.now()), signal }),
  })
