import { Type } from 'typebox'
import type { Static } from 'typebox'
import { count, timestamp } from './common.ts'
import { field, nullable, oneOf, openResource, resource, text } from './shapes.ts'

/* The state of protection: whether what is banned on a host does not get through. A host can be online and unprotected. */

/** From best to worst; `unknown`: the host is silent, or too young to judge. */
export const protectionLevels = ['protected', 'degraded', 'unprotected', 'unknown'] as const
export type ProtectionLevel = (typeof protectionLevels)[number]
export const protectionLevel = oneOf(protectionLevels, { title: 'ProtectionLevel' })

/** What the agent looks at. */
export const protectionChecks = [
  'engine',
  'jail',
  'ignore',
  'log',
  'journal',
  'filter',
  'enforced',
  'shield',
  'keep',
  'published',
  'database',
  'clock',
  'agent',
  'config',
] as const
export type ProtectionCheckId = (typeof protectionChecks)[number]

/**
 * `bad` makes the host degraded or unprotected. `warning` is something to look at that alone never changes the level.
 * `unknown`: the check could not be done.
 */
export const checkStates = ['bad', 'warning', 'unknown'] as const
export type CheckState = (typeof checkStates)[number]

/** Bounds of what one host reports. */
export const protectionBounds = { checks: 50, subject: 200, detail: 500, summary: 500 } as const

const countedChecks = {
  ok: field(count, 'Checks that are fine.'),
  not_ok: field(count, 'Checks that are bad or a warning.'),
  unknown: field(count, 'Checks that could not be done.'),
}
const subject = 'What the check is about, such as the name of a jail; null for the whole server.'
const detail = 'What is wrong, in one sentence for people.'
const since = 'Time since which this holds.'

/** As an agent reports it. A check id or state that this server does not know is kept as text. */
export const protectionReport = openResource('ProtectionReport', {
  level: field(protectionLevel, 'The level that follows from the checks.'),
  since: field(timestamp, since),
  summary: field(text(0, protectionBounds.summary), 'The reason for the level, in one sentence for people.'),
  checks: field(
    Type.Array(
      openResource('ProtectionCheckReport', {
        id: text(1, 40),
        subject: field(Type.Optional(nullable(text(0, protectionBounds.subject))), subject),
        state: field(oneOf(checkStates), 'The outcome. A `warning` alone never changes the level.'),
        since: field(timestamp, since),
        detail: field(text(0, protectionBounds.detail), detail),
      }),
      { maxItems: protectionBounds.checks },
    ),
    'The checks that are not fine, the worst first.',
  ),
  counted: field(openResource('ProtectionCountsReport', countedChecks), 'Number of checks by outcome.'),
})
export type ProtectionReport = Static<typeof protectionReport>

/** The first of the checks that are not fine. */
export const protectionProblem = resource('ProtectionProblem', {
  check: field(Type.String(), 'Id of the check.'),
  subject: field(nullable(Type.String()), subject),
  state: field(oneOf(checkStates), 'The outcome. A `warning` alone never changes the level.'),
  since: field(timestamp, since),
  detail: field(Type.String(), detail),
})
export type ProtectionProblem = Static<typeof protectionProblem>

/** Groups of checks, in the order in which a log line becomes a ban that holds. */
export const markNames = ['engine', 'jails', 'logs', 'firewall', 'containers', 'whitelist'] as const
export type MarkName = (typeof markNames)[number]
export const markStates = ['passed', 'doubtful', 'failed', 'none'] as const
export type MarkState = (typeof markStates)[number]
const mark = (of: string) =>
  field(
    oneOf(markStates),
    `${of} \`passed\`: all checks are fine. \`doubtful\`: a warning, or unknown. \`failed\`: a check is bad. \`none\`: nothing was reported.`,
  )
export const protectionMarks = resource('ProtectionMarks', {
  engine: mark('State of fail2ban, its database and the agent.'),
  jails: mark('Jails that are switched on do run.'),
  logs: mark('Logs and journals that jails read.'),
  firewall: mark('Bans that the kernel enforces.'),
  containers: mark('Ports that containers publish.'),
  whitelist: mark('The whitelist on the server. It is `doubtful` while a change is on its way.'),
})
export type ProtectionMarks = Static<typeof protectionMarks>

/** The part of it that lists of servers carry. */
const protectionHead = {
  level: field(protectionLevel, 'The level now: `unknown` while the server is pending or offline.'),
  since: field(nullable(timestamp), 'Time since which the level holds; null before the first report.'),
  summary: field(nullable(Type.String()), 'The reason for the level, in one sentence; null before the first report.'),
  reported_level: field(
    nullable(protectionLevel),
    'The level that the server reported last; null before the first report.',
  ),
  reported_at: field(nullable(timestamp), 'Time of the last report; null before the first one.'),
  problem: field(
    nullable(protectionProblem),
    'The worst check that was not fine at the last report; null when all were fine.',
  ),
  marks: field(protectionMarks, 'Six groups of checks at the last report.'),
}
export const protectionSummary = resource('ProtectionSummary', protectionHead)
export const protection = resource('Protection', {
  ...protectionHead,
  checks: field(
    Type.Array(
      resource('ProtectionCheck', {
        id: Type.String(),
        subject: field(nullable(Type.String()), subject),
        state: field(oneOf(checkStates), 'The outcome. A `warning` alone never changes the level.'),
        since: field(timestamp, since),
        detail: field(Type.String(), detail),
      }),
    ),
    'The checks that were not fine at the last report, the worst first.',
  ),
  counted: field(
    nullable(resource('ProtectionCounts', countedChecks)),
    'Number of checks by outcome at the last report; null before the first one.',
  ),
})
export type Protection = Static<typeof protection>

/** What the agent's own nftables table can do on a host. */
export const shieldReport = openResource('ShieldReport', {
  supported: field(Type.Boolean(), 'Whether bans without a jail are held by the agent itself, in the kernel.'),
  mode: field(
    nullable(oneOf(['stateful', 'stateless'])),
    '`stateful` uses the connection tracking that runs on the server; null where the shield is not supported.',
  ),
  owned: field(Type.Boolean(), 'Whether the kernel keeps other programs from changing the table.'),
  driver: field(nullable(oneOf(['netlink', 'nft'])), 'How the agent speaks to the kernel; null where it can not.'),
  reason: field(nullable(text(0, protectionBounds.detail)), 'Why the shield is not supported; null where it is.'),
})
