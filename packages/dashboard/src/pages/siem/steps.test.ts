import { expect, it } from 'vitest'
import { ApiError } from '@stockade/client'
import { notReached, plannedSteps, stepsOf } from './steps.ts'

it('a refused test tells of its steps; what is none is left out', () => {
  const good = { name: 'resolve', ok: true, ms: 3, detail: '192.0.2.7' }
  const body = { error: 'Connection failed', message: 'x', steps: [good, { name: 'nonsense' }, null, 'text'] }
  expect(stepsOf(new ApiError(400, body, null))).toEqual([good])
  expect(stepsOf(new ApiError(400, { error: 'x', message: 'x' }, null))).toEqual([])
  expect(stepsOf(new TypeError('no answer'))).toEqual([])
})
it('what was not come to follows the step that failed', () => {
  const planned = plannedSteps({ format: 'json', protocol: 'https', tls_enabled: false })
  expect(planned).toEqual(['resolve', 'connect', 'tls', 'write', 'answer'])
  expect(plannedSteps({ format: 'json', protocol: 'http', tls_enabled: false })).not.toContain('tls')
  expect(plannedSteps({ format: 'cef', protocol: 'udp', tls_enabled: false })).toEqual(['resolve', 'write', 'answer'])
  const done = [
    { name: 'resolve', ok: true, ms: 1, detail: '' },
    { name: 'connect', ok: false, ms: 1, detail: '' },
  ] as const
  expect(notReached(planned, done)).toEqual(['tls', 'write', 'answer'])
  expect(notReached(planned, [])).toEqual(planned)
})
