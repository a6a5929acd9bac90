import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { readAuditSearch } from '../../features/audit/filter.ts'
import { readReplaySearch } from '../../features/siem/replay-range.ts'
import { readUsersSearch } from '../../features/users/filter.ts'
import { forAdmins, inside, only, page } from './base.tsx'

/* What is set up: forwarding, accounts, users, settings, alerts, audit. */

const siem = createRoute({
  getParentRoute: () => inside,
  path: '/siem',
  beforeLoad: () => {
    throw redirect({ to: '/siem/destination', replace: true })
  },
})
const siemDestination = page(
  '/siem/destination',
  forAdmins(lazyRouteComponent(() => import('../../features/siem/destination.tsx'), 'Destination')),
)
const siemDelivery = page(
  '/siem/delivery',
  forAdmins(lazyRouteComponent(() => import('../../features/siem/delivery.tsx'), 'Delivery')),
)
const siemQueue = page(
  '/siem/queue',
  forAdmins(lazyRouteComponent(() => import('../../features/siem/queue.tsx'), 'Queue')),
)
const siemReplay = createRoute({
  getParentRoute: () => inside,
  path: '/siem/replay',
  validateSearch: only(readReplaySearch),
  component: forAdmins(lazyRouteComponent(() => import('../../features/siem/replay.tsx'), 'Replay')),
})

/** On phones: the pages that have no place in the bottom bar. */
const more = page(
  '/more',
  lazyRouteComponent(() => import('../more/more.tsx'), 'More'),
)

const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  beforeLoad: () => {
    throw redirect({ to: '/account/profile', replace: true })
  },
})
const profile = page(
  '/account/profile',
  lazyRouteComponent(() => import('../../features/account/profile.tsx'), 'Profile'),
)
const ownSecurity = page(
  '/account/security',
  lazyRouteComponent(() => import('../../features/account/security.tsx'), 'OwnSecurity'),
)
const ownKeys = page(
  '/account/keys',
  lazyRouteComponent(() => import('../../features/account/keys.tsx'), 'OwnKeys'),
)
const ownPreferences = page(
  '/account/preferences',
  lazyRouteComponent(() => import('../../features/account/preferences.tsx'), 'OwnPreferences'),
)

const users = createRoute({
  getParentRoute: () => inside,
  path: '/users',
  validateSearch: only(readUsersSearch),
  component: forAdmins(lazyRouteComponent(() => import('../../features/users/users.tsx'), 'Users')),
})
const newUser = page(
  '/users/new',
  forAdmins(lazyRouteComponent(() => import('../../features/users/new-user.tsx'), 'NewUser')),
)
const user = page(
  '/users/$userId',
  forAdmins(lazyRouteComponent(() => import('../../features/users/user.tsx'), 'UserPage')),
)

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/general', replace: true })
  },
})
const serviceSettings = page(
  '/settings/general',
  forAdmins(lazyRouteComponent(() => import('../../features/settings/service.tsx'), 'ServiceSettings')),
)
const securitySettings = page(
  '/settings/security',
  forAdmins(lazyRouteComponent(() => import('../../features/settings/security.tsx'), 'SecuritySettings')),
)
const oauthSettings = page(
  '/settings/oauth',
  forAdmins(lazyRouteComponent(() => import('../../features/settings/oauth.tsx'), 'OauthSettings')),
)
const notificationSettings = page(
  '/settings/notifications',
  forAdmins(lazyRouteComponent(() => import('../../features/settings/notifications.tsx'), 'NotificationSettings')),
)
const reputationSettings = page(
  '/settings/reputation',
  forAdmins(lazyRouteComponent(() => import('../../features/settings/reputation.tsx'), 'ReputationSettings')),
)
const backupSettings = page(
  '/settings/backup',
  forAdmins(lazyRouteComponent(() => import('../../features/settings/backup.tsx'), 'BackupSettings')),
)
const agentSettings = page(
  '/settings/agents',
  forAdmins(lazyRouteComponent(() => import('../../features/settings/agents.tsx'), 'AgentSettings')),
)
/** Where channels stood before; links and bookmarks go on. */
const channelSettings = createRoute({
  getParentRoute: () => inside,
  path: '/settings/channels',
  beforeLoad: () => {
    throw redirect({ to: '/alerts', replace: true })
  },
})
const licenceSettings = page(
  '/settings/licence',
  forAdmins(lazyRouteComponent(() => import('../../features/settings/licence.tsx'), 'LicenceSettings')),
)

const alerts = page(
  '/alerts',
  lazyRouteComponent(() => import('../../features/alerts/alerts.tsx'), 'Alerts'),
)
const audit = createRoute({
  getParentRoute: () => inside,
  path: '/audit',
  validateSearch: only(readAuditSearch),
  component: forAdmins(lazyRouteComponent(() => import('../../features/audit/audit.tsx'), 'Audit')),
})

export const settingsRoutes = [
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
  licenceSettings,
  alerts,
  audit,
] as const
