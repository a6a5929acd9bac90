import { createRouter } from '@tanstack/react-router'
import { feed } from '../api/feed.ts'
import { onFactorMissing, onSessionEnd, queries } from '../api/queries.ts'
import { basePath } from '../lib/place.ts'
import { Broken, NotFound } from '../features/navigation/lone-pages.tsx'
import { inside, nowhere, root } from './routes/base.tsx'
import { entryRoutes } from './routes/entry.tsx'
import { fleetRoutes } from './routes/fleet.tsx'
import { settingsRoutes } from './routes/settings.tsx'

/* Every page and its address, in `routes/`. What the URL says is read by one function a page; the pages come when they are opened. */

export const router = createRouter({
  routeTree: root.addChildren([...entryRoutes, inside.addChildren([...fleetRoutes, ...settingsRoutes, nowhere])]),
  basepath: basePath,
  parseSearch: search => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: search => {
    const parameters = Object.entries(search).flatMap(([key, value]): [string, string][] =>
      value === undefined ? [] : [[key, String(value)]],
    )
    return parameters.length === 0 ? '' : `?${new URLSearchParams(parameters).toString()}`
  },
  defaultPreload: 'intent',
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: Broken,
  scrollRestoration: true,
})

onSessionEnd(() => {
  if (router.state.location.pathname.startsWith('/login')) return
  feed.stop()
  const next = router.state.location.href
  queries.clear()
  void router.navigate({ to: '/login', search: { next, ended: '1' } })
})

onFactorMissing(() => {
  if (router.state.location.pathname.startsWith('/login')) return
  feed.stop()
  void router.navigate({ to: '/login/enrol', search: { next: router.state.location.href } })
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
