import { Type } from 'typebox'
import type { Static } from 'typebox'
import { duration } from './bans.ts'
import { endpoint } from './endpoint.ts'
import { bounds, pages } from './limits.ts'
import { count, id, ipOrRange, listOf, message, paging, reportedJail, serverRef, timestamp } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'
import { target, targetInput } from './targets.ts'

/* Sharing rules: bans of a few servers that become bans of many. docs/guides/sharing-rules.md describes them. */

const family = { tag: 'Sharing rules', scope: 'bans' } as const
const params = shape({ id })

export const ruleState = oneOf(['draft', 'simulated', 'armed', 'tripped'], { title: 'RuleState' })
export type RuleState = Static<typeof ruleState>
export const ruleOutcome = oneOf(['banned', 'refused', 'tripped'], { title: 'RuleOutcome' })
export type RuleOutcome = Static<typeof ruleOutcome>

const country = Type.String({ pattern: '^[A-Za-z]{2}$', errorMessage: 'must be a country code of two letters' })
const asn = Type.Integer({ minimum: 1, maximum: 4_294_967_295 })
const some = <T extends ReturnType<typeof Type.String> | typeof asn>(item: T, most: number) =>
  nullable(Type.Array(item, { minItems: 1, maxItems: most, uniqueItems: true }))

const filters = {
  jails: some(reportedJail, bounds.ruleFilters),
  countries: some(country, bounds.ruleFilters),
  asns: some(asn, bounds.ruleFilters),
} as const
const within = Type.Integer({ minimum: 60, maximum: 7 * 86_400 })
const thresholds = {
  min_servers: Type.Integer({ minimum: 1, maximum: 1000 }),
  min_bans: Type.Integer({ minimum: 1, maximum: 200 }),
} as const
const factor = Type.Number({ minimum: 1, maximum: 100 })
const limits = {
  per_hour: Type.Integer({ minimum: 1, maximum: 10_000 }),
  standing: Type.Integer({ minimum: 1, maximum: bounds.fleetBans }),
} as const
const exclude = Type.Array(ipOrRange, { maxItems: bounds.ruleExclusions })

const words = {
  min_servers: 'Servers that must have banned the address.',
  min_bans: 'Bans of the address that it takes on these servers.',
  within: 'Seconds within which these bans lie.',
  jails: 'Jails whose bans count; null for all.',
  countries: 'Countries whose addresses count, by ISO 3166-1 code; null for all.',
  asns: 'Autonomous systems whose addresses count; null for all.',
  from: 'Servers whose bans count.',
  target: 'Where the address is banned then.',
  duration: 'Length of the first ban in seconds; -1 is permanent.',
  factor: 'Each further ban of the same address is so many times longer.',
  max_duration: 'Longest ban in seconds; null for ten years.',
  per_hour: 'Bans that the rule may make within an hour. One more, and it stops.',
  standing: 'Bans of the rule that may stand at the same time. One more, and it stops.',
  exclude: 'Addresses and ranges that this rule never bans.',
} as const

const conditions = {
  min_servers: field(thresholds.min_servers, words.min_servers),
  min_bans: field(thresholds.min_bans, words.min_bans),
  within: field(within, words.within),
  jails: field(filters.jails, words.jails),
  countries: field(filters.countries, words.countries),
  asns: field(filters.asns, words.asns),
  from: field(target, words.from),
  target: field(target, words.target),
  duration: field(duration, words.duration),
  factor: field(factor, words.factor),
  max_duration: field(nullable(Type.Integer()), words.max_duration),
} as const
const conditionsInput = {
  min_servers: field(Type.Optional(thresholds.min_servers), `${words.min_servers} 2 unless given.`),
  min_bans: field(Type.Optional(thresholds.min_bans), `${words.min_bans} \`min_servers\` unless given.`),
  within: field(Type.Optional(within), `${words.within} 86400 unless given.`),
  jails: field(Type.Optional(filters.jails), words.jails),
  countries: field(Type.Optional(filters.countries), words.countries),
  asns: field(Type.Optional(filters.asns), words.asns),
  from: field(Type.Optional(targetInput), `${words.from} All unless given.`),
  target: field(Type.Optional(targetInput), `${words.target} All servers unless given.`),
  duration: field(Type.Optional(duration), `${words.duration} 86400 unless given.`),
  factor: field(Type.Optional(factor), `${words.factor} 1 unless given.`),
  max_duration: field(
    Type.Optional(nullable(Type.Integer({ minimum: 60, maximum: bounds.seconds * 10 }))),
    words.max_duration,
  ),
} as const
const limitsInput = {
  per_hour: field(Type.Optional(limits.per_hour), `${words.per_hour} 50 unless given.`),
  standing: field(Type.Optional(limits.standing), `${words.standing} 1000 unless given.`),
  exclude: field(Type.Optional(exclude), words.exclude),
} as const
const ruleName = text(1, bounds.name)

