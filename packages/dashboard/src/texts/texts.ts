import type { Catalogue } from './catalogue.ts'
import type { chartsTexts } from '../charts/charts.texts.ts'
import type { fleetTexts } from '../fleet/fleet.texts.ts'
import type { protectionTexts } from '../fleet/protection.texts.ts'
import type { undoTexts } from '../fleet/undo.texts.ts'
import type { accountTexts } from '../pages/account/account.texts.ts'
import type { preferencesTexts } from '../pages/account/preferences.texts.ts'
import type { addServerTexts } from '../pages/add-server/add-server.texts.ts'
import type { rotateKeyTexts } from '../pages/add-server/rotate-key.texts.ts'
import type { auditTexts } from '../pages/audit/audit.texts.ts'
import type { banDialogTexts } from '../pages/bans/ban-dialog.texts.ts'
import type { bansTexts } from '../pages/bans/bans.texts.ts'
import type { commandsTexts } from '../pages/commands/commands.texts.ts'
import type { sealingTexts } from '../pages/commands/sealing.texts.ts'
import type { identityTexts } from '../pages/identity/identity.texts.ts'
import type { limitsTexts } from '../pages/identity/limits.texts.ts'
import type { passkeysTexts } from '../pages/identity/passkeys.texts.ts'
import type { inviteTexts } from '../pages/invite/invite.texts.ts'
import type { ipTexts } from '../pages/ip/ip.texts.ts'
import type { overviewTexts } from '../pages/overview/overview.texts.ts'
import type { portknockTexts } from '../pages/portknock/portknock.texts.ts'
import type { guardTexts } from '../pages/server/guard.texts.ts'
import type { serverTexts } from '../pages/server/server.texts.ts'
import type { serversTexts } from '../pages/servers/servers.texts.ts'
import type { setUpTexts } from '../pages/set-up/set-up.texts.ts'
import type { backupTexts } from '../pages/settings/backup.texts.ts'
import type { licenceTexts } from '../pages/settings/licence.texts.ts'
import type { notificationsTexts } from '../pages/settings/notifications.texts.ts'
import type { settingsTexts } from '../pages/settings/settings.texts.ts'
import type { siemTexts } from '../pages/siem/siem.texts.ts'
import type { enrolTexts } from '../pages/sign-in/enrol.texts.ts'
import type { secondFactorTexts } from '../pages/sign-in/second-factor.texts.ts'
import type { signInTexts } from '../pages/sign-in/sign-in.texts.ts'
import type { templatesTexts } from '../pages/templates/templates.texts.ts'
import type { usersTexts } from '../pages/users/users.texts.ts'
import type { endsTexts } from '../pages/whitelist/ends.texts.ts'
import type { whitelistTexts } from '../pages/whitelist/whitelist.texts.ts'
import type { commandTexts } from '../parts/command.texts.ts'
import type { keysTexts } from '../parts/keys.texts.ts'
import type { stepsTexts } from '../parts/steps.texts.ts'
import type { timeRangeTexts } from '../parts/time-range.texts.ts'
import type { viewsTexts } from '../parts/views.texts.ts'
import type { queryTexts } from '../search/query.texts.ts'
import type { searchTexts } from '../search/search.texts.ts'
import type { activityTexts } from '../shell/activity.texts.ts'
import type { findTexts } from '../shell/find/find.texts.ts'
import type { noticesTexts } from '../shell/notices.texts.ts'
import type { shellTexts } from '../shell/shell.texts.ts'
import type { toastsTexts } from '../shell/toasts.texts.ts'
import type { commonTexts } from './common.texts.ts'
import type { timeTexts } from '../words/time.texts.ts'

type Of<C> = C extends Catalogue<infer T> ? T : never

/** Every catalogue by its name. A language is complete when it has them all: a test compares the names with the files. */
export interface Texts {
  charts: Of<typeof chartsTexts>
  fleet: Of<typeof fleetTexts>
  protection: Of<typeof protectionTexts>
  undo: Of<typeof undoTexts>
  account: Of<typeof accountTexts>
  preferences: Of<typeof preferencesTexts>
  'add-server': Of<typeof addServerTexts>
  'rotate-key': Of<typeof rotateKeyTexts>
  audit: Of<typeof auditTexts>
  'ban-dialog': Of<typeof banDialogTexts>
  bans: Of<typeof bansTexts>
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
  server: Of<typeof serverTexts>
  servers: Of<typeof serversTexts>
  'set-up': Of<typeof setUpTexts>
  backup: Of<typeof backupTexts>
  licence: Of<typeof licenceTexts>
  notifications: Of<typeof notificationsTexts>
  settings: Of<typeof settingsTexts>
  siem: Of<typeof siemTexts>
  enrol: Of<typeof enrolTexts>
  'second-factor': Of<typeof secondFactorTexts>
  'sign-in': Of<typeof signInTexts>
  templates: Of<typeof templatesTexts>
  users: Of<typeof usersTexts>
  ends: Of<typeof endsTexts>
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
/** Those that nearly everybody needs at once; the others travel in a second file. */
export type First =
  | 'charts'
  | 'fleet'
  | 'protection'
  | 'undo'
  | 'add-server'
  | 'ban-dialog'
  | 'bans'
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
