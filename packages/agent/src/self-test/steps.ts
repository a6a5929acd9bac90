import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import { errorText } from '../text.ts'
import type { Answer, Probe, Target } from './probe.ts'

type Step = SelfTestResult['steps'][number]
export type Family = Step['family']

/** The steps of a test, in the order in which they ended. */
export interface Steps {
  readonly steps: readonly Step[]
  /**
   * Does a step and notes how it ended. A failure of the work is a failed step, except where `untried` says that it only could not be
   * tried. Answers the value of a step that went well, else null.
   */
  step<T>(
    name: Step['step'],
    family: Family,
    work: () => Promise<{ ok: boolean | null; text: string; value: T }>,
    untried?: boolean,
  ): Promise<T | null>
}

export const createSteps = (steadyNow: () => number): Steps => {
  const steps: Step[] = []
  return {
    steps,
    async step(name, family, work, untried = false) {
      const started = steadyNow()
      const add = (ok: boolean | null, text: string): void =>
        void steps.push({ step: name, family, ok, ms: Math.round(steadyNow() - started), text })
      try {
        const { ok, text, value } = await work()
        add(ok, text)
        return ok === true ? value : null
      } catch (error) {
        add(untried ? null : false, errorText(error))
        return null
      }
    },
  }
}

/** Where packets were answered before anything was banned, and how. */
export interface Control {
  readonly targets: readonly Target[]
  readonly answers: readonly Answer[]
}

/** A busy host may need more than one try to answer. Milliseconds. */
const answeredWithin = 3000

/** Whether packets of the address are answered again as they were before its ban. */
export const isAnsweredAgain = async (
  { targets, answers }: Control,
  source: string,
  needs: { probe: Probe; steadyNow: () => number },
): Promise<boolean> => {
  const since = needs.steadyNow()
  for (;;) {
    const probeAnswers = await needs.probe(source, targets)
    if (probeAnswers.every((answer, index) => answer === answers[index])) return true
    if (needs.steadyNow() - since > answeredWithin) return false
  }
}

export const isAnswer = (answer: Answer | undefined): boolean => answer === 'syn-ack' || answer === 'rst'

export const placeText = ({ address, port, leadsTo }: Target): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}${leadsTo === undefined ? '' : ` (forwarded to ${leadsTo})`}`

/** The places that answer as they did before the ban. */
export const placesThrough = ({ targets, answers }: Control, given: readonly Answer[]): string[] =>
  targets.filter((_, index) => given[index] === answers[index]).map(placeText)
