import {
  Outlet,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import type { RouteComponent } from '@tanstack/react-router'
import { statusOf } from '../api/client.ts'
import { feed } from '../api/feed.ts'
import { meQuery, onFactorMissing, onSessionEnd, queries, tryAgain } from '../api/queries.ts'
import { roleMay } from '../api/roles.ts'
import { useMe } from '../api/session.ts'
import { bootstrapQuery } from './bootstrap.ts'
import { readAuditSearch } from '../features/audit/filter.ts'
import { readBansSearch } from '../features/bans/filter.ts'
import { readCommandsSearch } from '../features/commands/filter.ts'
import { readHistorySearch, readPageSearch, readStatsSearch } from '../features/portknock/filter.ts'
import { readReplaySearch } from '../features/siem/replay-range.ts'
import { readReportsSearch } from '../features/reports/filter.ts'
import { readTemplatesSearch } from '../features/templates/filter.ts'
import { readFleetBansSearch } from '../features/fleet-bans/filter.ts'
import { readWhitelistSearch } from '../features/whitelist/filter.ts'
import { readUsersSearch } from '../features/users/filter.ts'
import { readOverviewSearch } from '../features/overview/filter.ts'
import { readServersSearch } from '../features/servers/filter.ts'
import { readNext, readSignInSearch } from '../features/sign-in/search.ts'
import { afterProvider } from '../features/sign-in/second-step.ts'
import { basePath, safeReturn } from '../lib/place.ts'
import { preferences } from '../lib/preferences.ts'
import { Broken, Forbidden, NotFound } from '../features/navigation/lone-pages.tsx'

/* Every page and its address. What the URL says is read by one function a page; the pages come when they are opened. */

/** What a page reads of its address, and nothing else: the router would keep the rest as it came. */
const only =
  <S extends object>(read: (raw: Record<string, unknown>) => S): ((raw: Record<string, unknown>) => S) =>
  raw => ({ ...Object.fromEntries(Object.keys(raw).map(name => [name, undefined])), ...read(raw) })
// Where a route also looks at its search before it loads, the type is only found when it stands apart.
const nextSearch = only(readNext)
const overviewSearch = only(readOverviewSearch)
const word = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

/** The signed-in user. Others are sent to the sign-in, and from there on to the requested page. */
const signedIn = async (search: { next?: string }) => {
  try {
    return await queries.ensureQueryData({
      ...bootstrapQuery,
      // The page shows a countdown; there is nothing else to show meanwhile.
      retry: (failures, error) => statusOf(error) !== 429 && tryAgain(failures, error),
    })
  } catch (error) {
    if (statusOf(error) === 401) throw redirect({ to: '/login', search })
    throw error
  }
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

/** A page of admins. Others who type its address are told which role it needs. */
const forAdmins = (AdminPage: RouteComponent): RouteComponent => {
  const Guarded = () => {
    const me = useMe()
    return me && roleMay(me.role, 'admin') ? <AdminPage /> : <Forbidden needed="Admin" />
  }
  return Object.assign(Guarded, AdminPage.preload ? { preload: AdminPage.preload } : {})
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: only(readSignInSearch),
  component: lazyRouteComponent(() => import('../features/sign-in/sign-in.tsx'), 'SignIn'),
})
const secondFactor = createRoute({
  getParentRoute: () => root,
  path: '/login/mfa',
  validateSearch: nextSearch,
  component: lazyRouteComponent(() => import('../features/sign-in/second-factor.tsx'), 'SecondFactor'),
})
const enrol = createRoute({
  getParentRoute: () => root,
  path: '/login/enrol',
  validateSearch: nextSearch,
  beforeLoad: async ({ search }) => {
    const me = await signedIn(search)
    if (me.mfa_enabled) throw redirect({ href: safeReturn(search.next), replace: true })
  },
  component: lazyRouteComponent(() => import('../features/sign-in/enrol.tsx'), 'Enrol'),
})

const setUp = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  validateSearch: only((raw): { code?: string } => {
    const code = word(raw.code)
    return code ? { code } : {}
  }),
  component: lazyRouteComponent(() => import('../features/set-up/set-up.tsx'), 'SetUp'),
})

