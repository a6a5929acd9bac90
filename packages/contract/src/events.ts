/** Ids of SIEM event types with their default severities (0 to 10). */
export const siemTypes = {
  ban: 5,
  unban: 2,
  server_offline: 8,
  login_success: 1,
  login_failed: 6,
  whitelist_add: 3,
  whitelist_remove: 3,
  settings_change: 4,
} as const
/**
 * Additional types, off unless a receiver asks for them. `protection`: a server changed its level of protection. `audit`: every
 * entry of the audit log that has no type of its own.
 */
export const additionalSiemTypes = { protection: 7, audit: 3 } as const
export const allSiemTypes = { ...siemTypes, ...additionalSiemTypes } as const
export type SiemType = keyof typeof allSiemTypes

export interface EventKind {
  /** Stands in the audit log. */
  readonly audited: boolean
  /** Forwarded to a SIEM as this type. */
  readonly siem?: SiemType
  /** The switch of chat and e-mail by which it is told as it happens. Problems are told by the rules of alerts. */
  readonly notify?: 'notify_bans' | 'notify_syncs'
  /** Sent to live feeds as this message, to callers who may see its server. */
  readonly live?: 'ban' | 'unban' | 'server' | 'command' | 'whitelist' | 'notice' | 'fleet_ban' | 'blocklist'
}

const kind = (value: EventKind): EventKind => value
const audit = kind({ audited: true })

/**
 * The catalogue of everything that is recorded, one line a kind. Names are those of the audit log;
 * other events follow the same naming. An event is written in the transaction of its change.
 */
