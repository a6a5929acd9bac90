import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { readBansSearch } from '../../features/bans/filter.ts'
import { readCommandsSearch } from '../../features/commands/filter.ts'
import { readHistorySearch, readPageSearch, readStatsSearch } from '../../features/portknock/filter.ts'
import { readReportsSearch } from '../../features/reports/filter.ts'
import { readTemplatesSearch } from '../../features/templates/filter.ts'
import { readFleetBansSearch } from '../../features/fleet-bans/filter.ts'
import { readWhitelistSearch } from '../../features/whitelist/filter.ts'
import { readOverviewSearch } from '../../features/overview/filter.ts'
import { readServersSearch } from '../../features/servers/filter.ts'
import { afterProvider } from '../../features/sign-in/second-step.ts'
import { safeReturn } from '../../lib/place.ts'
import { preferences } from '../../lib/preferences.ts'
import { forAdmins, inside, only, page, word } from './base.tsx'

/* The fleet: servers, bans, lists, commands, templates, port knocking. */

// Where a route also looks at its search before it loads, the type is only found when it stands apart.
const overviewSearch = only(readOverviewSearch)

const start = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: overviewSearch,
  beforeLoad: ({ context, location }) => {
    // Sign-in providers return to this page; users who wanted another page go on to it.
    const returnPlace = afterProvider.take()
    if (returnPlace !== undefined && safeReturn(returnPlace) !== '/')
      throw redirect({ href: safeReturn(returnPlace), replace: true })
    const { start } = preferences.read()
    if (context.entering && location.searchStr === '' && start !== '/') throw redirect({ href: start, replace: true })
  },
  component: lazyRouteComponent(() => import('../../features/overview/overview.tsx'), 'Overview'),
})

const servers = createRoute({
  getParentRoute: () => inside,
  path: '/servers',
  validateSearch: only(readServersSearch),
  component: lazyRouteComponent(() => import('../../features/servers/servers.tsx'), 'Servers'),
})

const newServer = createRoute({
  getParentRoute: () => inside,
  path: '/servers/new',
  validateSearch: only((raw): { id?: string } => {
    const id = word(raw.id)
    return id ? { id } : {}
  }),
  component: forAdmins(lazyRouteComponent(() => import('../../features/add-server/add-server.tsx'), 'AddServer')),
})

const enrolmentTokens = createRoute({
  getParentRoute: () => inside,
  path: '/servers/tokens',
  // The token whose servers are shown.
  validateSearch: only((raw): { token?: number } => {
    const token = Number(raw.token)
    return Number.isSafeInteger(token) && token > 0 ? { token } : {}
  }),
  component: forAdmins(lazyRouteComponent(() => import('../../features/add-server/tokens.tsx'), 'ManyServers')),
})

const server = page(
  '/servers/$serverId',
  lazyRouteComponent(() => import('../../features/server/server.tsx'), 'ServerPage'),
)
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
    component: lazyRouteComponent(() => import('../../features/server/server.tsx'), 'OverviewTab'),
  }),
  createRoute({
    getParentRoute: () => server,
    path: 'jails',
    component: lazyRouteComponent(() => import('../../features/server/jails.tsx'), 'JailsTab'),
  }),
  createRoute({
    getParentRoute: () => server,
    path: 'bans',
    component: lazyRouteComponent(() => import('../../features/server/history.tsx'), 'BansTab'),
  }),
  createRoute({
    getParentRoute: () => server,
    path: 'commands',
    component: lazyRouteComponent(() => import('../../features/server/history.tsx'), 'CommandsTab'),
  }),
  createRoute({
    getParentRoute: () => server,
    path: 'settings',
    component: lazyRouteComponent(() => import('../../features/server/server.tsx'), 'SettingsTab'),
  }),
] as const

const bans = createRoute({
  getParentRoute: () => inside,
  path: '/bans',
  validateSearch: readBansSearch,
  component: lazyRouteComponent(() => import('../../features/bans/bans.tsx'), 'Bans'),
})
/** The list stays beside it where there is room; `/bans/12` keeps the filters of the list it was opened from. */
const ban = createRoute({ getParentRoute: () => bans, path: '$banId' })

const lookUp = page(
  '/ip',
  lazyRouteComponent(() => import('../../features/ip/lookup.tsx'), 'LookUp'),
)
const ip = createRoute({
  getParentRoute: () => inside,
  path: '/ip/$addr',
  // Whether the address was taken out of a longer text, which the page then says.
  validateSearch: only((raw): { taken?: '1' } => (raw.taken === '1' ? { taken: '1' } : {})),
  component: lazyRouteComponent(() => import('../../features/ip/ip.tsx'), 'IpPage'),
})

