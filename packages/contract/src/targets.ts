import { Type } from 'typebox'
import type { Static } from 'typebox'
import { bounds } from './limits.ts'
import { uuid } from './common.ts'
import { field, resource } from './shapes.ts'

/* Tags of servers, and the choice of servers that fleet bans and other objects of the fleet are for. */

/** Lower-case letters, digits and hyphens; the first character is no hyphen. */
const tagPattern = '^[a-z0-9][a-z0-9-]{0,31}$'
export const serverTag = Type.String({
  pattern: tagPattern,
  minLength: 1,
  maxLength: bounds.tag,
  examples: ['web'],
  errorMessage: 'must be 1 to 32 lower-case letters, digits or hyphens, and not begin with a hyphen',
})
export const serverTags = Type.Array(serverTag, { maxItems: bounds.tagsPerServer })

const everywhere = field(Type.Optional(Type.Literal(true)), 'All servers, those of the future too.')

/** Exactly one of the fields; further ways to choose servers will be further fields. */
export const targetInput = resource('TargetInput', {
  all: everywhere,
  server_ids: field(Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: bounds.targets })), 'These servers.'),
  tags: field(
    Type.Optional(Type.Array(serverTag, { minItems: 1, maxItems: bounds.tagsPerServer })),
    'Servers with at least one of these tags, those of the future too.',
  ),
})
export const target = resource('Target', {
  all: everywhere,
  server_ids: field(Type.Optional(Type.Array(uuid)), 'These servers; of them those that the caller sees.'),
  tags: field(
    Type.Optional(Type.Array(serverTag)),
    'Servers with at least one of these tags; of them the tags that the caller sees.',
  ),
})
export type TargetInput = Static<typeof targetInput>
export type Target = Static<typeof target>
