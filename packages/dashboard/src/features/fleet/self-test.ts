import { isOneOf, recordOf } from '@stockade/contract/untrusted.ts'

const hops = ['control', 'ban', 'drop', 'lift', 'engine-jail', 'engine-ban', 'engine-drop', 'engine-lift'] as const

/** What a host answers to the command `self-test`, as its agent writes it. */
export interface SelfTest {
  readonly result: 'proved' | 'held' | 'failed'
  readonly steps: readonly {
    readonly step: (typeof hops)[number]
    readonly family: 4 | 6
    readonly ok: boolean | null
    readonly ms: number
    readonly text: string
  }[]
}

/** Null where the host answered with a sentence, or with what this page does not know. A host is not trusted. */
export const readSelfTest = (output: string): SelfTest | null => {
  try {
    const { result, steps } = recordOf(JSON.parse(output))
    if (!isOneOf(['proved', 'held', 'failed'], result) || !Array.isArray(steps)) return null
    return { result, steps: steps.slice(0, 50).map(readStep) }
  } catch {
    return null
  }
}

const readStep = (value: unknown): SelfTest['steps'][number] => {
  const { step, family, ok, ms, text } = recordOf(value)
  if (!isOneOf(hops, step) || !isOneOf([4, 6], family)) throw new Error('an unknown step')
  return {
    step,
    family,
    ok: ok === true ? true : ok === false ? false : null,
    ms: typeof ms === 'number' && ms >= 0 ? Math.round(ms) : 0,
    text: typeof text === 'string' ? text : '',
  }
}
