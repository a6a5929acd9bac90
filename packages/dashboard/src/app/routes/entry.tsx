import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { readNext, readSignInSearch } from '../../features/sign-in/search.ts'
import { safeReturn } from '../../lib/place.ts'
import { only, root, signedIn, word } from './base.tsx'

/* What is open without a session. */

// Where a route also looks at its search before it loads, the type is only found when it stands apart.
const nextSearch = only(readNext)

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: only(readSignInSearch),
  component: lazyRouteComponent(() => import('../../features/sign-in/sign-in.tsx'), 'SignIn'),
})
const secondFactor = createRoute({
  getParentRoute: () => root,
  path: '/login/mfa',
  validateSearch: nextSearch,
  component: lazyRouteComponent(() => import('../../features/sign-in/second-factor.tsx'), 'SecondFactor'),
})
const enrol = createRoute({
  getParentRoute: () => root,
  path: '/login/enrol',
  validateSearch: nextSearch,
  beforeLoad: async ({ search }) => {
    const me = await signedIn(search)
    if (me.mfa_enabled) throw redirect({ href: safeReturn(search.next), replace: true })
  },
  component: lazyRouteComponent(() => import('../../features/sign-in/enrol.tsx'), 'Enrol'),
})

const setUp = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  validateSearch: only((raw): { code?: string } => {
    const code = word(raw.code)
    return code ? { code } : {}
  }),
  component: lazyRouteComponent(() => import('../../features/set-up/set-up.tsx'), 'SetUp'),
})

const invite = createRoute({
  getParentRoute: () => root,
  path: '/invite',
  validateSearch: only((raw): { code?: string } => {
    const code = word(raw.code)
    return code ? { code } : {}
  }),
  component: lazyRouteComponent(() => import('../../features/invite/invite.tsx'), 'Invite'),
})

export const entryRoutes = [signIn, secondFactor, enrol, setUp, invite] as const