const fleetBans = createRoute({
  getParentRoute: () => inside,
  path: '/fleet-bans',
  validateSearch: only(readFleetBansSearch),
  component: lazyRouteComponent(() => import('../../features/fleet-bans/fleet-bans.tsx'), 'FleetBans'),
})
const sharingRules = page(
  '/lists/rules',
  lazyRouteComponent(() => import('../../features/sharing-rules/rules.tsx'), 'SharingRules'),
)
const feeds = page(
  '/lists/feeds',
  forAdmins(lazyRouteComponent(() => import('../../features/feeds/feeds.tsx'), 'Feeds')),
)
const reports = createRoute({
  getParentRoute: () => inside,
  path: '/reports',
  validateSearch: only(readReportsSearch),
  component: lazyRouteComponent(() => import('../../features/reports/reports.tsx'), 'Reports'),
})
/** A short address for a screen on the wall. */
const wall = createRoute({
  getParentRoute: () => inside,
  path: '/wall',
  beforeLoad: () => {
    throw redirect({ to: '/', search: { kiosk: '1' }, replace: true })
  },
})
const lists = page(
  '/lists',
  lazyRouteComponent(() => import('../../features/lists/lists.tsx'), 'Lists'),
)
const blocklists = createRoute({
  getParentRoute: () => inside,
  path: '/lists/blocklists',
  validateSearch: only(readPageSearch),
  component: lazyRouteComponent(() => import('../../features/blocklists/blocklists.tsx'), 'Blocklists'),
})
const whitelist = createRoute({
  getParentRoute: () => inside,
  path: '/whitelist',
  validateSearch: only(readWhitelistSearch),
  component: lazyRouteComponent(() => import('../../features/whitelist/whitelist.tsx'), 'Whitelist'),
})

const commands = createRoute({
  getParentRoute: () => inside,
  path: '/commands',
  validateSearch: only(readCommandsSearch),
  component: lazyRouteComponent(() => import('../../features/commands/commands.tsx'), 'Commands'),
})
const command = page(
  '/commands/$commandId',
  lazyRouteComponent(() => import('../../features/commands/command.tsx'), 'CommandPage'),
)
const batch = createRoute({
  getParentRoute: () => inside,
  path: '/batches/$batchId',
  validateSearch: only(readPageSearch),
  component: lazyRouteComponent(() => import('../../features/commands/batch.tsx'), 'BatchPage'),
})

const templates = createRoute({
  getParentRoute: () => inside,
  path: '/templates',
  validateSearch: only(readTemplatesSearch),
  component: lazyRouteComponent(() => import('../../features/templates/templates.tsx'), 'Templates'),
})
const newTemplate = createRoute({
  getParentRoute: () => inside,
  path: '/templates/new',
  // The template to begin with a copy of.
  validateSearch: only((raw): { from?: string } => {
    const from = word(raw.from)
    return from ? { from } : {}
  }),
  component: forAdmins(lazyRouteComponent(() => import('../../features/templates/editor.tsx'), 'NewTemplate')),
})
const template = page(
  '/templates/$templateId',
  lazyRouteComponent(() => import('../../features/templates/template.tsx'), 'TemplatePage'),
)
const editTemplate = page(
  '/templates/$templateId/edit',
  forAdmins(lazyRouteComponent(() => import('../../features/templates/editor.tsx'), 'EditTemplate')),
)
const deployTemplate = page(
  '/templates/$templateId/deploy',
  lazyRouteComponent(() => import('../../features/templates/deploy.tsx'), 'DeployTemplate'),
)

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
  component: lazyRouteComponent(() => import('../../features/portknock/sequences.tsx'), 'KnockSequences'),
})
const knockOpen = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/open',
  validateSearch: only(readPageSearch),
  component: lazyRouteComponent(() => import('../../features/portknock/open.tsx'), 'KnockOpen'),
})
const knockHistory = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/history',
  validateSearch: only(readHistorySearch),
  component: lazyRouteComponent(() => import('../../features/portknock/history.tsx'), 'KnockHistory'),
})
const knockBlocked = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/blocked',
  validateSearch: only(readPageSearch),
  component: lazyRouteComponent(() => import('../../features/portknock/blocked.tsx'), 'KnockBlocked'),
})
const knockStats = createRoute({
  getParentRoute: () => inside,
  path: '/portknock/stats',
  validateSearch: only(readStatsSearch),
  component: lazyRouteComponent(() => import('../../features/portknock/stats.tsx'), 'KnockStats'),
})

export const fleetRoutes = [
  start,
  servers,
  newServer,
  enrolmentTokens,
  lookUp,
  ip,
  fleetBans,
  sharingRules,
  feeds,
  reports,
  wall,
  lists,
  blocklists,
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
  server.addChildren(serverTabs),
  bans.addChildren([ban]),
] as const
