import { Type } from 'typebox'
import type { Static } from 'typebox'
import { times } from '../limits.ts'
import { recordOf } from '../untrusted.ts'
import { count, timestamp, uuid } from '../common.ts'
import { field, nullable, oneOf, resource } from '../shapes.ts'
import { commandTypeOf } from './command-type.ts'
import { portNumber } from './params.ts'

/** How far a self-test goes. An agent that does not know a level tests `packet`. */
const levels = ['packet', 'engine'] as const

export const selfTest = commandTypeOf({
  type: 'self-test',
  documentation:
    'Bans an address for documentation on the server, tests whether a packet of it is dropped, and lifts the ban. With `level: engine` the same ban then comes from a line of a log, by fail2ban. The output is JSON with `result` and `steps`.',
  permission: 'write',
  expiresAfter: () => times.commandTtlShort,
  params: {
    level: field(
      Type.Optional(oneOf(levels)),
      '`packet`, the default: a ban in the shield. `engine`: also a ban that fail2ban makes of a line in a log, with each firewall action that its jails use.',
    ),
    ports: field(
      Type.Optional(Type.Array(portNumber, { minItems: 1, maxItems: 10, uniqueItems: true })),
      'TCP ports to which the packets go. Without them: those of services and published ports of the server.',
    ),
  },
})

/** The hops, each for one family. Those of `engine` come from fail2ban, the others from the shield. */
const hops = ['control', 'ban', 'drop', 'lift', 'engine-jail', 'engine-ban', 'engine-drop', 'engine-lift'] as const

const outcomes = ['proved', 'held', 'failed'] as const
const outcomeWords =
  '`proved`: a packet was answered, dropped while its sender was banned, and answered again. `held`: the kernel held the ban, but no packet could be sent.'

/** The output of `self-test`, as JSON. */
export const selfTestResult = resource('SelfTestResult', {
  result: field(oneOf(outcomes), outcomeWords),
  steps: Type.Array(
    resource('SelfTestStep', {
      step: oneOf(hops),
      family: Type.Union([Type.Literal(4), Type.Literal(6)]),
      ok: field(nullable(Type.Boolean()), 'Null when the server could not try it; `text` says why.'),
      ms: count,
      text: Type.String(),
    }),
  ),
})
export type SelfTestResult = Static<typeof selfTestResult>

/** The last self-test of a server, as its page shows it. */
export const lastSelfTest = resource('LastSelfTest', {
  result: field(
    oneOf([...outcomes, 'untried']),
    `${outcomeWords} \`untried\`: the server answered that it does not test, and is not asked again by itself.`,
  ),
  at: field(timestamp, 'Time at which the test ended.'),
  command_id: field(uuid, 'Command whose output has the steps.'),
})
export type LastSelfTest = Static<typeof lastSelfTest>
/** The outcome that the output of a self-test names; null for other text. */
export const outcomeOfSelfTest = (output: string): SelfTestResult['result'] | null => {
  try {
    const { result } = recordOf(JSON.parse(output))
    return outcomes.find(outcome => outcome === result) ?? null
  } catch {
    return null
  }
}
