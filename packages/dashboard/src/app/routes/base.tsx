import { Outlet, createRootRoute, createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import type { RouteComponent } from '@tanstack/react-router'
import { statusOf } from '../../api/client.ts'
import { meQuery, queries, tryAgain } from '../../api/queries.ts'
import { roleMay } from '../../api/roles.ts'
import { useMe } from '../../api/session.ts'
import { entered } from '../entered.ts'
import { bootstrapQuery } from '../bootstrap.ts'
import { Forbidden, NotFound } from '../../features/navigation/lone-pages.tsx'

/* What all routes build on. */

/** What a page reads of its address, and nothing else: the router would keep the rest as it came. */
export const only =
  <S extends object>(read: (raw: Record<string, unknown>) => S): ((raw: Record<string, unknown>) => S) =>
  raw => ({ ...Object.fromEntries(Object.keys(raw).map(name => [name, undefined])), ...read(raw) })
export const word = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** The signed-in user. Others are sent to the sign-in, and from there on to the requested page. */
export const signedIn = async (search: { next?: string }) => {
  try {
    return await queries.ensureQueryData({
      ...bootstrapQuery,
      // The page shows a countdown; there is nothing else to show meanwhile.
      retry: (failures, error) => statusOf(error) !== 429 && tryAgain(failures, error),
    })
  } catch (error) {
    if (statusOf(error) !== 401) throw error
    entered.note(false)
    throw redirect({ to: '/login', search })
  }
}

export const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

/** A page of admins. Others who type its address are told which role it needs. */
export const forAdmins = (AdminPage: RouteComponent): RouteComponent => {
  const Guarded = () => {
    const me = useMe()
    return me && roleMay(me.role, 'admin') ? <AdminPage /> : <Forbidden needed="Admin" />
  }
  return Object.assign(Guarded, AdminPage.preload ? { preload: AdminPage.preload } : {})
}

export const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ location }) => {
    const entering = queries.getQueryData(meQuery.queryKey) === undefined
    return { entering, me: await signedIn(location.pathname === '/' ? {} : { next: location.href }) }
  },
  component: lazyRouteComponent(() => import('../shell/shell.tsx'), 'Shell'),
})

/** A page of signed-in users whose address says no more than which page it is. */
export const page = <const P extends string>(path: P, component: RouteComponent) =>
  createRoute({ getParentRoute: () => inside, path, component })

/** Whatever else is asked for: said within the shell, where the find box is. */
export const nowhere = page('$', NotFound)
