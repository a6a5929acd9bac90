import type * as accounts from './tables/accounts.ts'
import type * as bans from './tables/bans.ts'
import type * as commands from './tables/commands.ts'
import type * as knock from './tables/knock.ts'
import type * as messages from './tables/messages.ts'
import type * as policy from './tables/policy.ts'
import type * as servers from './tables/servers.ts'
import type * as service from './tables/service.ts'
import type * as siem from './tables/siem.ts'

/*
 * Every table by name; the columns are in tables/, by area. Times are integer epoch milliseconds, booleans 0 or 1, JSON is text: the subset that
 * SQLite and PostgreSQL share. `server_no`, `jail_id` and `country_id` are small integers because every index holds them.
 */

export interface Schema {
  meta: service.MetaTable
  settings: service.SettingsTable
  users: accounts.UsersTable
  user_preferences: accounts.UserPreferencesTable
  user_servers: accounts.UserServersTable
  mfa_backup_codes: accounts.MfaBackupCodesTable
  mfa_tokens: accounts.MfaTokensTable
  passkeys: accounts.PasskeysTable
  passkey_challenges: accounts.PasskeyChallengesTable
  failed_attempts: accounts.FailedAttemptsTable
  known_networks: accounts.KnownNetworksTable
  oauth_states: accounts.OauthStatesTable
  sessions: accounts.SessionsTable
  api_keys: accounts.ApiKeysTable
  key_changes: accounts.KeyChangesTable
  servers: servers.ServersTable
  heartbeats: servers.HeartbeatsTable
  metrics_hours: servers.MetricsHoursTable
  server_totals: servers.ServerTotalsTable
  server_quotas: servers.ServerQuotasTable
  jails: bans.JailsTable
  countries: bans.CountriesTable
  networks: bans.NetworksTable
  bans: bans.BansTable
  late_bans: bans.LateBansTable
  active_bans: bans.ActiveBansTable
  ban_cube: bans.BanCubeTable
  ban_fleet: bans.BanFleetTable
  ban_hours_jail: bans.BanHoursJailTable
  ban_hours_country: bans.BanHoursCountryTable
  ban_hours_server: bans.BanHoursServerTable
  ban_fleet_hours: bans.BanFleetHoursTable
  ban_fleet_days_jail: bans.BanFleetDaysJailTable
  ban_fleet_days_country: bans.BanFleetDaysCountryTable
  ban_days_jail: bans.BanDaysJailTable
  ban_days_country: bans.BanDaysCountryTable
  rolled_up: bans.RolledUpTable
  rolled_last_bans: bans.RolledLastBansTable
  commands: commands.CommandsTable
  templates: commands.TemplatesTable
  template_snapshots: commands.TemplateSnapshotsTable
  whitelist: policy.WhitelistTable
  whitelist_state: policy.WhitelistStateTable
  whitelist_names: policy.WhitelistNamesTable
  enrolment_tokens: servers.EnrolmentTokensTable
  enrolments: servers.EnrolmentsTable
  host_states: servers.HostStatesTable
  agent_addresses: servers.AgentAddressesTable
  agent_moves: servers.AgentMovesTable
  rules: policy.RulesTable
  rule_matches: policy.RuleMatchesTable
  feeds: policy.FeedsTable
  feeds_sent: policy.FeedsSentTable
  report_schedules: messages.ReportSchedulesTable
  agent_rollouts: servers.AgentRolloutsTable
  agent_rollout_hosts: servers.AgentRolloutHostsTable
  fleet_bans: policy.FleetBansTable
  fleet_state: policy.FleetStateTable
  fleet_hosts: policy.FleetHostsTable
  fleet_tags: policy.FleetTagsTable
  server_tags: servers.ServerTagsTable
  blocklists: policy.BlocklistsTable
  blocklist_contents: policy.BlocklistContentsTable
  blocklist_state: policy.BlocklistStateTable
  blocklist_hosts: policy.BlocklistHostsTable
  blocklist_coverage: policy.BlocklistCoverageTable
  blocklist_hits: policy.BlocklistHitsTable
  events: service.EventsTable
  audit: service.AuditTable
  audit_chain: service.AuditChainTable
  audit_checkpoints: service.AuditCheckpointsTable
  cursors: service.CursorsTable
  reputation_reports: messages.ReputationReportsTable
  reputation_addresses: messages.ReputationAddressesTable
  leases: service.LeasesTable
  notifications: messages.NotificationsTable
  notification_overflow: messages.NotificationOverflowTable
  notification_channels: messages.NotificationChannelsTable
  alert_rules: messages.AlertRulesTable
  alert_states: messages.AlertStatesTable
  alert_routes: messages.AlertRoutesTable
  alert_silences: messages.AlertSilencesTable
  channels: messages.ChannelsTable
  channel_deliveries: messages.ChannelDeliveriesTable
  knock_sequences: knock.KnockSequencesTable
  knock_sequence_servers: knock.KnockSequenceServersTable
  knock_openings: knock.KnockOpeningsTable
  knock_blocked: knock.KnockBlockedTable
  knock_history: knock.KnockHistoryTable
  siem_queue: siem.SiemQueueTable
  siem_state: siem.SiemStateTable
  siem_deliveries: siem.SiemDeliveriesTable
  siem_counts: siem.SiemCountsTable
  siem_spans: siem.SiemSpansTable
  siem_replays: siem.SiemReplaysTable
}
