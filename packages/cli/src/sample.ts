import type { Reply } from '@stockade/client'
import { bounds } from '@stockade/contract/limits.ts'
import { contentOf } from './content.ts'
import { Failure, Misuse } from './failure.ts'
import { print, printTable } from './print.ts'
import { safe } from './safe.ts'

/** What each line that could be tried has to do; `any`: they are only shown. */
export const expectations = ['match', 'none', 'any'] as const
export type Expectation = (typeof expectations)[number]
type Verdict = Reply<'POST /templates/validate'>

/** Lines as the service counts them: an end of line at the very end begins no other line. */
const linesOf = (sample: string): readonly string[] => {
  const lines = sample.split('\n').map(line => line.replace(/\r+$/, ''))
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** The lines of a file, or of standard input. @throws Misuse where they are too many to be tried at once. */
export const readSample = async (file: string): Promise<string> => {
  const sample = await contentOf(file)
  const { length, lines } = bounds.sample
  const count = linesOf(sample).length
  if (count > lines || sample.length > length)
    throw new Misuse(
      `${file} has ${count} ${count === 1 ? 'line' : 'lines'} and ${sample.length} characters; ${lines} lines of ${length} characters in all can be tried at once: tail -n ${lines} FILE | stockade templates validate ... --sample -`,
    )
  return sample
}

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

/**
 * Shows what became of each line.
 * @throws Failure where a line is not as expected, or none could be tried. Empty lines count for nothing.
 */
export const judgeSample = (sample: string, verdict: Verdict, expected: Expectation, quiet: boolean): void => {
  const matchByLine = new Map(verdict.matches?.map(match => [match.line, match]))
  const rows = linesOf(sample).map((text, index) => ({
    line: index + 1,
    text,
    match: matchByLine.get(index + 1) ?? null,
  }))
  const counts = rows.filter(({ text }) => text.trim() !== '')
  const tried = counts.flatMap(({ match }) => match ?? [])
  const matched = tried.filter(match => match.matched).length
  const untried = counts.length - tried.length
  if (!quiet) {
    printTable(
      ['LINE', 'RESULT', 'ADDRESS', 'TEXT'],
      rows.map(({ line, text, match }) => [
        line,
        match === null ? 'not tried' : match.matched ? 'match' : 'no match',
        match?.ip ?? null,
        text,
      ]),
    )
    print(
      `\n${counted(matched, 'line matches', 'lines match')}, ${counted(tried.length - matched, 'does', 'do')} not${untried > 0 ? `, ${untried} could not be tried` : ''}.`,
    )
    if (verdict.sample_note) print(safe(verdict.sample_note))
  }
  if (expected === 'any') return
  if (tried.length === 0) throw new Failure(`No line could be tried: ${safe(verdict.sample_note ?? 'there is none.')}`)
  const wrong = expected === 'match' ? tried.length - matched : matched
  if (wrong === 0) return
  throw new Failure(
    expected === 'match'
      ? `${counted(wrong, 'line does', 'lines do')} not match.`
      : `${counted(wrong, 'line matches', 'lines match')} that should not.`,
  )
}
