import { ApiError } from '@stockade/client'
import { isRecord, recordOf } from '@stockade/contract/untrusted.ts'
import { print, printJson } from './print.ts'
import { safe } from './safe.ts'

/** A step of a test that the server made: `DeliveryStep` and `SiemStep` of the contract. */
export interface Step {
  readonly name: string
  readonly ok: boolean
  readonly ms: number
  readonly detail: string
}
const isStep = (value: unknown): value is Step => {
  const { name, ok, ms, detail } = recordOf(value)
  return typeof name === 'string' && typeof ok === 'boolean' && typeof ms === 'number' && typeof detail === 'string'
}

/** The steps that a refused test made until then; null for another error. */
export const stepsOf = (error: unknown): readonly Step[] | null => {
  const body: unknown = error instanceof ApiError ? error.body : null
  const steps = isRecord(body) ? body.steps : null
  return Array.isArray(steps) && steps.every(isStep) ? steps : null
}

const printSteps = (steps: readonly Step[]): void => {
  for (const { name, ok, ms, detail } of steps) print(`${ok ? 'ok    ' : 'failed'}  ${name}  ${ms} ms  ${safe(detail)}`)
}

/** Runs a test and prints its steps, those of a refused one too. */
export const printTest = async (
  test: () => Promise<{ readonly steps: readonly Step[]; readonly message: string }>,
  json: boolean,
): Promise<void> => {
  try {
    const done = await test()
    if (json) return printJson(done)
    printSteps(done.steps)
    print(safe(done.message))
  } catch (error) {
    const steps = stepsOf(error)
    if (steps && !json) printSteps(steps)
    throw error
  }
}
