import type { PasskeyResponse, ReplyOf, auth } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import type { UserActor } from '../../core/actor.ts'
import type { Change } from '../../events/events.ts'
import type { PasskeysService } from '../passkeys/passkeys.service.ts'
import type { Factor } from '../users/factors.ts'
import type { UserRow } from '../users/users.store.ts'

/** Where a sign-in comes from. */
export interface Visitor {
  readonly ip: string
  readonly userAgent: string
}
export interface SignIn {
  readonly cookie: string
  readonly reply: {
    access_token: string
    refresh_token: string
    expires_in: number
    user: { id: number; username: string; email: string; role: UserRow['role'] }
    mfa_setup_required?: boolean
  }
}
export interface SetUp {
  readonly code: string
  readonly username: string
  readonly email: string
  readonly password: string
  readonly site_url?: string
  readonly timezone?: string
  readonly refuse_common?: boolean
}

/** The password was right and a second factor is wanted. */
export interface HalfSignIn {
  readonly reply: { mfa_required: true; mfa_token: string; methods: Factor[] }
}
export interface SessionView {
  readonly id: string
  readonly ip_address: string
  readonly user_agent: string
  readonly created_at: string
  readonly last_activity: string
  readonly current: boolean
}
/** How somebody signed in. */
export type Method = 'password' | 'mfa' | 'passkey' | 'provider_a' | 'provider_b'

export interface SessionsService {
  login(typed: { username: string; password: string }, from: Visitor): Promise<SignIn | HalfSignIn>
  verifyMfa(typed: { mfa_token: string; code: string }, from: Visitor): Promise<SignIn>
  /** What a browser asks a passkey with: any of this site, or one of the user whose password was right. */
  beginPasskey(mfaToken: string | undefined): ReturnType<PasskeysService['begin']>
  finishPasskey(answer: { response: PasskeyResponse; mfa_token?: string }, from: Visitor): Promise<SignIn>
  /** What a browser asks one's own passkeys with, to prove again who one is. */
  beginProof(actor: UserActor): ReturnType<PasskeysService['begin']>
  /** A session for somebody whom a provider vouches for. */
  begin(user: UserRow, from: Visitor, method: Method): Promise<SignIn>
  /** Changes one's own password and ends one's other sessions. */
  changePassword(
    actor: UserActor,
    typed: { current_password: string; new_password: string; refuse_common?: boolean },
  ): Promise<void>
  listOf(userId: number, current: string | null): Promise<SessionView[]>
  /** False when the user has no such session. */
  end(author: Author, userId: number, sessionId: string): Promise<boolean>
  /** Inside a change: ends a user's sessions but the given one, and says how many. */
  endAll(change: Change, userId: number, except: string | null): Promise<number>
  refresh(refreshToken: string): Promise<{ access_token: string; expires_in: number }>
  logout(actor: UserActor): Promise<void>
  /** The caller's account, without what concerns the fleet. */
  me(
    actor: UserActor,
    version: string,
  ): Promise<Omit<ReplyOf<typeof auth.me>, 'server_count' | 'own_unban' | 'addresses'>>
  setUp(input: SetUp, from: Visitor): Promise<SignIn>
  setupRequired(): Promise<boolean>
  /** Whom an invitation is for. @throws Problem 401 when it was used, replaced or is too old. */
  invited(code: string): Promise<{ username: string; expires_at: string; mfa_required: boolean }>
  /** Sets the password of an invited user and signs in. */
  acceptInvite(typed: { code: string; password: string; refuse_common?: boolean }, from: Visitor): Promise<SignIn>
  /** `quietly`: it counts as no activity of the session. */
  byToken(token: string, ip: string, quietly?: boolean): Promise<UserActor | null>
  byCookie(value: string, ip: string, quietly?: boolean): Promise<UserActor | null>
  flush(): Promise<void>
  /** Forgets sessions that have ended. */
  sweep(): Promise<void>
}