const invite = createRoute({
  getParentRoute: () => root,
  path: '/invite',
  validateSearch: only((raw): { code?: string } => {
    const code = word(raw.code)
    return code ? { code } : {}
  }),
  component: lazyRouteComponent(() => import('../features/invite/invite.tsx'), 'Invite'),
})

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ location }) => {
    const entering = queries.getQueryData(meQuery.queryKey) === undefined
    return { entering, me: await signedIn(location.pathname === '/' ? {} : { next: location.href }) }
  },
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
})

const start = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: overviewSearch,
  beforeLoad: ({ context, location }) => {
    // Sign-in providers return to this page; users who wanted another page go on to it.
    const wanted = afterProvider.take()
    if (wanted !== undefined && safeReturn(wanted) !== '/') throw redirect({ href: safeReturn(wanted), replace: true })
    const { start } = preferences.read()
    if (context.entering && location.searchStr === '' && start !== '/') throw redirect({ href: start, replace: true })
  },
  component: lazyRouteComponent(() => import('../features/overview/overview.tsx'), 'Overview'),
})

const servers = createRoute({
  getParentRoute: () => inside,
  path: '/servers',
  validateSearch: only(readServersSearch),
  component: lazyRouteComponent(() => import('../features/servers/servers.tsx'), 'Servers'),
})

const newServer = createRoute({
  getParentRoute: () => inside,
  path: '/servers/new',
  validateSearch: only((raw): { id?: string } => {
    const id = word(raw.id)
    return id ? { id } : {}
  }),
  component: forAdmins(lazyRouteComponent(() => import('../features/add-server/add-server.tsx'), 'AddServer')),
})

const server = createRoute({
  getParentRoute: () => inside,
  path: '/servers/$serverId',
  component: lazyRouteComponent(() => import('../features/server/server.tsx'), 'ServerPage'),
})
const serverStart = createRoute({
  getParentRoute: () => server,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/servers/$serverId/overview', params, replace: true })
  },
})
const serverTabs = [
  serverStart,
  createRoute({
    getParentRoute: () => server,
    path: 'overview',
    component: lazyRouteComponent(() => import('../features/server/server.tsx'), 'OverviewTab'),
  }),
  createRoute({
    getParentRoute: () => server,
    path: 'jails',
    component: lazyRouteComponent(() => import('../features/server/jails.tsx'), 'JailsTab'),
  }),
  createRoute({
    getParentRoute: () => server,
    path: 'bans',
    component: lazyRouteComponent(() => import('../features/server/history.tsx'), 'BansTab'),
  }),
  createRoute({
    getParentRoute: () => server,
    path: 'commands',
    component: lazyRouteComponent(() => import('../features/server/history.tsx'), 'CommandsTab'),
  }),
  createRoute({
    getParentRoute: () => server,
    path: 'settings',
    component: lazyRouteComponent(() => import('../features/server/server.tsx'), 'SettingsTab'),
  }),
] as const

const bans = createRoute({
  getParentRoute: () => inside,
  path: '/bans',
  validateSearch: readBansSearch,
  component: lazyRouteComponent(() => import('../features/bans/bans.tsx'), 'Bans'),
})
/** The list stays beside it where there is room; `/bans/12` keeps the filters of the list it was opened from. */
const ban = createRoute({ getParentRoute: () => bans, path: '$banId' })

const lookUp = createRoute({
  getParentRoute: () => inside,
  path: '/ip',
  component: lazyRouteComponent(() => import('../features/ip/lookup.tsx'), 'LookUp'),
})
const ip = createRoute({
  getParentRoute: () => inside,
  path: '/ip/$addr',
  // Whether the address was taken out of a longer text, which the page then says.
  validateSearch: only((raw): { taken?: '1' } => (raw.taken === '1' ? { taken: '1' } : {})),
  component: lazyRouteComponent(() => import('../features/ip/ip.tsx'), 'IpPage'),
})

