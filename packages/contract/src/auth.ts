import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds, times } from './limits.ts'
import { passkeyResponse } from './passkey-response.ts'
import { count, id, message, role, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'
import { serverTag } from './targets.ts'

const tag = 'Auth'
/** Sign-ins take any text up to a bound: whether it is a possible name is not the stranger's to learn. */
const typedName = text(1, 254)
const typedPassword = text(1, bounds.password.maximum)
const code = text(1, 64)

export const tokens = {
  access_token: Type.String(),
  refresh_token: Type.String(),
  expires_in: Type.Integer({ examples: [times.accessToken] }),
}
/** A new password as typed: the policy (length from the settings, upper, lower, digit) is checked by the service. */
export const newPassword = text(1, bounds.password.maximum)
/** Refuses a new password that is one of the most common ones; the dashboard always asks for that. */
export const refuseCommon = { refuse_common: Type.Optional(Type.Boolean()) }
export const username = Type.String({
  pattern: '^[A-Za-z0-9_]+$',
  errorMessage: 'may hold letters, digits and underscores only',
  minLength: bounds.username.minimum,
  maxLength: bounds.username.maximum,
})
export const email = Type.String({ format: 'email', minLength: 3, maxLength: 254 })

export const signedIn = resource('SignedIn', {
  ...tokens,
  user: field(
    resource('SignedInUser', { id, username: Type.String(), email: Type.String(), role }),
    'The user who signed in.',
  ),
  mfa_setup_required: field(Type.Optional(Type.Boolean()), 'True when the user must set up 2FA before anything else.'),
})
const secondFactorWanted = resource('SecondFactorRequired', {
  mfa_required: field(Type.Literal(true), 'Always true: the sign-in continues with 2FA.'),
  mfa_token: Type.String(),
  methods: field(
    Type.Array(oneOf(['totp', 'passkey'])),
    'Methods of 2FA that the user has. Codes go to `/auth/mfa/verify`, a passkey goes to `/auth/passkey`.',
  ),
})

export const login = endpoint('POST /auth/login', {
  tag,
  summary: 'Sign in with username and password',
  description:
    'Answers tokens and sets the session cookie; a user with 2FA gets `mfa_required` and an `mfa_token` for `/auth/mfa/verify` instead.',
  access: 'public',
  leaves: { what: 'sessions', most: bounds.sessionsPerUser, per: 'user' },
  rate: 'sensitive',
  body: shape({ username: typedName, password: typedPassword }),
  reply: Type.Union([signedIn, secondFactorWanted], { title: 'LoginResult' }),
  refusals: [401, 403],
})

export const verifyMfa = endpoint('POST /auth/mfa/verify', {
  tag,
  summary: 'Finish a sign-in with 2FA',
  description: '`code` is the 6-digit code, or one of the backup codes.',
  access: 'public',
  leaves: { what: 'sessions', most: bounds.sessionsPerUser, per: 'user' },
  rate: 'sensitive',
  body: shape({ mfa_token: text(1, 2048), code: field(code, 'The 6-digit code, or a backup code.') }),
  reply: signedIn,
  refusals: [401],
})

export const refresh = endpoint('POST /auth/refresh', {
  tag,
  summary: 'Get a new access token',
  access: 'public',
  leaves: null,
  rate: 'sensitive',
  body: shape({ refresh_token: text(1, 512) }),
  reply: shape({ access_token: Type.String(), expires_in: Type.Integer() }),
  refusals: [401],
})

export const logout = endpoint('POST /auth/logout', {
  tag,
  summary: 'End the current session',
  access: 'session-before-mfa',
  lasts: false,
  leaves: null,
  reply: message,
})

export const me = endpoint('GET /auth/me', {
  tag,
  summary: 'Who am I',
  access: 'session-before-mfa',
  reply: shape({
    id,
    username: Type.String(),
    email: Type.String(),
    role,
    mfa_enabled: Type.Boolean(),
    backup_codes_left: field(nullable(count), 'Number of unused backup codes; null while 2FA is off.'),
    created_at: timestamp,
    last_login: nullable(timestamp),
    ip_address: Type.String(),
    version: field(Type.String(), 'Version of Stockade.'),
    server_access: oneOf(['all', 'specific']),
    tags: field(Type.Array(serverTag), 'Tags that the access is by; empty with access to all servers.'),
    /** Of how many servers the account may see. */
    server_count: count,
    own_unban: field(Type.Boolean(), 'Whether the user may lift the ban of the address that the request comes from.'),
    addresses: field(
      Type.Array(
        resource('SessionAddress', {
          ip: Type.String(),
          user_agent: Type.String(),
          last_activity: timestamp,
          current: Type.Boolean(),
          whitelisted: Type.Boolean(),
          active_bans: field(
            Type.Array(
              resource('AddressBan', {
                id,
                jail: Type.String(),
                server: field(Type.String(), 'Host name of the server.'),
                server_id: uuid,
              }),
            ),
            'Bans of the address that are in force.',
          ),
        }),
      ),
      'Addresses of the sessions of this account, newest activity first, each address once.',
    ),
  }),
})

export const enableMfa = endpoint('POST /auth/mfa/enable', {
  tag,
  summary: 'Prepare 2FA',
  description: '2FA is on only after `/auth/mfa/confirm`. The secret and the backup codes are shown once.',
  access: 'session-before-mfa',
  lasts: true,
  leaves: null,
  rate: 'sensitive',
  reply: shape({
    secret: field(Type.String(), 'Secret for the authenticator app, in Base32.'),
    qr_code: field(Type.String(), 'QR code of the secret as a `data:` URL.'),
    backup_codes: Type.Array(Type.String()),
  }),
  refusals: [409],
})

export const confirmMfa = endpoint('POST /auth/mfa/confirm', {
  tag,
  summary: 'Turn the prepared 2FA on',
  access: 'session-before-mfa',
  lasts: true,
  leaves: null,
  rate: 'sensitive',
  body: shape({ code: field(code, 'The current 6-digit code.') }),
  reply: shape({ message: Type.String(), mfa_enabled: Type.Boolean() }),
  refusals: [401, 409],
})

export const disableMfa = endpoint('POST /auth/mfa/disable', {
  tag,
  summary: 'Turn 2FA off',
  access: 'session-before-mfa',
  lasts: false,
  leaves: null,
  rate: 'sensitive',
  body: shape({ password: typedPassword }),
  reply: shape({ message: Type.String(), mfa_enabled: Type.Boolean() }),
  refusals: [401, 409],
})

export const renewBackupCodes = endpoint('POST /auth/mfa/backup-codes', {
  tag,
  summary: 'Replace the backup codes',
  access: 'session-before-mfa',
  lasts: false,
  leaves: null,
  rate: 'sensitive',
  body: shape({ password: typedPassword }),
  reply: shape({ backup_codes: Type.Array(Type.String()) }),
  refusals: [401, 409],
})

export const stepUp = endpoint('POST /auth/step-up', {
  tag,
  summary: 'Prove again who one is',
  description:
    'What a session by cookie needs for users, keys, 2FA, settings, templates and wide whitelist entries once its last proof is older than 15 minutes; those answer 403 with `step_up.methods` until then. The password, a 2FA code, or an answer of a passkey to `/auth/step-up/options`; a sign-in is a proof too. Sessions by bearer token are never asked.',
  access: 'session-before-mfa',
  lasts: false,
  leaves: null,
  rate: 'sensitive',
  body: shape({
    password: Type.Optional(typedPassword),
    code: field(Type.Optional(code), 'A 6-digit code, or a backup code.'),
    passkey: field(Type.Optional(passkeyResponse), 'The answer of the passkey.'),
  }),
  reply: shape({
    message: Type.String(),
    proved_until: field(timestamp, 'Time until which no further proof is needed.'),
  }),
  refusals: [401, 409],
})

export const changePassword = endpoint('POST /auth/password', {
  tag,
  summary: "Change one's own password",
  description: 'Ends the other sessions of the user.',
  access: 'session-before-mfa',
  lasts: false,
  leaves: null,
  rate: 'sensitive',
  body: shape({
    current_password: field(typedPassword, 'The current password.'),
    new_password: newPassword,
    ...refuseCommon,
  }),
  reply: message,
  refusals: [401, 409],
})

export const getInvite = endpoint('GET /auth/invite', {
  tag,
  summary: 'Whom an invitation is for',
  description:
    'What the page of a `setup_url` needs: the name that the user will sign in with, and what a password must have.',
  access: 'public',
  rate: 'sensitive',
  query: shape({ code: field(Type.Optional(text(1, 128)), 'Code from the invitation link.') }),
  reply: shape({
    username: Type.String(),
    expires_at: field(timestamp, 'Time until which the invitation can be accepted.'),
    mfa_required: Type.Boolean(),
    password_rules: field(
      resource('PasswordRules', {
        min_length: field(count, 'Minimum number of characters.'),
        max_length: field(count, 'Maximum number of characters.'),
        upper: field(Type.Boolean(), 'Whether an upper-case letter is required.'),
        lower: field(Type.Boolean(), 'Whether a lower-case letter is required.'),
        digit: field(Type.Boolean(), 'Whether a digit is required.'),
      }),
      'What the password must have.',
    ),
  }),
  refusals: [401, 403],
})

export const acceptInvite = endpoint('POST /auth/invite', {
  tag,
  summary: 'Accept an invitation with a password',
  description: 'Works once, within 72 hours. Answers as a sign-in; `mfa_setup_required` where 2FA is required.',
  access: 'public',
  leaves: { what: 'sessions', most: bounds.sessionsPerUser, per: 'user' },
  rate: 'sensitive',
  body: shape({ code: field(text(1, 128), 'Code from the invitation link.'), password: newPassword, ...refuseCommon }),
  reply: signedIn,
  refusals: [401, 403],
})

const redirect = Type.Unsafe<never>({})
const callbackQuery = Type.Object(
  {
    code: field(Type.Optional(text(1, 4096)), 'Authorization code of the provider.'),
    state: field(Type.Optional(text(1, 512)), 'State that the sign-in started with.'),
    error: field(Type.Optional(text(1, 512)), 'Error code of the provider.'),
    error_description: field(Type.Optional(text(0, 4096)), 'Error description of the provider.'),
  },
  { additionalProperties: true },
)
const oauthStart = { tag, access: 'public', status: 302, reply: redirect } as const
const oauthCallback = { ...oauthStart, query: callbackQuery, lenient: true } as const

export const startProviderA = endpoint('GET /auth/provider_a', {
  ...oauthStart,
  summary: 'Sign in with GitHub',
})
export const finishProviderA = endpoint('GET /auth/provider_a/callback', {
  ...oauthCallback,
  summary: 'Return from GitHub; redirects to the dashboard with a session cookie',
})
export const startProviderB = endpoint('GET /auth/provider_b', {
  ...oauthStart,
  summary: 'Sign in with the OpenID Connect provider',
})
export const finishProviderB = endpoint('GET /auth/provider_b/callback', {
  ...oauthCallback,
  summary: 'Return from the OpenID Connect provider; redirects to the dashboard with a session cookie',
})

export const authOptions = endpoint('GET /auth/options', {
  tag,
  summary: 'What the sign-in page needs to know',
  access: 'public',
  reply: shape({
    site_name: Type.String(),
    base_url: field(Type.String(), 'Public address of this installation.'),
    timezone: Type.String(),
    providers: field(
      Type.Array(
        resource('SignInProvider', {
          id: oneOf(['provider_a', 'provider_b']),
          label: field(Type.String(), 'Label for the sign-in button.'),
        }),
      ),
      'Sign-in providers that are switched on.',
    ),
    local_login_disabled: Type.Boolean(),
    setup_required: field(Type.Boolean(), 'Whether the first administrator does not exist yet.'),
    server_time: field(timestamp, 'Time at Stockade.'),
    demo: field(Type.Boolean(), 'Whether this is a demonstration with made-up data.'),
  }),
})

export const getSetup = endpoint('GET /setup', {
  tag,
  summary: 'Whether the first administrator is still to be made',
  access: 'public',
  reply: shape({ required: field(Type.Boolean(), 'Whether the first administrator does not exist yet.') }),
})

export const setUp = endpoint('POST /setup', {
  tag,
  summary: 'Make the first administrator',
  description: 'Needs the one-time code that Stockade printed on its console. Answers as a sign-in.',
  access: 'public',
  leaves: { what: 'users', most: bounds.users, per: 'fleet' },
  rate: 'sensitive',
  body: shape({
    code: field(text(1, 128), 'One-time code from the console of Stockade.'),
    username,
    email,
    password: newPassword,
    site_url: Type.Optional(text(1, 2048)),
    timezone: Type.Optional(text(1, 64)),
    ...refuseCommon,
  }),
  status: 201,
  reply: signedIn,
  refusals: [401, 409],
})
