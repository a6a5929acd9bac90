import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { field, nullable, oneOf, shape, uuid } from './shapes.ts'

/* Another address of the server for hosts that are enrolled. docs/guides/moving.md describes it. */

/** A base URL as agents write it. */
const baseUrl = Type.String({ pattern: '^https?://[\\x21-\\x7e]+$', maxLength: 2048 })

export const proveAddress = endpoint({
  method: 'POST',
  path: '/agent/challenge',
  tag: 'Agent',
  summary: 'Prove to a host that this server stores its key (agent)',
  description:
    'An agent asks this at a new address before it sends its key there. `proof` is the HMAC-SHA256, in hex, of the lines `stockade-address-proof/1`, `nonce`, `server_id`, `address`, `known_as` and `tls_key` (`-` for null), keyed by the SHA-256 of the agent key. For a server that does not exist the answer looks the same, and proves nothing.',
  access: 'public',
  lenient: true,
  body: Type.Object({
    server_id: field(uuid, 'Id of the server that the host is enrolled as.'),
    nonce: field(Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }), '32 random bytes, base64url.'),
    address: field(baseUrl, 'Base URL that the host uses.'),
  }),
  status: 200,
  reply: shape({
    proof: field(Type.String(), 'HMAC-SHA256 in hex.'),
    known_as: field(
      nullable(oneOf(['configuration', 'settings'])),
      'Why the server calls `address` its own: `configuration` (STOCKADE_BASE_URL) or `settings` (the site URL); null when it does not.',
    ),
    tls_key: field(
      nullable(Type.String()),
      'Pin (`sha256//...`) of the TLS key that the server itself serves; null where it serves plain http.',
    ),
  }),
})
