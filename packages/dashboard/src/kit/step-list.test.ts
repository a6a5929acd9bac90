import { expect, it } from 'vitest'
import { ApiError } from '@stockade/client'
import { notReached, stepsOf } from './step-list.ts'

it('a refused test tells of its steps; what is none is left out', () => {
  const good = { name: 'resolve', ok: true, ms: 3, detail: '192.0.2.7' }
  const body = {
    error: 'Connection failed',
    message: 'x',
    reason: 'connection-failed' as const,
    steps: [good, { name: 'nonsense' }, null, 'text'],
  }
  expect(stepsOf(new ApiError(400, body, null))).toEqual([good])
  expect(stepsOf(new ApiError(400, { error: 'x', message: 'x', reason: 'invalid' as const }, null))).toEqual([])
  expect(stepsOf(new TypeError('no answer'))).toEqual([])
})
it('what was not come to follows the step that failed', () => {
  const planned = ['resolve', 'connect', 'tls', 'write', 'answer'] as const
  const done = [
    { name: 'resolve', ok: true, ms: 1, detail: '' },
    { name: 'connect', ok: false, ms: 1, detail: '' },
  ] as const
  expect(notReached(planned, done)).toEqual(['tls', 'write', 'answer'])
  expect(notReached(planned, [])).toEqual(planned)
})
