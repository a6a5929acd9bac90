import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { count, timestamp } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

const admin = { tag: 'Settings', access: 'admin', fleet: true } as const

export const licenceFeatures = resource('LicenseFeatures', {
  reputation: field(Type.Boolean(), 'Reports to the reputation database.'),
  custom_templates: field(Type.Boolean(), 'Custom templates.'),
  siem: field(Type.Boolean(), 'SIEM forwarding.'),
  terminal: field(Type.Boolean(), 'Web terminal.'),
  port_knocking: field(Type.Boolean(), 'Port knocking.'),
})
const tier = Type.String({ examples: ['personal', 'pro'] })

export const getLicense = endpoint('GET /settings/license', {
  ...admin,
  summary: 'Read the licence',
  description:
    '`tier`, `server_limit` and `features` are what counts now: those of `personal` without a licence, or once it has expired (`state`). `servers_used` counts servers that are not deleted. `authority_set` says whether Stockade can verify a licence at all.',
  reply: shape({
    tier,
    server_limit: count,
    servers_used: field(count, 'Number of servers that exist.'),
    features: licenceFeatures,
    expires_at: nullable(timestamp),
    registered_to: field(nullable(Type.String()), 'Owner of the licence; null without a licence.'),
    state: field(oneOf(['none', 'active', 'expired', 'invalid']), 'State of the licence.'),
    authority_set: field(Type.Boolean(), 'Whether Stockade can verify licences.'),
    self_issue: field(
      Type.Boolean(),
      'Whether this installation may issue its own licence: STOCKADE_LICENSE_PUBLIC_KEY names no other authority.',
    ),
  }),
})

export const activateLicense = endpoint('POST /settings/license', {
  ...admin,
  lasts: true,
  leaves: null,
  summary: 'Activate a licence',
  description:
    'The key is a signed document that is verified offline with STOCKADE_LICENSE_PUBLIC_KEY. One that is invalid, expired or tampered with is refused and nothing changes. A smaller licence stops no server; it only refuses new ones.',
  body: shape({ license_key: field(text(1, 16 * 1024), 'The licence key.') }),
  reply: shape({ message: Type.String(), tier, server_limit: count, features: licenceFeatures }),
})

export const issueOwnLicense = endpoint('POST /settings/license/self', {
  ...admin,
  lasts: true,
  leaves: null,
  summary: 'Issue and activate a licence of this installation itself',
  description:
    'Makes a key pair in the data folder, issues a `pro` licence to the name of the site, and activates it. The pair is kept, so a later request only changes the number of servers. Answers 409 where STOCKADE_LICENSE_PUBLIC_KEY names another authority.',
  body: shape({
    servers: field(
      Type.Integer({ minimum: 1, maximum: bounds.licensedServers }),
      'Number of servers that the licence covers.',
    ),
  }),
  reply: shape({ message: Type.String(), tier, server_limit: count, features: licenceFeatures }),
  refusals: [409],
})
