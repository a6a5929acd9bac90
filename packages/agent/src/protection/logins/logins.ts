/** What one source recorded since it was asked last: the canonical address of each login of SSH. */
export interface Logins {
  readonly failed: readonly string[]
  readonly accepted: readonly string[]
}

/** A source of logins. What was recorded before it was made is in none. Never throws. */
export type LoginSource = () => Promise<Logins>

export const noLogins: Logins = { failed: [], accepted: [] }
