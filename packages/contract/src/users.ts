import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { email, newPassword, refuseCommon, username } from './auth.ts'
import { bounds, pages } from './limits.ts'
import { count, id, listOf, message, paging, role, roleInput, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'
import { serverTag, serverTags } from './targets.ts'

const tag = 'Users'
const params = shape({ userId: id })
/** Accounts are nothing of one server's: a key that is bound to one is refused on all of them. */
const accounts = { tag, fleet: true } as const
export const serverAccess = oneOf(['all', 'specific'], { title: 'ServerAccess' })

const userFields = {
  id,
  username: Type.String(),
  email: Type.String(),
  role,
  mfa_enabled: Type.Boolean(),
  mfa_required: field(Type.Boolean(), 'Whether this user needs 2FA, whatever the settings say.'),
  /** Until when an invitation may be accepted; null where there is none. */
  invite_expires_at: nullable(timestamp),
  oauth_provider: field(
    nullable(oneOf(['provider_a', 'provider_b'])),
    'Provider that the user signs in with; null for a password.',
  ),
  last_login: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
}
export const user = resource('User', userFields)
export type User = Static<typeof user>
/** A single read also says which servers the user may see; `server_ids` is empty for `all`. */
export const userDetail = resource('UserDetail', {
  ...userFields,
  server_access: serverAccess,
  server_ids: field(Type.Array(uuid), 'Ids of the assigned servers; empty for `all`.'),
  tags: field(Type.Array(serverTag), 'Tags whose servers the user sees too, those of the future too; empty for `all`.'),
})
export type UserDetail = Static<typeof userDetail>

export const currentUser = endpoint('GET /users/me', {
  tag,
  summary: "One's own account",
  description: 'As the single-user read.',
  access: 'session',
  reply: userDetail,
})

/** Whatever the dashboard keeps for somebody; nothing here reads it. */
const preferences = Type.Record(Type.String(), Type.Unknown())
export const getPreferences = endpoint('GET /users/me/preferences', {
  tag,
  summary: 'What the dashboard keeps for oneself',
  description: 'Such as theme, columns and saved views; an empty object at first.',
  access: 'session',
  reply: shape({ preferences }),
})

export const putPreferences = endpoint('PUT /users/me/preferences', {
  tag,
  summary: 'Replace what the dashboard keeps for oneself',
  description: 'At most 64 KiB as JSON, 32 levels deep. Not in the audit log.',
  access: 'session',
  lasts: false,
  leaves: { what: 'bytes of preferences', most: bounds.preferences, per: 'user' },
  // The rest is for the envelope, white space and escapes.
  bodyLimit: bounds.preferences + 16 * 1024,
  body: shape({ preferences }),
  reply: shape({ preferences }),
})

export const listUsers = endpoint('GET /users', {
  ...accounts,
  summary: 'List users',
  description: 'By username. `search` looks in username and e-mail.',
  access: 'admin',
  query: shape({
    role: Type.Optional(roleInput),
    search: Type.Optional(text(1, 254)),
    ...paging(pages.users),
  }),
  reply: listOf('users', user),
})

export const getUser = endpoint('GET /users/{userId}', {
  ...accounts,
  summary: 'Read one user',
  access: 'self',
  params,
  reply: userDetail,
  refusals: [404],
})

export const createUser = endpoint('POST /users', {
  ...accounts,
  summary: 'Create a user',
  description:
    'Without `role` a Viewer. A username or e-mail that is taken is refused. With `invite` there is no password yet: whoever opens `setup_url` (null otherwise) chooses it, once, within 72 hours. With `mfa_required` the user must set up 2FA first of all.',
  access: 'admin',
  lasts: true,
  leaves: { what: 'users', most: bounds.users, per: 'fleet' },
  body: shape({
    username,
    email,
    password: Type.Optional(newPassword),
    role: Type.Optional(roleInput),
    invite: field(Type.Optional(Type.Boolean()), 'Whether the user chooses the password by an invitation link.'),
    mfa_required: Type.Optional(Type.Boolean()),
    ...refuseCommon,
  }),
  status: 201,
  reply: shape({
    id,
    username: Type.String(),
    email: Type.String(),
    role,
    created_at: timestamp,
    setup_url: nullable(Type.String()),
    invite_expires_at: nullable(timestamp),
  }),
  refusals: [409],
})

/** Keys of a person open the account for their holders: they end with the account's credentials. */
const keepKeys = { keep_keys: Type.Optional(Type.Boolean()) }
const revokedKeys = { revoked_keys: count }

export const inviteUser = endpoint('POST /users/{userId}/invite', {
  ...accounts,
  summary: 'Invite a user anew',
  description:
    'For somebody who has never signed in: the invitation before is void, and so is a password that was given. Anybody else is refused. Revokes the keys of the user unless `keep_keys`.',
  access: 'admin',
  lasts: true,
  leaves: null,
  params,
  body: shape(keepKeys),
  reply: shape({ message: Type.String(), setup_url: Type.String(), invite_expires_at: timestamp, ...revokedKeys }),
  refusals: [404, 409],
})

export const updateUser = endpoint('PATCH /users/{userId}', {
  ...accounts,
  summary: "Change a user's e-mail, role or need of 2FA",
  description:
    'Acts at once on sessions and keys of the user. Keys never exceed the new role; `keep_keys: false` revokes them. The last administrator keeps the role.',
  access: 'admin',
  lasts: true,
  params,
  body: shape({
    email: Type.Optional(email),
    role: Type.Optional(roleInput),
    mfa_required: Type.Optional(Type.Boolean()),
    ...keepKeys,
  }),
  reply: shape({ id, username: Type.String(), email: Type.String(), role, updated_at: timestamp, ...revokedKeys }),
  refusals: [404, 409],
})

export const deleteUser = endpoint('DELETE /users/{userId}', {
  ...accounts,
  summary: 'Delete a user',
  description:
    "Ends the user's sessions and revokes the user's keys. Your own account and the last administrator stay.",
  access: 'admin',
  lasts: true,
  params,
  reply: message,
  refusals: [404, 409],
})

export const resetPassword = endpoint('POST /users/{userId}/reset-password', {
  ...accounts,
  summary: "Replace a user's password",
  description:
    "Ends the user's other sessions, and revokes the user's keys unless `keep_keys`. Without `new_password` a random one is made and shown once; `temporary_password` is null when one was sent.",
  access: 'admin',
  lasts: true,
  leaves: null,
  params,
  body: shape({
    new_password: field(Type.Optional(newPassword), 'The new password; a random one is made when it is left out.'),
    ...keepKeys,
    ...refuseCommon,
  }),
  reply: shape({
    message: Type.String(),
    temporary_password: field(nullable(Type.String()), 'The random password, shown only here; null when one was sent.'),
    ...revokedKeys,
  }),
  refusals: [404],
})

export const resetMfa = endpoint('POST /users/{userId}/reset-mfa', {
  ...accounts,
  summary: "Turn a user's 2FA off",
  description:
    "For a lost device. Ends the user's other sessions, and revokes the user's keys unless `keep_keys`. Also lifts the throttle on wrong codes.",
  access: 'admin',
  lasts: true,
  leaves: null,
  params,
  body: shape(keepKeys),
  reply: shape({ message: Type.String(), mfa_enabled: Type.Boolean(), ...revokedKeys }),
  refusals: [404],
})

export const putServerAccess = endpoint('PUT /users/{userId}/server-access', {
  ...accounts,
  summary: 'Say which servers a user may see',
  description:
    'With `specific` the user sees the servers of `server_ids`, those that have one of the tags at a time, and nothing of others. Administrators always see all. `server_count` is the number of servers that the user sees now.',
  access: 'admin',
  lasts: true,
  leaves: null,
  params,
  body: shape({
    access_type: serverAccess,
    server_ids: Type.Optional(Type.Array(uuid, { maxItems: 10_000 })),
    tags: field(Type.Optional(serverTags), 'Tags whose servers the user sees too; without it none.'),
  }),
  reply: shape({ message: Type.String(), access_type: serverAccess, server_count: count }),
  refusals: [404],
})

export const session = resource('Session', {
  id: uuid,
  ip_address: Type.String(),
  user_agent: Type.String(),
  created_at: timestamp,
  last_activity: timestamp,
  current: Type.Boolean(),
})
export type Session = Static<typeof session>

export const listSessions = endpoint('GET /users/{userId}/sessions', {
  ...accounts,
  summary: "List a user's sessions",
  description: "`current` marks the caller's own.",
  access: 'self',
  params,
  reply: shape({ sessions: field(Type.Array(session), 'The sessions.') }),
  refusals: [404],
})

export const endSession = endpoint('DELETE /users/{userId}/sessions/{sessionId}', {
  ...accounts,
  summary: 'End one session',
  description: 'Acts at once: its access token and its refresh token are refused from then on.',
  access: 'self',
  lasts: false,
  params: shape({ userId: id, sessionId: field(uuid, 'Id of the session.') }),
  reply: message,
  refusals: [404],
})

export const endSessions = endpoint('DELETE /users/{userId}/sessions', {
  ...accounts,
  summary: "End a user's sessions",
  description: "All of them but, unless `except_current` is false, the caller's own.",
  access: 'self',
  lasts: false,
  params,
  query: shape({
    except_current: field(
      Type.Optional(Type.Boolean({ default: true })),
      'Whether to keep the session of the request.',
    ),
  }),
  reply: shape({ message: Type.String(), terminated_count: field(count, 'Number of sessions that ended.') }),
  refusals: [404],
})