const fleetBans = createRoute({
  getParentRoute: () => inside,
  path: '/fleet-bans',
  validateSearch: only(readFleetBansSearch),
  component: lazyRouteComponent(() => import('../features/fleet-bans/fleet-bans.tsx'), 'FleetBans'),
})
const sharingRules = createRoute({
  getParentRoute: () => inside,
  path: '/lists/rules',
  component: lazyRouteComponent(() => import('../features/sharing-rules/rules.tsx'), 'SharingRules'),
})
const feeds = createRoute({
  getParentRoute: () => inside,
  path: '/lists/feeds',
  component: forAdmins(lazyRouteComponent(() => import('../features/feeds/feeds.tsx'), 'Feeds')),
})
const reports = createRoute({
  getParentRoute: () => inside,
  path: '/reports',
  validateSearch: only(readReportsSearch),
  component: lazyRouteComponent(() => import('../features/reports/reports.tsx'), 'Reports'),
})
/** A short address for a screen on the wall. */
const wall = createRoute({
  getParentRoute: () => inside,
  path: '/wall',
  beforeLoad: () => {
    throw redirect({ to: '/', search: { kiosk: '1' }, replace: true })
  },
})
const lists = createRoute({
  getParentRoute: () => inside,
  path: '/lists',
  component: lazyRouteComponent(() => import('../features/lists/lists.tsx'), 'Lists'),
})
const blocklists = createRoute({
  getParentRoute: () => inside,
  path: '/lists/blocklists',
  validateSearch: only(readPageSearch),
  component: lazyRouteComponent(() => import('../features/blocklists/blocklists.tsx'), 'Blocklists'),
})
const whitelist = createRoute({
  getParentRoute: () => inside,
  path: '/whitelist',
  validateSearch: only(readWhitelistSearch),
  component: lazyRouteComponent(() => import('../features/whitelist/whitelist.tsx'), 'Whitelist'),
})

const commands = createRoute({
  getParentRoute: () => inside,
  path: '/commands',
  validateSearch: only(readCommandsSearch),
  component: lazyRouteComponent(() => import('../features/commands/commands.tsx'), 'Commands'),
})
const command = createRoute({
  getParentRoute: () => inside,
  path: '/commands/$commandId',
  component: lazyRouteComponent(() => import('../features/commands/command.tsx'), 'CommandPage'),
})
const batch = createRoute({
  getParentRoute: () => inside,
  path: '/batches/$batchId',
  validateSearch: only((raw): { page?: number } => {
    const page = Number(raw.page)
    return Number.isInteger(page) && page > 1 ? { page } : {}
  }),
  component: lazyRouteComponent(() => import('../features/commands/batch.tsx'), 'BatchPage'),
})

const templates = createRoute({
  getParentRoute: () => inside,
  path: '/templates',
  validateSearch: only(readTemplatesSearch),
  component: lazyRouteComponent(() => import('../features/templates/templates.tsx'), 'Templates'),
})
const newTemplate = createRoute({
  getParentRoute: () => inside,
  path: '/templates/new',
  // The template to begin with a copy of.
  validateSearch: only((raw): { from?: string } => {
    const from = word(raw.from)
    return from ? { from } : {}
  }),
  component: forAdmins(lazyRouteComponent(() => import('../features/templates/editor.tsx'), 'NewTemplate')),
})
const template = createRoute({
  getParentRoute: () => inside,
  path: '/templates/$templateId',
  component: lazyRouteComponent(() => import('../features/templates/template.tsx'), 'TemplatePage'),
})
const editTemplate = createRoute({
  getParentRoute: () => inside,
  path: '/templates/$templateId/edit',
  component: forAdmins(lazyRouteComponent(() => import('../features/templates/editor.tsx'), 'EditTemplate')),
})
const deployTemplate = createRoute({
  getParentRoute: () => inside,
  path: '/templates/$templateId/deploy',
  component: lazyRouteComponent(() => import('../features/templates/deploy.tsx'), 'DeployTemplate'),
})

