import type { Generated } from 'kysely'
import type { KeyScope } from '@stockade/contract'
import type { JsonText } from '../../core/json-text.ts'

export interface UsersTable {
  id: Generated<number>
  username: string
  /** Lower case, unique: names that differ by case only would be taken for one another. */
  username_key: string
  email: string
  email_key: string
  password_hash: string | null
  role: 'Admin' | 'Operator' | 'Viewer'
  server_access: 'all' | 'specific'
  /** Tags whose servers a user with `specific` access sees, as JSON; null for none. */
  access_tags: JsonText<readonly string[]> | null
  mfa_enabled: number
  mfa_secret: string | null
  /** Prepared by enabling, in force once confirmed. */
  mfa_pending_secret: string | null
  /** The last time step whose code was taken: a code works once. */
  mfa_last_step: Generated<number>
  /** 1: needs a second factor, whatever the settings say. */
  mfa_required: Generated<number>
  /** Of the code that lets an invited user choose a password, once. */
  invite_hash: string | null
  invite_expires_at: number | null
  oauth_provider: 'provider_a' | 'provider_b' | null
  oauth_subject: string | null
  /** What of the allow-lists let this person in at the last sign-in: a login, a domain, or `org:` and a name. */
  oauth_admitted_as: Generated<string | null>
  /** How many passkeys the user has. */
  passkeys: Generated<number>
  last_login: number | null
  created_at: number
  updated_at: number
}
/** What the dashboard keeps for a user, as JSON. */
export interface UserPreferencesTable {
  user_id: number
  preferences: JsonText<Record<string, unknown>>
  updated_at: number
}
export interface UserServersTable {
  user_id: number
  server_no: number
}
export interface MfaBackupCodesTable {
  user_id: number
  hash: string
  /** 1 until the factor that they belong to is confirmed. */
  pending: number
}
/** Sign-ins that wait for a second factor. */
export interface MfaTokensTable {
  hash: string
  user_id: number
  created_at: number
  tries: number
}
export interface PasskeysTable {
  id: Generated<number>
  user_id: number
  /** As the authenticator named it, base64url. */
  credential_id: string
  /** COSE, base64url. */
  public_key: string
  /** The same key as SubjectPublicKeyInfo in DER, base64url. */
  spki: string
  counter: number
  /** JSON array. */
  transports: JsonText<readonly string[]>
  name: string
  backed_up: number
  created_at: number
  last_used: number | null
}
/** What passkeys were asked and have not answered yet. */
export interface PasskeyChallengesTable {
  hash: string
  purpose: string
  user_id: number | null
  created_at: number
}
/** Wrong passwords and codes, by the name typed or the user's id. */
export interface FailedAttemptsTable {
  id: Generated<number>
  kind: string
  subject: string
  ip: string
  /** The IPv4 address or the IPv6 /64; the /24 or the /48 around it. */
  net: string
  wide: string
  at: number
}
/** Networks from which a user has signed in. */
export interface KnownNetworksTable {
  user_id: number
  net: string
  seen_at: number
}
/** Sign-ins at a provider that are under way; each is used once. */
export interface OauthStatesTable {
  hash: string
  provider: string
  verifier: string
  browser_hash: string
  nonce: string
  created_at: number
}
export interface SessionsTable {
  id: string
  user_id: number
  refresh_hash: string
  /** SHA-256 of the secret that access tokens of this session carry. */
  access_hash: Generated<string>
  cookie_hash: string
  /** How it began: a provider's sign-in stands for a second factor, a password alone does not. */
  method: 'password' | 'mfa' | 'passkey' | 'provider_a' | 'provider_b'
  ip_address: string
  user_agent: string
  created_at: number
  last_activity: number
  /** When somebody last proved in this session who it is. */
  proved_at: number
}
export interface ApiKeysTable {
  id: Generated<number>
  name: string
  hash: string
  prefix: string
  permissions: 'read' | 'write' | 'admin'
  /** `agent`: given by enrolment; `server`: given by POST /servers; `user`: made by a person. */
  kind: 'agent' | 'server' | 'user'
  /** Owner of the key; null for the keys of hosts. */
  user_id: number | null
  server_no: number | null
  expires_at: number | null
  last_used: number | null
  last_used_from: string | null
  /** JSON lists; null for no limit. */
  scopes: JsonText<readonly KeyScope[]> | null
  source_networks: JsonText<readonly string[]> | null
  /** Tags whose servers the key reaches, as JSON; null for no limit by tags. */
  access_tags: JsonText<readonly string[]> | null
  created_at: number
}
/** Triggers write it: which keys came, changed or went. */
export interface KeyChangesTable {
  /** SQLite: rises with each row. PostgreSQL: the transaction, as text. */
  place: Generated<number | string>
  hash: string
  /** By the clock of the database. */
  changed_at: number
}
