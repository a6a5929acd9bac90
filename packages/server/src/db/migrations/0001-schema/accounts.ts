import type { ColumnTypes } from './column-types.ts'

/** Users, how they sign in, and API keys. */
export const accounts = (types: ColumnTypes): string[] => [...users(types), ...signIn(types)]

const users = ({ key, big }: ColumnTypes): string[] => [
  `create table users (
    id ${key}, username text not null, username_key text not null unique, email text not null,
    email_key text not null unique, password_hash text, role text not null, server_access text not null,
    mfa_enabled integer not null, mfa_secret text, oauth_provider text, oauth_subject text, last_login ${big},
    created_at ${big} not null, updated_at ${big} not null,
    mfa_pending_secret text, mfa_last_step ${big} not null default 0, mfa_required integer not null default 0, invite_hash text,
    invite_expires_at ${big}, oauth_admitted_as text, passkeys integer not null default 0, access_tags text)`,
  `create unique index users_oauth on users (oauth_provider, oauth_subject)`,
  `create unique index users_invite on users (invite_hash) where invite_hash is not null`,
  `create table user_servers (
    user_id ${big} not null references users (id) on delete cascade,
    server_no integer not null references servers (no) on delete cascade,
    primary key (user_id, server_no))`,
  `create table sessions (
    id text primary key, user_id ${big} not null references users (id) on delete cascade,
    refresh_hash text not null unique, cookie_hash text not null unique, method text not null,
    ip_address text not null, user_agent text not null,
    created_at ${big} not null, last_activity ${big} not null,
    proved_at ${big} not null default 0, access_hash text not null default '')`,
  `create index sessions_user on sessions (user_id)`,
  `create table api_keys (
    id ${key}, name text not null, hash text not null unique, prefix text not null, permissions text not null,
    kind text not null, user_id ${big} references users (id) on delete cascade,
    server_no integer references servers (no) on delete cascade,
    expires_at ${big}, last_used ${big}, created_at ${big} not null,
    last_used_from text, scopes text, source_networks text, access_tags text)`,
  `create index api_keys_user on api_keys (user_id)`,
]

/** Second factors, failed attempts, known networks, OAuth, passkeys and what a user prefers. */
const signIn = ({ key, big }: ColumnTypes): string[] => [
  `create table mfa_backup_codes (
    user_id ${big} not null references users (id) on delete cascade, hash text not null,
    pending integer not null, primary key (user_id, hash))`,
  `create table mfa_tokens (
    hash text primary key, user_id ${big} not null references users (id) on delete cascade,
    created_at ${big} not null, tries integer not null)`,
  `create table failed_attempts (
    id ${key}, kind text not null, subject text not null, ip text not null, at ${big} not null,
    net text not null default '', wide text not null default '')`,
  `create index failed_attempts_subject on failed_attempts (kind, subject, at)`,
  `create index failed_attempts_at on failed_attempts (at)`,
  `create index failed_attempts_net on failed_attempts (kind, net, at)`,
  `create index failed_attempts_wide on failed_attempts (kind, wide, at)`,
  `create table known_networks (
    user_id ${big} not null references users (id) on delete cascade, net text not null, seen_at ${big} not null,
    primary key (user_id, net))`,
  `create table oauth_states (
    hash text primary key, provider text not null, verifier text not null, browser_hash text not null,
    nonce text not null, created_at ${big} not null)`,
  // `users.passkeys` is counted in the transactions that add and remove them: every request asks whether there is a second factor.
  `create table passkeys (
    id ${key},
    user_id ${big} not null references users (id) on delete cascade,
    credential_id text not null unique,
    public_key text not null,
    spki text not null,
    counter ${big} not null,
    transports text not null,
    name text not null,
    backed_up integer not null,
    created_at ${big} not null,
    last_used ${big}
    )`,
  `create index passkeys_user on passkeys (user_id)`,
  `create table passkey_challenges (
    hash text primary key,
    purpose text not null,
    user_id ${big},
    created_at ${big} not null
    )`,
  `create table user_preferences (
    user_id ${big} primary key references users (id) on delete cascade, preferences text not null,
    updated_at ${big} not null)`,
]
