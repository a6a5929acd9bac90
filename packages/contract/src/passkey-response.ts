import { Type } from 'typebox'
import type { Static } from 'typebox'
import { field, nullable, resource, text } from './shapes.ts'

const base64url = (most: number) => Type.String({ pattern: '^[A-Za-z0-9_-]*$', maxLength: most })

/** A credential as browsers give it (WebAuthn Level 3, `PublicKeyCredential.toJSON()`): a new one, or an assertion. */
export const passkeyResponse = resource('PasskeyCredential', {
  id: field(base64url(1400), 'Credential id, in Base64url.'),
  rawId: field(base64url(1400), 'Credential id, in Base64url.'),
  type: field(Type.Literal('public-key'), 'Type of the credential.'),
  authenticatorAttachment: field(
    Type.Optional(nullable(text(0, 32))),
    'Whether the authenticator is part of the device.',
  ),
  clientExtensionResults: field(
    Type.Optional(Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), { maxProperties: 16 })),
    'Results of WebAuthn extensions.',
  ),
  response: field(
    resource('PasskeyCredentialResponse', {
      clientDataJSON: field(base64url(8192), 'Client data, in Base64url.'),
      attestationObject: field(Type.Optional(base64url(65_536)), 'Attestation of a new credential, in Base64url.'),
      authenticatorData: field(Type.Optional(base64url(8192)), 'Authenticator data, in Base64url.'),
      signature: field(Type.Optional(base64url(2048)), 'Signature of an assertion, in Base64url.'),
      userHandle: field(Type.Optional(nullable(base64url(128))), 'User handle, in Base64url.'),
      transports: field(
        Type.Optional(Type.Array(text(0, 32), { maxItems: 16 })),
        'Transports that the authenticator supports.',
      ),
      publicKeyAlgorithm: field(Type.Optional(Type.Integer()), 'COSE algorithm of the public key.'),
      publicKey: field(Type.Optional(base64url(8192)), 'Public key, in Base64url.'),
    }),
    'Response of the authenticator.',
  ),
})
export type PasskeyResponse = Static<typeof passkeyResponse>