const portknock = createRoute({
  getParentRoute: () => inside,
  path: '/portknock',
  beforeLoad: () => {
    throw redirect({ to: '/portknock/sequences', replace: true })
  },
})
const knockSequences = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/sequences',
  validateSearch: only(readPageSearch),
  component: lazyRouteComponent(() => import('../features/portknock/sequences.tsx'), 'KnockSequences'),
})
const knockOpen = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/open',
  validateSearch: only(readPageSearch),
  component: lazyRouteComponent(() => import('../features/portknock/open.tsx'), 'KnockOpen'),
})
const knockHistory = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/history',
  validateSearch: only(readHistorySearch),
  component: lazyRouteComponent(() => import('../features/portknock/history.tsx'), 'KnockHistory'),
})
const knockBlocked = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/blocked',
  validateSearch: only(readPageSearch),
  component: lazyRouteComponent(() => import('../features/portknock/blocked.tsx'), 'KnockBlocked'),
})
const knockStats = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/stats',
  validateSearch: only(readStatsSearch),
  component: lazyRouteComponent(() => import('../features/portknock/stats.tsx'), 'KnockStats'),
})

const siem = createRoute({
  getParentRoute: () => inside,
  path: '/siem',
  beforeLoad: () => {
    throw redirect({ to: '/siem/destination', replace: true })
  },
})
const siemDestination = createRoute({
  getParentRoute: () => inside,
  path: '/siem/destination',
  component: forAdmins(lazyRouteComponent(() => import('../features/siem/destination.tsx'), 'Destination')),
})
const siemDelivery = createRoute({
  getParentRoute: () => inside,
  path: '/siem/delivery',
  component: forAdmins(lazyRouteComponent(() => import('../features/siem/delivery.tsx'), 'Delivery')),
})
const siemQueue = createRoute({
  getParentRoute: () => inside,
  path: '/siem/queue',
  component: forAdmins(lazyRouteComponent(() => import('../features/siem/queue.tsx'), 'Queue')),
})
const siemReplay = createRoute({
  getParentRoute: () => inside,
  path: '/siem/replay',
  validateSearch: only(readReplaySearch),
  component: forAdmins(lazyRouteComponent(() => import('../features/siem/replay.tsx'), 'Replay')),
})

/** On phones: the pages that have no place in the bottom bar. */
const more = createRoute({
  getParentRoute: () => inside,
  path: '/more',
  component: lazyRouteComponent(() => import('./more/more.tsx'), 'More'),
})

const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  beforeLoad: () => {
    throw redirect({ to: '/account/profile', replace: true })
  },
})
const profile = createRoute({
  getParentRoute: () => inside,
  path: '/account/profile',
  component: lazyRouteComponent(() => import('../features/account/profile.tsx'), 'Profile'),
})
const ownSecurity = createRoute({
  getParentRoute: () => inside,
  path: '/account/security',
  component: lazyRouteComponent(() => import('../features/account/security.tsx'), 'OwnSecurity'),
})
const ownKeys = createRoute({
  getParentRoute: () => inside,
  path: '/account/keys',
  component: lazyRouteComponent(() => import('../features/account/keys.tsx'), 'OwnKeys'),
})
const ownPreferences = createRoute({
  getParentRoute: () => inside,
  path: '/account/preferences',
  component: lazyRouteComponent(() => import('../features/account/preferences.tsx'), 'OwnPreferences'),
})