export const ruleMatch = resource('RuleMatch', {
  entry: field(Type.String(), 'Address, or the /64 of an IPv6 address.'),
  at: field(timestamp, 'Time of the ban that completed the condition.'),
  until: field(nullable(timestamp), 'End of the ban that follows; null for a permanent one.'),
  times: field(count, 'How often the rule has banned the entry, this time included.'),
  outcome: field(
    ruleOutcome,
    '`banned`: it is banned. `refused`: it must not be banned. `tripped`: the rule stopped at a limit.',
  ),
  cause: field(nullable(Type.String()), 'Why it was refused, or which limit was met; null for a ban.'),
  servers: field(
    Type.Array(serverRef),
    'Servers whose bans met the condition, of those that the caller sees; at most 20.',
  ),
  server_count: field(count, 'All servers whose bans met the condition.'),
  fleet_ban_id: field(nullable(id), 'The fleet ban; null where none was made.'),
})
export type RuleMatch = Static<typeof ruleMatch>

const dayCount = resource('RuleSimulationDay', {
  day: field(Type.String({ examples: ['2026-11-20'] }), 'Day in UTC.'),
  bans: field(count, 'Bans that the rule would have made.'),
  returned: field(count, 'Of these, those whose address then came to a server of the target.'),
})
export const ruleSimulation = resource('RuleSimulation', {
  from: field(timestamp, 'Start of the simulated time.'),
  to: field(timestamp, 'End of the simulated time.'),
  complete: field(Type.Boolean(), 'False where older bans were left out, because there are too many.'),
  bans_read: field(count, 'Bans of servers that were read.'),
  banned: field(count, 'Bans that the rule would have made.'),
  addresses: field(count, 'Different entries that it would have banned.'),
  refused: field(count, 'Matches that must not be banned, such as whitelisted addresses.'),
  returned: field(count, 'Of the bans, those whose address then came to a server of the target.'),
  spared: field(count, 'Bans on servers of the target that would have come too late.'),
  tripped_at: field(nullable(timestamp), 'Time at which a limit would have stopped the rule; null: never.'),
  days: field(Type.Array(dayCount), 'Days with bans, the first one first.'),
  servers: field(
    Type.Array(resource('RuleSimulationServer', { server: serverRef, spared: field(count, 'Spared bans.') })),
    'Servers with the most spared bans, at most 20.',
  ),
  matches: field(Type.Array(ruleMatch), 'The newest matches, at most 100; refused ones first.'),
})
export type RuleSimulation = Static<typeof ruleSimulation>

export const rule = resource('Rule', {
  id,
  name: ruleName,
  ...conditions,
  per_hour: field(limits.per_hour, words.per_hour),
  standing: field(limits.standing, words.standing),
  exclude: field(Type.Array(Type.String()), words.exclude),
  state: field(
    ruleState,
    '`draft`: it was not simulated as it is now. `simulated`: it may be armed. `armed`: it bans. `tripped`: it met a limit and stopped.',
  ),
  reason: field(nullable(Type.String()), 'Which limit it met; null unless it is tripped.'),
  simulated_at: field(nullable(timestamp), 'Time of the last simulation of these conditions; null before.'),
  simulation: field(
    nullable(
      resource('RuleSimulationSummary', {
        days: field(count, 'Days that were simulated.'),
        banned: field(count, 'Bans that the rule would have made.'),
        refused: field(count, 'Matches that must not be banned.'),
        tripped: field(Type.Boolean(), 'Whether a limit would have stopped the rule.'),
      }),
    ),
    'What the last simulation of these conditions said; null before.',
  ),
  armed_by: field(nullable(Type.String()), 'Who armed it; null while it is not armed.'),
  armed_at: field(nullable(timestamp), 'Time at which it was armed; null while it is not armed.'),
  banned_30_days: field(count, 'Bans that it made in the last 30 days.'),
  created_by: field(Type.String(), 'Name of the user or API key that made it.'),
  created_at: timestamp,
  updated_at: timestamp,
})
export type Rule = Static<typeof rule>

