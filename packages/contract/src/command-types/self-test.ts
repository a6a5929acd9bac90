import { Type } from 'typebox'
import type { Static } from 'typebox'
import { times } from '../limits.ts'
import { count, field, nullable, oneOf, resource } from '../shapes.ts'
import { commandTypeOf } from './command-type.ts'

export const selfTest = commandTypeOf({
  type: 'self-test',
  documentation:
    'Bans an address for documentation on the host, tests whether a packet of it is dropped, and lifts the ban. The output is JSON with `result` and `steps`.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: {},
})

/** The output of `self-test`, as JSON. */
export const selfTestResult = resource('SelfTestResult', {
  result: field(
    oneOf(['proved', 'held', 'failed']),
    '`proved`: a packet was answered, dropped while its sender was banned, and answered again. `held`: the kernel held the ban, but no packet could be sent.',
  ),
  steps: Type.Array(
    resource('SelfTestStep', {
      step: oneOf(['control', 'ban', 'drop', 'lift']),
      family: Type.Union([Type.Literal(4), Type.Literal(6)]),
      ok: field(nullable(Type.Boolean()), 'Null when the host could not try it; `text` says why.'),
      ms: count,
      text: Type.String(),
    }),
  ),
})
export type SelfTestResult = Static<typeof selfTestResult>