const users = createRoute({
  getParentRoute: () => inside,
  path: '/users',
  validateSearch: only(readUsersSearch),
  component: forAdmins(lazyRouteComponent(() => import('../features/users/users.tsx'), 'Users')),
})
const newUser = createRoute({
  getParentRoute: () => inside,
  path: '/users/new',
  component: forAdmins(lazyRouteComponent(() => import('../features/users/new-user.tsx'), 'NewUser')),
})
const user = createRoute({
  getParentRoute: () => inside,
  path: '/users/$userId',
  component: forAdmins(lazyRouteComponent(() => import('../features/users/user.tsx'), 'UserPage')),
})

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/general', replace: true })
  },
})
const serviceSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/general',
  component: forAdmins(lazyRouteComponent(() => import('../features/settings/service.tsx'), 'ServiceSettings')),
})
const securitySettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/security',
  component: forAdmins(lazyRouteComponent(() => import('../features/settings/security.tsx'), 'SecuritySettings')),
})
const oauthSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/oauth',
  component: forAdmins(lazyRouteComponent(() => import('../features/settings/oauth.tsx'), 'OauthSettings')),
})
const notificationSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/notifications',
  component: forAdmins(
    lazyRouteComponent(() => import('../features/settings/notifications.tsx'), 'NotificationSettings'),
  ),
})
const reputationSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/reputation',
  component: forAdmins(lazyRouteComponent(() => import('../features/settings/reputation.tsx'), 'ReputationSettings')),
})
const backupSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/backup',
  component: forAdmins(lazyRouteComponent(() => import('../features/settings/backup.tsx'), 'BackupSettings')),
})
const agentSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/agents',
  component: forAdmins(lazyRouteComponent(() => import('../features/settings/agents.tsx'), 'AgentSettings')),
})
const channelSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/channels',
  component: forAdmins(lazyRouteComponent(() => import('../features/settings/alert-channels.tsx'), 'ChannelSettings')),
})
const licenceSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/licence',
  component: forAdmins(lazyRouteComponent(() => import('../features/settings/licence.tsx'), 'LicenceSettings')),
})

const alerts = createRoute({
  getParentRoute: () => inside,
  path: '/alerts',
  component: lazyRouteComponent(() => import('../features/alerts/alerts.tsx'), 'Alerts'),
})
const audit = createRoute({
  getParentRoute: () => inside,
  path: '/audit',
  validateSearch: only(readAuditSearch),
  component: forAdmins(lazyRouteComponent(() => import('../features/audit/audit.tsx'), 'Audit')),
})

/** Whatever else is asked for: said within the shell, where the find box is. */
const nowhere = createRoute({ getParentRoute: () => inside, path: '$', component: NotFound })

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    secondFactor,
    enrol,
    setUp,
    invite,
    inside.addChildren([
      start,
      servers,
      newServer,
      server.addChildren(serverTabs),
      bans.addChildren([ban]),
      lookUp,
      ip,
      fleetBans,
      lists,
      blocklists,
      sharingRules,
      feeds,
      reports,
      wall,
      whitelist,
      commands,
      command,
      batch,
      templates,
      newTemplate,
      template,
      editTemplate,
      deployTemplate,
      portknock,
      knockSequences,
      knockOpen,
      knockHistory,
      knockBlocked,
      knockStats,
      siem,
      siemDestination,
      siemDelivery,
      siemQueue,
      siemReplay,
      more,
      account,
      profile,
      ownSecurity,
      ownKeys,
      ownPreferences,
      users,
      newUser,
      user,
      settings,
      serviceSettings,
      securitySettings,
      oauthSettings,
      notificationSettings,
      reputationSettings,
      backupSettings,
      agentSettings,
      channelSettings,
      alerts,
      licenceSettings,
      audit,
      nowhere,
    ]),
  ]),
  basepath: basePath,
  parseSearch: search => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: search => {
    const given = Object.entries(search).flatMap(([key, value]): [string, string][] =>
      value === undefined ? [] : [[key, String(value)]],
    )
    return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
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
