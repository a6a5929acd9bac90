/** What is in force of what the host was given. */
export interface FleetReport {
  readonly version: number
  readonly held: number
  readonly digest: string
  readonly refused: readonly { readonly id: number; readonly reason: string }[]
  readonly notCovered: string | null
  /** Why fail2ban holds the bans instead of the kernel; null where the kernel does. */
  readonly fallback: string | null
}
