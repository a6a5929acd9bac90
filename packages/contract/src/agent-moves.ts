import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { count, id, listOf, paging, serverProgress, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, openResource, resource, shape, text } from './shapes.ts'

/* Another address of the server for hosts that are enrolled. docs/guides/moving.md describes it. */

/** A base URL as agents write it. */
const baseUrl = Type.String({ pattern: '^https?://[\\x21-\\x7e]+$', maxLength: 2048 })

export const proveAddress = endpoint('POST /agent/challenge', {
  tag: 'Agent',
  summary: 'Prove to a server that Stockade stores its key (agent)',
  description:
    'An agent asks this at a new address before it sends its key there. `proof` is the HMAC-SHA256, in hex, of the lines `stockade-address-proof/1`, `nonce`, `server_id`, `address`, `known_as` and `tls_key` (`-` for null), keyed by the SHA-256 of the agent key. For a server that does not exist the answer looks the same, and proves nothing.',
  access: 'public',
  leaves: null,
  lenient: true,
  body: Type.Object({
    server_id: field(uuid, 'Id under which the server is enrolled.'),
    nonce: field(Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }), 'Random: 32 bytes, base64url.'),
    address: field(baseUrl, 'Base URL that the server uses.'),
  }),
  reply: shape({
    proof: field(Type.String(), 'HMAC-SHA256 in hex.'),
    known_as: field(
      nullable(oneOf(['configuration', 'settings'])),
      'Why Stockade calls `address` its own: `configuration` (STOCKADE_BASE_URL) or `settings` (the site URL); null when it does not.',
    ),
    tls_key: field(
      nullable(Type.String()),
      'Pin (`sha256//...`) of the TLS key that Stockade itself serves; null where it serves plain http.',
    ),
  }),
})

/** What a host of an ordered move says. */
const toldStates = ['trying', 'moved', 'failed'] as const
export const moveState = oneOf(['waiting', ...toldStates], { title: 'AgentMoveState' })
export type MoveState = Static<typeof moveState>

/** The order in a host's desired state. */
export const desiredMove = resource('DesiredMove', {
  revision: field(id, 'Revision of the order; the acknowledgement repeats it.'),
  url: field(Type.String(), 'Base URL at which the server should reach Stockade.'),
})
/** What a host says of the order. */
export const appliedMove = openResource('AppliedMove', {
  revision: field(id, 'Revision of the order.'),
  state: field(
    oneOf(toldStates),
    '`trying`: the server uses the new URL on trial. `moved`: it uses it for good. `failed`: it uses the one before, and tries again later.',
  ),
  reason: field(Type.Optional(nullable(text(0, bounds.description))), 'Why it failed.'),
})

const addresses = { tag: 'Agent address', scope: 'servers', fleet: true, access: 'admin' } as const
const agentAddress = resource('AgentAddress', {
  base_url: field(Type.String(), 'Base URL that Stockade has at present; install commands name it.'),
  url: field(nullable(Type.String()), 'Base URL that servers are ordered to use; null without an order.'),
  ordered_at: field(nullable(timestamp), 'Time of the order; null without one.'),
  ordered_by: field(nullable(Type.String()), 'User who gave the order; null without one.'),
  counts: field(
    resource('AgentMoveCounts', {
      waiting: field(count, 'Servers that did not answer the order: they are offline, or their agent is too old.'),
      trying: field(count, 'Servers that use the new address on trial.'),
      moved: field(count, 'Servers that use the new address.'),
      failed: field(count, 'Servers that use the address before, and try again every 10 minutes.'),
    }),
    'How far the servers are; all 0 without an order.',
  ),
})

export const getAgentAddress = endpoint('GET /agents/address', {
  ...addresses,
  summary: 'Read the address that agents are ordered to use',
  reply: agentAddress,
})

export const changeAgentAddress = endpoint('PUT /agents/address', {
  ...addresses,
  lasts: true,
  leaves: null,
  summary: 'Order all agents to another URL of Stockade, or withdraw the order',
  description:
    'Each server lets Stockade prove itself at the new URL before it sends its key there, uses the URL on trial for 10 minutes with the one before as a way back, and then keeps it. The URL must be STOCKADE_BASE_URL, or https with a TLS key that Stockade itself serves; else 409. Ordering the same URL again lets servers that failed try at once. `null` withdraws the order: servers on trial go back, servers that moved stay.',
  body: shape({
    url: field(nullable(text(1, 2048)), 'The new base URL; null withdraws the order.'),
    dry_run: field(
      Type.Optional(Type.Boolean()),
      'Only say whether the URL is accepted: `true` orders nothing, and answers what is ordered at present.',
    ),
  }),
  reply: agentAddress,
  refusals: [409],
})

export const listAgentMoves = endpoint('GET /agents/address/servers', {
  ...addresses,
  summary: 'List how far each server is with the ordered address',
  description: 'Those that failed first, then by hostname; empty without an order.',
  query: shape({ state: field(Type.Optional(moveState), 'Only servers in this state.'), ...paging(pages.rollouts) }),
  reply: listOf(
    'servers',
    resource('AgentMove', {
      ...serverProgress(
        moveState,
        'How far the server is.',
        'Why it failed last, also while it tries again; null where it did not fail, and once it has moved.',
      ),
      changed_at: field(nullable(timestamp), 'Time at which the server said so first; null before.'),
    }),
  ),
})
