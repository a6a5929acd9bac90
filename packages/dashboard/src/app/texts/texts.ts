import type { Catalogue } from '../../lib/texts/catalogue.ts'
import type { chartsTexts } from '../../kit/charts/charts.texts.ts'
import type { fleetTexts } from '../../features/fleet/fleet.texts.ts'
import type { protectionTexts } from '../../features/fleet/protection.texts.ts'
import type { targetsTexts } from '../../features/fleet/targets.texts.ts'
import type { undoTexts } from '../../features/fleet/undo.texts.ts'
import type { accountTexts } from '../../features/account/account.texts.ts'
import type { preferencesTexts } from '../../features/account/preferences.texts.ts'
import type { addServerTexts } from '../../features/add-server/add-server.texts.ts'
import type { enrolmentTokensTexts } from '../../features/add-server/enrolment-tokens.texts.ts'
import type { rotateKeyTexts } from '../../features/add-server/rotate-key.texts.ts'
import type { alertsTexts } from '../../features/alerts/alerts.texts.ts'
import type { auditTexts } from '../../features/audit/audit.texts.ts'
import type { attackersTexts } from '../../features/bans/attackers.texts.ts'
import type { banDialogTexts } from '../../features/bans/ban-dialog.texts.ts'
import type { bansTexts } from '../../features/bans/bans.texts.ts'
import type { reasonsTexts } from '../../features/bans/reasons.texts.ts'
import type { commandsTexts } from '../../features/commands/commands.texts.ts'
import type { sealingTexts } from '../../features/commands/sealing.texts.ts'
import type { identityTexts } from '../../features/identity/identity.texts.ts'
import type { limitsTexts } from '../../features/identity/limits.texts.ts'
import type { passkeysTexts } from '../../features/identity/passkeys.texts.ts'
import type { inviteTexts } from '../../features/invite/invite.texts.ts'
import type { ipTexts } from '../../features/ip/ip.texts.ts'
import type { overviewTexts } from '../../features/overview/overview.texts.ts'
import type { portknockTexts } from '../../features/portknock/portknock.texts.ts'
import type { guardTexts } from '../../features/server/guard.texts.ts'
import type { serverTexts } from '../../features/server/server.texts.ts'
import type { serversTexts } from '../../features/servers/servers.texts.ts'
import type { setUpTexts } from '../../features/set-up/set-up.texts.ts'
import type { alertChannelsTexts } from '../../features/alerts/alert-channels.texts.ts'
import type { backupTexts } from '../../features/settings/backup.texts.ts'
import type { licenceTexts } from '../../features/settings/licence.texts.ts'
import type { agentAddressTexts } from '../../features/agent-address/agent-address.texts.ts'
import type { agentsTexts } from '../../features/settings/agents.texts.ts'
import type { notificationsTexts } from '../../features/settings/notifications.texts.ts'
import type { settingsTexts } from '../../features/settings/settings.texts.ts'
import type { siemTexts } from '../../features/siem/siem.texts.ts'
import type { enrolTexts } from '../../features/sign-in/enrol.texts.ts'
import type { secondFactorTexts } from '../../features/sign-in/second-factor.texts.ts'
import type { signInTexts } from '../../features/sign-in/sign-in.texts.ts'
import type { templatesTexts } from '../../features/templates/templates.texts.ts'
import type { usersTexts } from '../../features/users/users.texts.ts'
import type { endsTexts } from '../../features/whitelist/ends.texts.ts'
import type { blocklistsTexts } from '../../features/blocklists/blocklists.texts.ts'
import type { feedsTexts } from '../../features/feeds/feeds.texts.ts'
import type { fleetBansTexts } from '../../features/fleet-bans/fleet-bans.texts.ts'
import type { reportsTexts } from '../../features/reports/reports.texts.ts'
import type { previewTexts } from '../../features/templates/preview.texts.ts'
import type { rulesTexts } from '../../features/sharing-rules/sharing-rules.texts.ts'
import type { whitelistTexts } from '../../features/whitelist/whitelist.texts.ts'
import type { commandTexts } from '../../kit/command.texts.ts'
import type { durationTexts } from '../../kit/duration.texts.ts'
import type { formTexts } from '../../kit/form.texts.ts'
import type { keysTexts } from '../../kit/keys.texts.ts'
import type { stepsTexts } from '../../kit/steps.texts.ts'
import type { timeRangeTexts } from '../../kit/time-range.texts.ts'
import type { viewsTexts } from '../../kit/views.texts.ts'
import type { queryTexts } from '../../kit/search/query.texts.ts'
import type { searchTexts } from '../../kit/search/search.texts.ts'
import type { activityTexts } from '../shell/activity.texts.ts'
import type { findTexts } from '../shell/find/find.texts.ts'
import type { noticesTexts } from '../shell/notices.texts.ts'
import type { shellTexts } from '../../features/navigation/shell.texts.ts'
import type { toastsTexts } from '../shell/toasts.texts.ts'
import type { commonTexts } from '../../lib/texts/common.texts.ts'
import type { timeTexts } from '../../lib/time.texts.ts'

