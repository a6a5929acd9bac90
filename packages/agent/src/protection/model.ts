import type { CheckState, ProtectionCheckId, ProtectionLevel, ProtectionReport } from '@stockade/contract'

export type { ProtectionLevel, ProtectionReport }

/** `unknown`: the check could not be done. */
export type State = 'ok' | CheckState

/** The worst first. */
export const severity = { bad: 0, warning: 1, unknown: 2, ok: 3 } as const

/** What one look found about one subject. */
export interface Finding {
  /** Such as the name of a jail; null for the whole host. */
  readonly subject: string | null
  readonly state: State
  /** What is wrong, in one sentence for people; empty while all is well. */
  readonly detail: string
}

/** Something that is looked at again and again. All times are in milliseconds. */
export interface Check {
  readonly id: ProtectionCheckId
  readonly every: number
  /** A problem counts after this time, and after this number of looks in a row. */
  readonly badAfter: number
  readonly looks: number
  /** Says nothing while fail2ban is down, and a problem waits while fail2ban starts or reloads. */
  readonly needsEngine: boolean
  /**
   * A subject that is missing from the answer is fine. Null: it was not looked at now, so what is known stays.
   *
   * @throws EngineDown if fail2ban went away; any other error is a failure of the check
   */
  look(): Promise<readonly Finding[] | null>
  /** fail2ban was started again, or a jail was reloaded: what was kept of earlier answers may be wrong. */
  forget?(): void
}

/** A subject with the state that is reported. */
export interface Entry extends Finding {
  readonly id: ProtectionCheckId
  readonly needsEngine: boolean
  readonly since: number
  /** The check itself fails, so nobody knows whether the host is protected. */
  readonly isFailure: boolean
}

export const ok = (subject: string | null): Finding => ({ subject, state: 'ok', detail: '' })
export const bad = (subject: string | null, detail: string): Finding => ({ subject, state: 'bad', detail })
export const warning = (subject: string | null, detail: string): Finding => ({ subject, state: 'warning', detail })
export const unknown = (subject: string | null, detail: string): Finding => ({ subject, state: 'unknown', detail })