export const eventKinds = {
  'ban.report': kind({ audited: false, siem: 'ban', notify: 'notify_bans', live: 'ban' }),
  'ban.end': kind({ audited: false, siem: 'unban', live: 'unban' }),
  /** The host moved the end of a ban. */
  'ban.change': kind({ audited: false }),
  'ban.create': audit,
  'ban.remove': audit,
  'ban.reputation': audit,
  // A user lifted the ban of the address that the user comes from.
  'ban.own_unban': audit,
  'server.create': kind({ audited: true, live: 'server' }),
  'server.update': kind({ audited: true, live: 'server' }),
  'server.tags': kind({ audited: true, live: 'server' }),
  'server.delete': kind({ audited: true, live: 'server' }),
  'server.regenerate_token': audit,
  'server.enroll': kind({ audited: true, live: 'server' }),
  'server.enroll_refused': audit,
  'server.enrolment_token': audit,
  'server.enrolment_token_revoke': audit,
  // A token for many hosts is used up, was refused many times, or came from outside of its networks.
  'server.enrolment_token_warn': audit,
  'server.farewell': kind({ audited: true, live: 'server' }),
  'server.quota': kind({ audited: true, live: 'notice' }),
  'server.quarantine': kind({ audited: true, live: 'server' }),
  'server.release': kind({ audited: true, live: 'server' }),
  'server.forget_reports': kind({ audited: true, live: 'server' }),
  'server.clone': kind({ audited: true, live: 'notice' }),
  'server.clone_settled': kind({ audited: true, live: 'server' }),
  'server.online': kind({ audited: false, live: 'server' }),
  'server.offline': kind({ audited: false, siem: 'server_offline', live: 'server' }),
  'server.protection': kind({ audited: true, siem: 'protection', live: 'server' }),
  'server.self_test': kind({ audited: false, live: 'server' }),
  'server.jails': kind({ audited: false, live: 'server' }),
  'command.create': kind({ audited: true, live: 'command' }),
  'command.cancel': kind({ audited: true, live: 'command' }),
  'command.retry': kind({ audited: true, live: 'command' }),
  'command.start': kind({ audited: false, live: 'command' }),
  'command.finish': kind({ audited: false, live: 'command' }),
  'auth.login': kind({ audited: true, siem: 'login_success' }),
  'auth.login_failed': kind({ audited: true, siem: 'login_failed' }),
  // So many wrong passwords for one account in a day that only networks that it knows may go on.
  'auth.guessing': kind({ audited: true, live: 'notice' }),
  'auth.logout': audit,
  'auth.password_change': audit,
  // A session proved again who it is.
  'auth.step_up': audit,
  // A change that a signed-in user may not make.
  'access.refused': audit,
  // How long the chain of the audit log is, signed.
  'audit.checkpoint': audit,
  // A scheduled backup was made, failed, and was restored on trial.
  'backup.create': audit,
  'backup.fail': kind({ audited: true, live: 'notice' }),
  'backup.verify': audit,
  'backup.verify_fail': kind({ audited: true, live: 'notice' }),
  'mfa.enable': audit,
  'mfa.disable': audit,
  'mfa.reset': audit,
  'mfa.backup_codes': audit,
  'passkey.create': audit,
  'passkey.update': audit,
  'passkey.delete': audit,
  'user.create': audit,
  'user.update': audit,
  'user.delete': audit,
  'user.invite': audit,
  'user.accept_invite': audit,
  'user.reset_password': audit,
  'user.server_access': audit,
  'session.end': audit,
  'key.create': audit,
  'key.delete': audit,
  'fleet_ban.create': kind({ audited: true, live: 'fleet_ban' }),
  'fleet_ban.update': kind({ audited: true, live: 'fleet_ban' }),
  'fleet_ban.delete': kind({ audited: true, live: 'fleet_ban' }),
  'fleet_ban.expire': kind({ audited: false, live: 'fleet_ban' }),
  // Hosts confirmed or refused fleet bans; at most one a second.
  'fleet_ban.progress': kind({ audited: false, live: 'fleet_ban' }),
  'rule.create': audit,
  'rule.update': audit,
  'rule.delete': audit,
  'rule.arm': audit,
  'rule.disarm': audit,
  // The rule met a limit and stopped by itself.
  'rule.trip': kind({ audited: true, live: 'notice' }),
  'feed.create': audit,
  'feed.update': audit,
  'feed.rotate': audit,
  // Bans are left out of a feed, since one server or one moment brought too many; once a day for each feed.
  'feed.limit': audit,
  'feed.delete': audit,
  'report.create': audit,
  'report.update': audit,
  'report.delete': audit,
  'list.preview': audit,
  'list.create': kind({ audited: true, live: 'blocklist' }),
  'list.update': kind({ audited: true, live: 'blocklist' }),
  'list.delete': kind({ audited: true, live: 'blocklist' }),
  // Another version of a list is in force.
  'list.fetch': kind({ audited: false, live: 'blocklist' }),
  // A new version was not applied; the last good one stays.
  'list.refuse': kind({ audited: true, live: 'blocklist' }),
  // No look at the source succeeded for three intervals.
  'list.stale': kind({ audited: true, live: 'blocklist' }),
  // Hosts confirmed or refused lists; at most one a second.
  'list.progress': kind({ audited: false, live: 'blocklist' }),
  'agents.move': audit,
  // A host tries, keeps or left the ordered address.
  'server.move': kind({ audited: false, live: 'server' }),
  'rollout.create': audit,
  'rollout.pause': audit,
  // The rollout stopped by itself, because too many servers failed.
  'rollout.stop': audit,
  'rollout.resume': audit,
  'rollout.abort': audit,
  'rollout.end': audit,
  'whitelist.add': kind({ audited: true, siem: 'whitelist_add', notify: 'notify_syncs', live: 'whitelist' }),
  'whitelist.update': kind({ audited: true, live: 'whitelist' }),
  'whitelist.remove': kind({ audited: true, siem: 'whitelist_remove', notify: 'notify_syncs', live: 'whitelist' }),
  'whitelist.sync': kind({ audited: true, notify: 'notify_syncs', live: 'whitelist' }),
  'whitelist.synced': kind({ audited: false, live: 'whitelist' }),
  'whitelist.name_create': kind({ audited: true, live: 'whitelist' }),
  'whitelist.name_delete': kind({ audited: true, live: 'whitelist' }),
  // A DNS name has other addresses. The entries are told apart from it.
  'whitelist.name_resolve': kind({ audited: true, live: 'whitelist' }),
  // A DNS name answered what is not taken, led to a banned address, or has not been resolved for a day.
  'whitelist.name_warn': kind({ audited: true, live: 'whitelist' }),
  'template.create': audit,
  'template.update': audit,
  'template.delete': audit,
  'template.deploy': audit,
  'template.remove': audit,
  'settings.update': kind({ audited: true, siem: 'settings_change' }),
  'settings.import': kind({ audited: true, siem: 'settings_change' }),
  'license.activate': audit,
  'alert.ack': audit,
  'alert_rule.create': audit,
  'alert_rule.update': audit,
  'alert_rule.delete': audit,
  'alert_routes.update': audit,
  'alert_silence.create': audit,
  'alert_silence.delete': audit,
  'channel.create': audit,
  'channel.update': audit,
  'channel.delete': audit,
  'siem.update': kind({ audited: true, siem: 'settings_change' }),
  'siem.test': audit,
  'siem.flush': audit,
  'siem.discard': audit,
  'siem.replay': audit,
  'portknock.create': audit,
  'portknock.update': audit,
  'portknock.delete': audit,
  'portknock.knock': audit,
  'portknock.close': audit,
  'portknock.unblock': audit,
} as const satisfies Record<string, EventKind>
export type EventName = keyof typeof eventKinds