type Of<C> = C extends Catalogue<infer T> ? T : never

/** Every catalogue by its name. A language is complete when it has them all: a test compares the names with the files. */
export interface Texts {
  duration: Of<typeof durationTexts>
  form: Of<typeof formTexts>
  charts: Of<typeof chartsTexts>
  fleet: Of<typeof fleetTexts>
  protection: Of<typeof protectionTexts>
  targets: Of<typeof targetsTexts>
  undo: Of<typeof undoTexts>
  account: Of<typeof accountTexts>
  preferences: Of<typeof preferencesTexts>
  'add-server': Of<typeof addServerTexts>
  'rotate-key': Of<typeof rotateKeyTexts>
  'enrolment-tokens': Of<typeof enrolmentTokensTexts>
  audit: Of<typeof auditTexts>
  'ban-dialog': Of<typeof banDialogTexts>
  bans: Of<typeof bansTexts>
  reasons: Of<typeof reasonsTexts>
  attackers: Of<typeof attackersTexts>
  commands: Of<typeof commandsTexts>
  identity: Of<typeof identityTexts>
  passkeys: Of<typeof passkeysTexts>
  sealing: Of<typeof sealingTexts>
  guard: Of<typeof guardTexts>
  limits: Of<typeof limitsTexts>
  invite: Of<typeof inviteTexts>
  ip: Of<typeof ipTexts>
  overview: Of<typeof overviewTexts>
  portknock: Of<typeof portknockTexts>
  preview: Of<typeof previewTexts>
  server: Of<typeof serverTexts>
  servers: Of<typeof serversTexts>
  'set-up': Of<typeof setUpTexts>
  alerts: Of<typeof alertsTexts>
  'alert-channels': Of<typeof alertChannelsTexts>
  backup: Of<typeof backupTexts>
  licence: Of<typeof licenceTexts>
  agents: Of<typeof agentsTexts>
  'agent-address': Of<typeof agentAddressTexts>
  notifications: Of<typeof notificationsTexts>
  settings: Of<typeof settingsTexts>
  siem: Of<typeof siemTexts>
  enrol: Of<typeof enrolTexts>
  'second-factor': Of<typeof secondFactorTexts>
  'sign-in': Of<typeof signInTexts>
  templates: Of<typeof templatesTexts>
  users: Of<typeof usersTexts>
  ends: Of<typeof endsTexts>
  feeds: Of<typeof feedsTexts>
  'fleet-bans': Of<typeof fleetBansTexts>
  'sharing-rules': Of<typeof rulesTexts>
  reports: Of<typeof reportsTexts>
  blocklists: Of<typeof blocklistsTexts>
  whitelist: Of<typeof whitelistTexts>
  command: Of<typeof commandTexts>
  keys: Of<typeof keysTexts>
  steps: Of<typeof stepsTexts>
  'time-range': Of<typeof timeRangeTexts>
  views: Of<typeof viewsTexts>
  search: Of<typeof searchTexts>
  query: Of<typeof queryTexts>
  activity: Of<typeof activityTexts>
  find: Of<typeof findTexts>
  notices: Of<typeof noticesTexts>
  shell: Of<typeof shellTexts>
  toasts: Of<typeof toastsTexts>
  common: Of<typeof commonTexts>
  time: Of<typeof timeTexts>
}
/** Those of the pages about many servers and about alerts; they travel in a third file. */
export type Policy =
  | 'alerts'
  | 'alert-channels'
  | 'blocklists'
  | 'enrolment-tokens'
  | 'feeds'
  | 'fleet-bans'
  | 'preview'
  | 'reports'
  | 'sharing-rules'
/** Those that nearly everybody needs at once; the others travel in a second file. */
export type First =
  | 'charts'
  | 'fleet'
  | 'protection'
  | 'targets'
  | 'undo'
  | 'add-server'
  | 'ban-dialog'
  | 'bans'
  | 'reasons'
  | 'attackers'
  | 'ends'
  | 'invite'
  | 'ip'
  | 'overview'
  | 'portknock'
  | 'server'
  | 'servers'
  | 'set-up'
  | 'enrol'
  | 'second-factor'
  | 'passkeys'
  | 'sealing'
  | 'guard'
  | 'limits'
  | 'sign-in'
  | 'command'
  | 'search'
  | 'activity'
  | 'find'
  | 'notices'
  | 'shell'
  | 'toasts'
  | 'common'
  | 'time'
