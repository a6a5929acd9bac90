import { readIni } from './ini.ts'
import type { Ini, Option } from './ini.ts'

/* What all parts of the check say, and how. */

export interface TemplateProblem {
  readonly file: 'jail' | 'filter'
  /** From 1; null where no single line is to blame. */
  readonly line: number | null
  readonly message: string
  readonly severity: 'error' | 'warning'
  /** No template is made of it, though it can be checked and tried. */
  readonly refuses?: true
}
export interface Reader {
  readonly report: (
    line: number | null,
    message: string,
    severity?: TemplateProblem['severity'],
    refuses?: true,
  ) => void
  /** How many characters of expressions may still be looked at. */
  readonly budget: { left: number }
}
export const parse = (text: string, { report }: Reader): Ini => {
  const ini = readIni(text)
  for (const { line, message } of ini.faults) report(line, message)
  return ini
}

export const joined = (option: Option) => option.lines.map(line => line.text).join('\n')

/** A stranger's word in a sentence: short. */
export const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
