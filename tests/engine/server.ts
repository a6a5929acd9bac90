/** The server as the scenarios see it: the recorder of these tests, or the real one. */
export interface ServerUnderTest {
  /** Where a host reaches it. */
  url(host: { readonly gateway: string }): string
  /** A server entry and the one-time token to enrol its agent with. */
  addServer(hostname: string): Promise<{ serverId: string; token: string }>
  /** Every ban reported by that server, oldest first. */
  bans(serverId: string): Promise<ReportedBan[]>
  /** The engine version of the last heartbeat ("" while fail2ban is down); null before the first. */
  engineVersion(serverId: string): Promise<string | null>
  jails(serverId: string): Promise<ReportedJail[]>
  /** Queues a command; its id. */
  order(serverId: string, type: string, params?: Record<string, unknown>): Promise<string>
  /** What came of it; null while there is no result. */
  outcome(commandId: string): Promise<{ success: boolean; output: string } | null>
  /** Away and back, at the same address, with what it knew. */
  down(): Promise<void>
  up(): Promise<void>
  close(): Promise<void>
}

export interface ReportedJail {
  readonly name: string
  readonly enabled: boolean
  readonly current_bans: number
  readonly other_ids?: { readonly count: number; readonly ids: readonly string[] } | null
}
export interface ReportedBan {
  readonly ip: string
  readonly jail: string
  readonly log_lines: string
  readonly ban_duration: number | null
  readonly banned_at: string
  readonly unbanned_at: string | null
  /** When the server had it, epoch milliseconds. */
  readonly received_at: number
}
