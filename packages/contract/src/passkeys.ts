import { Type } from 'typebox'
import type { Static } from 'typebox'
import { signedIn } from './auth.ts'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { passkeyResponse } from './passkey-response.ts'
import { id, message, timestamp } from './common.ts'
import { field, nullable, resource, shape, text } from './shapes.ts'

const tag = 'Auth'
/** What `navigator.credentials` is called with (WebAuthn Level 3, the JSON forms of its options). */
const options = Type.Record(Type.String(), Type.Unknown())
export const passkeyOptions = resource('PasskeyOptions', {
  options: field(options, 'Options for `navigator.credentials`.'),
})

const name = text(1, bounds.passkeyName)
const passkey = resource('Passkey', {
  id,
  credential_id: field(Type.String(), 'Credential id by which browsers know the passkey.'),
  name: Type.String(),
  created_at: timestamp,
  last_used: nullable(timestamp),
  backed_up: field(Type.Boolean(), 'Whether the passkey is synchronized to other devices of the user.'),
  fingerprint: field(Type.String(), 'Fingerprint of the public key, as servers show it.'),
  operator_key: field(
    Type.String(),
    'What root adds on a server so that the server accepts commands signed with this passkey.',
  ),
})
export type Passkey = Static<typeof passkey>

const own = { tag, access: 'session-before-mfa' } as const
const one = { params: shape({ passkeyId: id }) }

export const listPasskeys = endpoint('GET /auth/passkeys', {
  ...own,
  summary: "List one's own passkeys",
  reply: shape({ passkeys: field(Type.Array(passkey), 'The passkeys.') }),
})

export const preparePasskey = endpoint('POST /auth/passkeys/options', {
  ...own,
  rate: 'sensitive',
  lasts: true,
  leaves: null,
  summary: 'Begin to add a passkey',
  description:
    'Answers what `navigator.credentials.create` wants; good for five minutes and one passkey. 409 where the base URL is an address or plain http: browsers know passkeys only of names under https, and of localhost.',
  reply: passkeyOptions,
  refusals: [409],
})

export const addPasskey = endpoint('POST /auth/passkeys', {
  ...own,
  rate: 'sensitive',
  lasts: true,
  leaves: { what: 'passkeys', most: bounds.passkeysPerUser, per: 'user' },
  summary: 'Add a passkey',
  description:
    'The user must have been verified by the device (PIN, fingerprint or face). From then on a sign-in with the password wants 2FA.',
  body: shape({ name, response: field(passkeyResponse, 'The answer of the browser.') }),
  status: 201,
  reply: passkey,
  refusals: [409],
})

export const renamePasskey = endpoint('PATCH /auth/passkeys/{passkeyId}', {
  ...own,
  ...one,
  lasts: false,
  summary: 'Rename a passkey',
  body: shape({ name }),
  reply: passkey,
  refusals: [404],
})

export const deletePasskey = endpoint('DELETE /auth/passkeys/{passkeyId}', {
  ...own,
  ...one,
  rate: 'sensitive',
  lasts: true,
  summary: 'Remove a passkey',
  description: 'It signs in no more. Servers that trust it for commands go on to trust it until their root removes it.',
  reply: message,
  refusals: [404],
})

export const beginPasskey = endpoint('POST /auth/passkey/options', {
  tag,
  access: 'public',
  leaves: null,
  rate: 'sensitive',
  summary: 'Begin to sign in with a passkey',
  description:
    'Without `mfa_token` any passkey of this site may answer; with it, one of that user, as 2FA after the password.',
  body: shape({ mfa_token: Type.Optional(text(1, 2048)) }),
  reply: passkeyOptions,
  refusals: [401, 409],
})

export const signInWithPasskey = endpoint('POST /auth/passkey', {
  tag,
  access: 'public',
  leaves: { what: 'sessions', most: bounds.sessionsPerUser, per: 'user' },
  rate: 'sensitive',
  summary: 'Sign in with a passkey',
  body: shape({
    response: field(passkeyResponse, 'The answer of the browser.'),
    mfa_token: Type.Optional(text(1, 2048)),
  }),
  reply: signedIn,
  refusals: [401, 409],
})

export const beginPasskeyProof = endpoint('POST /auth/step-up/options', {
  ...own,
  rate: 'sensitive',
  lasts: false,
  leaves: null,
  summary: 'Begin to prove who one is with a passkey',
  description: 'The answer of the passkey goes into `POST /auth/step-up`.',
  reply: passkeyOptions,
  refusals: [409],
})
