import { Type } from 'typebox'
import type { Static } from 'typebox'
import { count } from './common.ts'
import { field, nullable, oneOf, resource } from './shapes.ts'

/** The kinds of cause that the log lines of a ban can tell. */
export const banReasonKinds = [
  'failed-logins',
  'mail-logins',
  'requests',
  'probes',
  'repeat-offender',
  'rate-limit',
  'manual',
  'other',
] as const
export type BanReasonKind = (typeof banReasonKinds)[number]

/** Values that one reason carries of each sort, and their length in characters. */
export const reasonBounds = { values: 5, value: 64 } as const

export const banReason = resource('BanReason', {
  kind: field(
    oneOf(banReasonKinds),
    '`requests`: refused or unauthorized HTTP requests. `probes`: requests or connections that look for weaknesses. `other`: the lines do not tell.',
  ),
  attempts: field(nullable(count), 'Number of attempts that the log lines tell of; null when they tell of none.'),
  users: field(Type.Array(Type.String()), 'User names that were tried, the most frequent first, at most 5.'),
  paths: field(Type.Array(Type.String()), 'Paths that were requested, the most frequent first, at most 5.'),
  text: field(nullable(Type.String()), 'The reason that the operator gave for a manual ban; null for other bans.'),
})
export type BanReason = Static<typeof banReason>
