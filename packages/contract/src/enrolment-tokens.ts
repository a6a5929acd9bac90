import { Type } from 'typebox'
import type { Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { count, id, ipOrRange, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'
import { serverTag, serverTags } from './targets.ts'

/* Tokens that enrol many hosts. A host gives one to `POST /agent/enroll`, as it does with the token of a single server. */

const family = { tag: 'Servers', fleet: true, access: 'admin' } as const
const params = shape({ id })

export const enrolmentTokenState = oneOf(['open', 'suspended', 'used_up', 'ended', 'revoked'])
const enrolledServer = resource('EnrolledServer', {
  server_id: field(uuid, 'The server; it may have been removed since.'),
  hostname: field(Type.String(), 'Name that it got at its enrolment.'),
  ip: field(Type.String(), 'Address that the request came from.'),
  enrolled_at: field(timestamp, 'Time at which the server was enrolled.'),
})
const fields = {
  id,
  name: Type.String(),
  state: field(
    enrolmentTokenState,
    '`open` while it enrols servers. `suspended` while who made it may not add servers. Else it has enrolled as many as it may, its time is over, or somebody revoked it.',
  ),
  servers: field(count, 'Number of servers that it may enrol in all.'),
  used: field(count, 'Number of servers that it has enrolled.'),
  ends_at: field(timestamp, 'Time from which it enrols nobody.'),
  networks: field(
    nullable(Type.Array(Type.String({ examples: ['203.0.113.0/24'] }))),
    'Networks from which it is taken; null for all.',
  ),
  tags: field(Type.Array(serverTag), 'Tags that the enrolled servers get.'),
  created_by: field(Type.String(), 'Name of the user or API key that made it.'),
  created_at: timestamp,
  revoked_at: field(nullable(timestamp), 'Time at which it was revoked; null before.'),
  refused: field(count, 'Number of requests with it that were refused.'),
  refused_at: field(nullable(timestamp), 'Time of the last of them; null before.'),
  refused_from: field(nullable(Type.String()), 'Address that the last of them came from; null before.'),
} as const
export const enrolmentToken = resource('EnrolmentToken', fields)
export type EnrolmentToken = Static<typeof enrolmentToken>

export const listEnrolmentTokens = endpoint('GET /servers/enrolment-tokens', {
  ...family,
  summary: 'List the tokens that enrol many servers',
  description:
    'The newest first; there are at most 100. Of those that enrol nothing any more, the oldest make room for new ones.',
  reply: shape({ tokens: field(Type.Array(enrolmentToken), 'The tokens, without their secrets.'), total: count }),
})
export const createEnrolmentToken = endpoint('POST /servers/enrolment-tokens', {
  ...family,
  summary: 'Create a token that enrols many servers',
  description:
    'Each host that enrols with it becomes a server of its own with a key of its own, within the licence, while the caller may add servers to the whole fleet. The token and the command are in this reply and nowhere else.',
  lasts: true,
  leaves: { what: 'open enrolment tokens', most: bounds.enrolmentTokens.count, per: 'fleet' },
  rate: 'sensitive',
  body: shape({
    name: field(text(1, bounds.name), 'How it is called, such as the group of machines that it is for.'),
    servers: field(
      Type.Integer({ minimum: 1, maximum: bounds.enrolmentTokens.servers }),
      'Number of servers that it may enrol.',
    ),
    seconds: field(Type.Integer({ minimum: 60, maximum: bounds.enrolmentTokens.seconds }), 'Seconds until it ends.'),
    networks: field(
      Type.Optional(Type.Array(ipOrRange, { minItems: 1, maxItems: bounds.keyNetworks })),
      'Addresses and networks from which it is taken; all unless given.',
    ),
    tags: field(Type.Optional(serverTags), 'Tags that the enrolled servers get; duplicates are removed.'),
  }),
  status: 201,
  reply: resource('NewEnrolmentToken', {
    ...fields,
    token: field(Type.String(), 'The token; shown only here.'),
    install_command: field(Type.String(), 'The command that installs the agent on a host and enrols it.'),
  }),
  refusals: [409],
})
export const readEnrolmentToken = endpoint('GET /servers/enrolment-tokens/{id}', {
  ...family,
  summary: 'Read an enrolment token, and who used it',
  params,
  reply: resource('EnrolmentTokenDetail', {
    ...fields,
    enrolled: field(Type.Array(enrolledServer), 'The servers that it enrolled, the newest first, at most 1000.'),
  }),
  refusals: [404],
})
export const revokeEnrolmentToken = endpoint('DELETE /servers/enrolment-tokens/{id}', {
  ...family,
  summary: 'Revoke an enrolment token',
  description: 'It enrols nothing from now on. Servers that it enrolled stay.',
  lasts: true,
  params,
  reply: enrolmentToken,
  refusals: [404],
})
