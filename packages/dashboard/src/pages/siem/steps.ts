import { ApiError } from '@stockade/client'
import { isEncrypted, isHttp, transportOf } from './destination-form.ts'
import type { SiemSettings, Step } from './queries.ts'

const names = ['resolve', 'connect', 'tls', 'write', 'answer'] as const
const isStep = (value: unknown): value is Step => {
  const { name, ok, ms, detail } = (value ?? {}) as Record<string, unknown>
  return (
    names.some(known => known === name) &&
    typeof ok === 'boolean' &&
    typeof ms === 'number' &&
    typeof detail === 'string'
  )
}

/** The steps that a refused test tells of. */
export const stepsOf = (error: unknown): readonly Step[] => {
  if (!(error instanceof ApiError) || !('steps' in error.body)) return []
  const { steps } = error.body
  return Array.isArray(steps) ? steps.filter(isStep) : []
}

/** What has to be done on the way to that target, in order. */
export const plannedSteps = (
  is: Pick<SiemSettings, 'format' | 'protocol' | 'tls_enabled'>,
): readonly Step['name'][] => {
  const transport = transportOf(is)
  if (!isHttp(is.format) && transport === 'udp') return ['resolve', 'write', 'answer']
  return names.filter(name => name !== 'tls' || isEncrypted(transport))
}

/** Those of the plan that were not come to, after the ones that were. */
export const notReached = (planned: readonly Step['name'][], done: readonly Step[]): readonly Step['name'][] =>
  planned.slice(planned.findLastIndex(name => done.some(step => step.name === name)) + 1)
