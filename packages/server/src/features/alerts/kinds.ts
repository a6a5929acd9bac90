import type { AlertKind, AlertSeverity, ConditionKind } from '@stockade/contract'

export interface KindDefaults {
  readonly name: string
  readonly severity: AlertSeverity
  /** Seconds that the condition must hold. */
  readonly for: number
  /** It happens and is over at once: it is shown for ten minutes, and its end is not told. */
  readonly isEvent?: true
}

export const kindDefaults: Readonly<Record<AlertKind, KindDefaults>> = {
  'server-unprotected': { name: 'Server unprotected', severity: 'critical', for: 20 },
  'server-degraded': { name: 'Server degraded', severity: 'warning', for: 300 },
  'server-silent': { name: 'Server silent', severity: 'critical', for: 0 },
  'engine-down': { name: 'fail2ban down', severity: 'critical', for: 30 },
  'whitelist-drift': { name: 'Whitelist not applied', severity: 'warning', for: 120 },
  'whitelist-failed': { name: 'Whitelist not taken over', severity: 'warning', for: 0, isEvent: true },
  'whitelist-name': { name: 'Look at a whitelisted name', severity: 'warning', for: 0, isEvent: true },
  'shield-drift': { name: 'Firewall not as it should be', severity: 'warning', for: 120 },
  'agent-cloned': { name: 'Two servers with one identity', severity: 'critical', for: 0 },
  'server-quarantined': { name: 'Server in quarantine', severity: 'info', for: 0 },
  'quota-used-up': { name: 'Report quota used up', severity: 'warning', for: 0, isEvent: true },
  'command-failed': { name: 'Command failed', severity: 'warning', for: 0, isEvent: true },
  'rollout-paused': { name: 'Agent upgrade paused', severity: 'warning', for: 0, isEvent: true },
  'agent-not-moved': { name: 'Server did not move to the new URL', severity: 'warning', for: 0 },
  'password-guessed': { name: 'Password guessing', severity: 'warning', for: 0, isEvent: true },
  'enrolment-token': { name: 'Look at an enrolment token', severity: 'warning', for: 0, isEvent: true },
  'rule-stopped': { name: 'Sharing rule stopped', severity: 'warning', for: 0, isEvent: true },
  'list-refused': { name: 'Blocklist not applied', severity: 'warning', for: 0, isEvent: true },
  'list-stale': { name: 'Blocklist out of date', severity: 'warning', for: 0, isEvent: true },
  'feed-cut': { name: 'Feed leaves bans out', severity: 'warning', for: 0, isEvent: true },
  'own-unban': { name: 'Own ban lifted', severity: 'warning', for: 0, isEvent: true },
  'notifications-stuck': { name: 'Messages not delivered', severity: 'warning', for: 0 },
  'siem-stuck': { name: 'SIEM not reached', severity: 'warning', for: 0 },
  'storage-slow': { name: 'Storage slow', severity: 'warning', for: 30 },
  'storage-full': { name: 'Disk nearly full', severity: 'critical', for: 60 },
  'backup-missing': { name: 'Backup missing', severity: 'warning', for: 3600 },
  'backup-failed': { name: 'Backup failed', severity: 'warning', for: 0, isEvent: true },
  'backup-unusable': { name: 'Backup not restorable', severity: 'critical', for: 0, isEvent: true },
  'licence-ending': { name: 'Licence ends soon', severity: 'warning', for: 0 },
  'certificate-ending': { name: 'Certificate ends soon', severity: 'warning', for: 0 },
  'bans-over': { name: 'Many bans', severity: 'warning', for: 0 },
  'bans-unusual': { name: 'Unusually many bans', severity: 'warning', for: 0 },
  'new-jail': { name: 'New jail', severity: 'info', for: 0, isEvent: true },
  'near-whitelist': { name: 'Ban beside the whitelist', severity: 'warning', for: 0, isEvent: true },
}

/** Kinds that say the same with less: they are shown, and not told while the other one fires for the server. */
export const coveredBy: Readonly<Partial<Record<AlertKind, ConditionKind>>> = {
  'engine-down': 'server-unprotected',
  'server-degraded': 'server-unprotected',
  'shield-drift': 'server-unprotected',
  'whitelist-drift': 'whitelist-failed',
}

/** A condition that holds now. */
export interface Finding {
  /** Distinguishes the findings of a rule, and stays the same while the condition holds. */
  readonly subject: string
  readonly serverNo: number | null
  readonly title: string
  readonly detail: string
  /** When it happened, of events. */
  readonly at?: number
}
