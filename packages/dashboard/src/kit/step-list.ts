import { ApiError } from '@stockade/client'
import { isOneOf, recordOf } from '@stockade/contract/untrusted.ts'

/** Every step that a test of another side may take, in order. */
const stepNames = ['resolve', 'connect', 'tls', 'authenticate', 'write', 'answer'] as const
export type StepName = (typeof stepNames)[number]
export interface Step {
  readonly name: StepName
  readonly ok: boolean
  readonly ms: number
  /** In words, partly the other side's. */
  readonly detail: string
}

const isStep = (value: unknown): value is Step => {
  const { name, ok, ms, detail } = recordOf(value)
  return isOneOf(stepNames, name) && typeof ok === 'boolean' && typeof ms === 'number' && typeof detail === 'string'
}

/** The steps that a refused test reports. */
export const stepsOf = (error: unknown): readonly Step[] => {
  if (!(error instanceof ApiError) || !('steps' in error.body)) return []
  const { steps } = error.body
  return Array.isArray(steps) ? steps.filter(isStep) : []
}

/** Those of the plan that were not come to, after the ones that were. */
export const notReached = (planned: readonly StepName[], done: readonly Step[]): readonly StepName[] =>
  planned.slice(planned.findLastIndex(name => done.some(step => step.name === name)) + 1)
