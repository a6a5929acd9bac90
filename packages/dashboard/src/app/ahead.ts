import { queries, serversQuery } from '../api/queries.ts'
import { attackersRead } from '../features/bans/attackers-read.ts'
import { readBansSearch } from '../features/bans/filter.ts'
import { entered } from './entered.ts'
import type { router } from './router.tsx'

/** Asks for what the most visited lists show first, as they do. What is searched for is left to the page, which knows whether it can be read. */
const readAhead = ({ pathname, search }: { pathname: string; search: Record<string, unknown> }) => {
  if (pathname === '/servers' && Object.keys(search).length === 0)
    void queries.prefetchQuery(serversQuery({ q: undefined, page: 1 }))
  if (pathname !== '/bans') return
  const bansSearch = readBansSearch(search)
  if (!bansSearch.by && !bansSearch.q && !bansSearch.ip) void queries.prefetchQuery(attackersRead(bansSearch))
}

/**
 * Loads the code of the page that the URL names, and what it shows, while the API is asked who one is, so that it does not wait
 * for that answer. The sign-in needs none of it.
 */
export const loadAhead = (all: typeof router): void => {
  if (!entered.read()) return
  readAhead(all.latestLocation)
  const [routes] = all.getMatchedRoutes(all.latestLocation.pathname)
  for (const route of routes)
    // A file that can't be loaded is asked for again when the page is opened, which says so.
    void all.loadRouteChunk(route)?.catch(() => undefined)
}