export const listRules = endpoint('GET /rules', {
  ...family,
  fleet: true,
  summary: 'List the sharing rules',
  description: 'In the order of their names; there are at most 50.',
  access: 'read',
  reply: shape({ rules: field(Type.Array(rule), 'The rules.'), total: count }),
})
export const getRule = endpoint('GET /rules/{id}', {
  ...family,
  fleet: true,
  summary: 'Read one sharing rule',
  access: 'read',
  params,
  reply: rule,
  refusals: [404],
})
export const createRule = endpoint('POST /rules', {
  ...family,
  fleet: true,
  summary: 'Create a sharing rule',
  description:
    '"An address banned by `min_servers` servers within `within` seconds is banned on `target` for `duration`." It bans nothing until it was simulated and armed. IPv6 addresses count by their /64. Bans of ranges, bans by operators, bans that a server held before it was enrolled and bans of servers in quarantine do not count.',
  access: 'write',
  lasts: false,
  leaves: { what: 'sharing rules', most: bounds.rules, per: 'fleet' },
  body: shape({ name: ruleName, ...conditionsInput, ...limitsInput }),
  status: 201,
  reply: rule,
  refusals: [409],
})
export const changeRule = endpoint('PATCH /rules/{id}', {
  ...family,
  fleet: true,
  summary: 'Change a sharing rule',
  description:
    'Name, limits and `exclude` can be changed at any time. Other fields of an armed rule are refused: disarm it first. After a change of these it is a draft.',
  access: 'write',
  lasts: 'partly',
  params,
  body: shape({ name: Type.Optional(ruleName), ...conditionsInput, ...limitsInput }),
  reply: rule,
  refusals: [404, 409],
})
export const removeRule = endpoint('DELETE /rules/{id}', {
  ...family,
  fleet: true,
  summary: 'Delete a sharing rule',
  description: 'Its bans stay until they end or are lifted, unless `lift` is true.',
  access: 'write',
  lasts: true,
  params,
  query: shape({ lift: field(Type.Optional(Type.Boolean()), 'Whether its bans are lifted.') }),
  reply: message,
  refusals: [404],
})

const days = field(
  Type.Optional(Type.Integer({ minimum: 1, maximum: 30 })),
  'Days before now that are simulated; 30 unless given.',
)
export const simulateConditions = endpoint('POST /rules/simulate', {
  ...family,
  fleet: true,
  summary: 'Simulate conditions of a sharing rule',
  description: 'Tells what a rule would have done with the bans of the last days. Nothing is stored.',
  access: 'write',
  lasts: false,
  leaves: null,
  body: shape({ days, ...conditionsInput, ...limitsInput }),
  reply: ruleSimulation,
  refusals: [503],
})
export const simulateRule = endpoint('POST /rules/{id}/simulate', {
  ...family,
  fleet: true,
  summary: 'Simulate a sharing rule',
  description:
    'Tells what the rule would have done with the bans of the last days. A draft becomes `simulated`, and so may be armed.',
  access: 'write',
  lasts: false,
  leaves: null,
  params,
  body: shape({ days }),
  reply: ruleSimulation,
  refusals: [404, 503],
})
export const armRule = endpoint('POST /rules/{id}/arm', {
  ...family,
  fleet: true,
  summary: 'Arm a sharing rule',
  description:
    'From now on it bans. The first ban comes with the next match: nobody is banned for the past alone. Refused with 409 unless its conditions were simulated within the last 24 hours.',
  access: 'write',
  lasts: true,
  leaves: null,
  params,
  reply: rule,
  refusals: [404, 409],
})
export const disarmRule = endpoint('POST /rules/{id}/disarm', {
  ...family,
  fleet: true,
  summary: 'Disarm a sharing rule',
  description: 'Its bans stay until they end or are lifted, unless `lift` is true.',
  access: 'write',
  lasts: true,
  leaves: null,
  params,
  body: shape({ lift: field(Type.Optional(Type.Boolean()), 'Whether its bans are lifted.') }),
  reply: rule,
  refusals: [404],
})
export const listRuleMatches = endpoint('GET /rules/{id}/matches', {
  ...family,
  fleet: true,
  summary: 'List what a sharing rule did',
  description: 'Newest first, those of the last 90 days.',
  access: 'read',
  params,
  query: shape({
    outcome: field(Type.Optional(ruleOutcome), 'Only matches with this outcome.'),
    ...paging(pages.ruleMatches),
  }),
  reply: listOf('matches', ruleMatch),
  refusals: [404],
})
