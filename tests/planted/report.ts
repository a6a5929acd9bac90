import type { Fault } from './fault.ts'
import { areas } from './faults/index.ts'
import { suites } from './runs.ts'
import type { Failure, Suite } from './runs.ts'

/** What became of one fault. */
export interface Outcome {
  readonly fault: Fault
  /** In the list of all faults, from 1. */
  readonly number: number
  /** The suite that sees it first; null: nobody does. */
  readonly seenBy: Suite | null
  readonly failure: Failure | null
  readonly seconds: number
}

/** The share of all faults that `npm test` must see. */
const enough = 0.9
const names = { daily: 'npm test', rest: 'npm run test:all' } as const

export const lineOf = ({ fault, number, seenBy, failure, seconds }: Outcome): string => {
  const seen = seenBy === null ? 'NOT SEEN' : `seen by ${names[seenBy]}`
  const where = failure === null ? '' : `: ${failure.file}: ${failure.test}`
  return `${number} ${fault.file}: ${fault.says}\n  ${seen} (${seconds} s)${where}`
}

const countOf = (outcomes: readonly Outcome[], seenBy: Suite | null): number =>
  outcomes.filter(outcome => outcome.seenBy === seenBy).length

const rowOf = (name: string, outcomes: readonly Outcome[]): string => {
  const counts = ([...suites, null] as const).map(seenBy => countOf(outcomes, seenBy))
  return `| ${[name, outcomes.length, ...counts].join(' | ')} |`
}

/** By area, for docs/testing.md. */
export const tableOf = (outcomes: readonly Outcome[]): string => {
  const rows = Object.entries(areas).flatMap(([name, faults]) => {
    const files = new Set(faults.map(({ file }) => file))
    const ofArea = outcomes.filter(({ fault }) => files.has(fault.file))
    return ofArea.length === 0 ? [] : [rowOf(name, ofArea)]
  })
  return [
    '| Area | Faults | Seen by `npm test` | Only by `npm run test:all` | By nobody |',
    '| --- | --: | --: | --: | --: |',
    ...rows,
    rowOf('all', outcomes),
  ].join('\n')
}

export const measureOf = (outcomes: readonly Outcome[]): { readonly text: string; readonly isEnough: boolean } => {
  const daily = countOf(outcomes, 'daily')
  const missed = countOf(outcomes, null)
  const ratio = outcomes.length === 0 ? 0 : daily / outcomes.length
  return {
    text: `${daily} of ${outcomes.length} seen by npm test, ${daily + countOf(outcomes, 'rest')} by npm run test:all, ratio ${ratio.toFixed(3)}`,
    isEnough: ratio >= enough && missed === 0,
  }
}
