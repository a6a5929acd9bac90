import { entered } from './entered.ts'
import type { router } from './router.tsx'

/**
 * Loads the code of the page that the URL names while the API is asked who one is, so that it does not wait for that
 * answer. The sign-in needs none of it.
 */
export const loadAhead = (all: typeof router): void => {
  if (!entered.read()) return
  const [routes] = all.getMatchedRoutes(all.latestLocation.pathname)
  for (const route of routes)
    // A file that can't be loaded is asked for again when the page is opened, which says so.
    void all.loadRouteChunk(route)?.catch(() => undefined)
}
