import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { field, nullable, oneOf, resource, shape } from './shapes.ts'

/*
 * A feed as CrowdSec's local API serves it to bouncers: these paths, parameters and fields are the protocol of programs that exist, not ours.
 * docs/guides/bouncers.md has the settings of some.
 */

const family = { tag: 'Feeds', scope: 'bans', access: 'public', rate: 'none', lenient: true } as const
const refusals = [403, 429] as const
const list = (of: string) => field(Type.Optional(Type.String({ maxLength: bounds.bouncerQuery })), of)

const decision = resource('Decision', {
  id: field(Type.Integer(), 'Made from the value: the same address has the same id in each feed.'),
  origin: field(oneOf(['stockade']), 'Always `stockade`.'),
  type: field(oneOf(['ban']), 'Always `ban`.'),
  scope: field(oneOf(['Ip', 'Range']), 'Whether the value is an address or a range.'),
  value: field(Type.String({ examples: ['198.51.100.7'] }), 'Address or range.'),
  duration: field(
    Type.String({ examples: ['3h59m49s'] }),
    'How long a bouncer holds it unless it is told again: a day at most. It is told again before that, and after it.',
  ),
  scenario: field(oneOf(['stockade/feed']), 'Always `stockade/feed`.'),
})
const decisions = nullable(Type.Array(decision))
const filters = {
  scopes: list('Only these scopes, such as `ip,range`.'),
  origins: list('Only these origins; with others than `stockade` there is nothing.'),
  scenarios_containing: list('Only scenarios with one of these words in them.'),
  scenarios_not_containing: list('Only scenarios with none of these words in them.'),
} as const
const key =
  'The token of a feed in the header `X-Api-Key` is the only credential; with a dot and a name of its own behind it (`feed_….web-01`) bouncers that share an address are told apart. '

export const listDecisions = endpoint('GET /crowdsec/v1/decisions', {
  ...family,
  summary: 'Ask a feed as a bouncer does',
  description: `${key}Answers null where nothing matches. Unknown parameters are ignored.`,
  query: Type.Object({
    ...filters,
    scope: list('Only this scope.'),
    value: list('Only this value.'),
    type: list('Only this type.'),
    ip: list('Only what holds this address.'),
    range: list('Only what holds this range.'),
    contains: list('With `false`, only what lies in the range.'),
  }),
  reply: decisions,
  refusals,
})
export const streamDecisions = endpoint('GET /crowdsec/v1/decisions/stream', {
  ...family,
  summary: 'Follow a feed as a bouncer does',
  description: `${key}With \`startup=true\` all that the feed holds; later what changed since this bouncer, by token, name, address and program, asked last. A bouncer that is not known gets all, and what ended in the last day.`,
  query: Type.Object({ ...filters, startup: list('Whether the bouncer has just started.') }),
  reply: resource('DecisionStream', {
    new: field(decisions, 'What begins to be banned, or is told again; null for nothing.'),
    deleted: field(decisions, 'What is not banned any more; null for nothing.'),
  }),
  refusals,
})
export const bouncerMetrics = endpoint('POST /crowdsec/v1/usage-metrics', {
  ...family,
  summary: 'Take the counts of a bouncer',
  description: `${key}Nothing is stored: newer bouncers write an error to their log where nobody takes their counts.`,
  leaves: null,
  status: 201,
  reply: shape({}),
  refusals,
})
