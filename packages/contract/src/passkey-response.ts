import { Type } from 'typebox'
import type { Static } from 'typebox'
import { nullable, resource, text } from './shapes.ts'

const base64url = (most: number) => Type.String({ pattern: '^[A-Za-z0-9_-]*$', maxLength: most })

/** A credential as browsers give it (WebAuthn Level 3, `PublicKeyCredential.toJSON()`): a new one, or an assertion. */
export const passkeyResponse = resource('PasskeyCredential', {
  id: base64url(1400),
  rawId: base64url(1400),
  type: Type.Literal('public-key'),
  authenticatorAttachment: Type.Optional(nullable(text(0, 32))),
  clientExtensionResults: Type.Optional(
    Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), { maxProperties: 16 }),
  ),
  response: resource('PasskeyCredentialResponse', {
    clientDataJSON: base64url(8192),
    attestationObject: Type.Optional(base64url(65_536)),
    authenticatorData: Type.Optional(base64url(8192)),
    signature: Type.Optional(base64url(2048)),
    userHandle: Type.Optional(nullable(base64url(128))),
    transports: Type.Optional(Type.Array(text(0, 32), { maxItems: 16 })),
    publicKeyAlgorithm: Type.Optional(Type.Integer()),
    publicKey: Type.Optional(base64url(8192)),
  }),
})
export type PasskeyResponse = Static<typeof passkeyResponse>
