import { Type } from 'typebox'
import { endpoint, keyScopes } from './endpoint.ts'
import { bounds } from './limits.ts'
import { id, ipOrRange, message, permission, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'
import { serverTag } from './targets.ts'

const tag = 'API keys'
const name = text(1, bounds.name)
const scopes = Type.Array(oneOf(keyScopes, { title: 'KeyScope' }), {
  minItems: 1,
  maxItems: keyScopes.length,
  uniqueItems: true,
})
const networks = Type.Array(ipOrRange, { minItems: 1, maxItems: bounds.keyNetworks })
/** What limits a key beside its permission; null for no limit. */
const limits = {
  scopes: nullable(scopes),
  source_networks: nullable(networks),
  tags: field(
    nullable(Type.Array(serverTag)),
    'Tags whose servers the key reaches, beside that of `server_id`; null without such a limit.',
  ),
}
const keyInput = resource('ApiKeyInput', {
  name,
  permissions: Type.Optional(permission),
  server_id: Type.Optional(uuid),
  expires_at: Type.Optional(timestamp),
  scopes: Type.Optional(nullable(scopes)),
  source_networks: Type.Optional(nullable(networks)),
  tags: field(
    Type.Optional(nullable(Type.Array(serverTag, { minItems: 1, maxItems: bounds.tagsPerServer }))),
    'Tags whose servers the key reaches, beside that of `server_id`.',
  ),
})

/** The reply that holds a key in full, and the only one. */
const newKey = resource('NewApiKey', {
  id,
  name: Type.String(),
  key: field(Type.String(), 'The key in full; shown only here.'),
  permissions: permission,
  server_id: nullable(uuid),
  expires_at: nullable(timestamp),
  ...limits,
  created_at: timestamp,
})

export const createKey = endpoint('POST /keys', {
  tag,
  summary: 'Create an API key',
  description:
    'The full key is in this reply and nowhere else. With `server_id` it sees and changes that server only, with `tags` the servers that have one of the tags at a time, with both all of these; from `expires_at` on it is refused. `scopes` limit it to families of endpoints, `source_networks` to addresses that it is used from; without them there is no such limit. At most 200 keys a user.',
  access: 'admin',
  lasts: true,
  leaves: { what: 'API keys', most: bounds.keysPerUser, per: 'user' },
  fleet: true,
  rate: 'sensitive',
  body: keyInput,
  status: 201,
  reply: newKey,
  refusals: [409],
})

export const deleteKey = endpoint('DELETE /keys/{keyId}', {
  tag,
  summary: 'Revoke an API key',
  description: "Acts at once. One's own keys, or any as an administrator.",
  access: 'read',
  lasts: false,
  fleet: true,
  rate: 'sensitive',
  params: shape({ keyId: field(id, 'Id of the key.') }),
  reply: message,
  refusals: [404],
})

export const listUserKeys = endpoint('GET /users/{userId}/keys', {
  tag,
  summary: "List a user's API keys",
  access: 'self',
  fleet: true,
  params: shape({ userId: id }),
  reply: shape({
    keys: field(
      Type.Array(
        resource('ApiKey', {
          id,
          name: Type.String(),
          prefix: Type.String(),
          permissions: permission,
          server_id: nullable(uuid),
          expires_at: nullable(timestamp),
          ...limits,
          last_used: nullable(timestamp),
          /** The address that it was last used from. */
          last_used_from: nullable(Type.String()),
          created_at: timestamp,
        }),
      ),
      'The keys of the user.',
    ),
  }),
  refusals: [404],
})

export const createUserKey = endpoint('POST /users/{userId}/keys', {
  tag,
  summary: 'Create an API key for a user',
  description:
    "Never more than the user's own role: `permissions` above it is refused, and so is a server that the user may not see. Shown once.",
  access: 'self',
  lasts: true,
  leaves: { what: 'API keys', most: bounds.keysPerUser, per: 'user' },
  fleet: true,
  rate: 'sensitive',
  params: shape({ userId: id }),
  body: keyInput,
  status: 201,
  reply: newKey,
  refusals: [404, 409],
})
