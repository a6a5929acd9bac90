import { expect, it } from 'vitest'
import { plannedSteps } from './steps.ts'

it.each([
  ['json', 'https', ['resolve', 'connect', 'tls', 'write', 'answer']],
  ['json', 'http', ['resolve', 'connect', 'write', 'answer']],
  ['cef', 'udp', ['resolve', 'write', 'answer']],
] as const)('%s over %s: %j', (format, protocol, steps) =>
  expect(plannedSteps({ format, protocol, tls_enabled: false })).toEqual(steps),
)
