import { forbiddenGroup } from '@stockade/contract/filter-groups.ts'
import { datepatternFault } from './datepattern.ts'
import { Expansion, expand, ofPrefix } from './expand.ts'
import type { Names } from './expand.ts'
import type { Line, Option } from './ini.ts'
import { RegexFault } from './regex-reading.ts'
import { namesSomebody } from './regex-tags.ts'
import { anchored } from './regex-width.ts'
import { readRegex } from './regex.ts'
import type { Expression } from './regex.ts'
import { joined, shortened } from './report.ts'
import type { Reader } from './report.ts'

/* Expressions, patterns of dates and variables, line by line. */

/** What `prefregex` is; unknown where it is broken, or another file's. */
export type Prefix = Expression | 'unknown' | null

const attempt = (lines: readonly Line[], reader: Reader, what: string, read: (line: Line) => void) => {
  for (const line of lines)
    try {
      read(line)
    } catch (error) {
      if (!(error instanceof Expansion || error instanceof RegexFault)) throw error
      reader.report(line.number, `${what}: ${error.message}`)
    }
}
/** The lines of a value, each filled in; a variable of several lines makes several. */
const expressionsOf = (line: Line, names: Names, reader: Reader): readonly string[] =>
  expand(line.text, names, reader)
    .split('\n')
    .filter(text => text !== '')

const refuseGroup = (text: string, line: number, what: string, { report }: Reader) => {
  const group = forbiddenGroup(text)
  if (group !== null)
    report(
      line,
      `${what}: ${shortened(group)} is refused, because its text could reach a firewall command. Mark the address with <HOST>, <ADDR>, <IP4>, <IP6>, <SUBNET>, <CIDR> or <DNS>.`,
    )
}
/** Reads an expression, and says what is wrong with its groups and with its time. */
const readOwn = (text: string, line: Line, what: string, reader: Reader): Expression => {
  const expression = readRegex(text)
  refuseGroup(text, line.number, what, reader)
  for (const warning of expression.warnings) reader.report(line.number, `${what}: ${warning}`, 'warning')
  if (expression.slow) reader.report(line.number, `${what}: ${expression.slow}`, 'warning', true)
  return expression
}

export const readExpressions = (option: Option, names: Names, reader: Reader, prefix: Prefix) => {
  const isFail = option.name === 'failregex'
  if (option.lines.length > 500) return reader.report(option.line, `${option.name} has more than 500 lines.`)
  attempt(option.lines, reader, option.name, line => {
    for (const text of expressionsOf(line, names, reader)) {
      const expression = readOwn(text, line, option.name, reader)
      if (!isFail) continue
      const lacks = (has: (of: Expression) => boolean) =>
        !has(expression) && (prefix === null || (prefix !== 'unknown' && !has(prefix)))
      if (lacks(({ names }) => namesSomebody(names)))
        reader.report(
          line.number,
          'failregex: It must say whose failure it is, with <HOST>, <ADDR>, <IP4>, <IP6>, <DNS> or <SUBNET>.',
        )
      if (lacks(({ node }) => anchored(node)))
        reader.report(
          line.number,
          'failregex: It does not begin with "^": whoever can write into the log can have others banned.',
          'warning',
        )
      if (/^\^[A-Za-z]/.test(text) && !prefix)
        reader.report(
          line.number,
          'failregex: What is left of a line once the date is cut out mostly begins with a blank, and a host: ^\\s*(?:\\S+ )?name(?:\\[\\d+\\])?: fits files and the journal.',
          'warning',
        )
    }
  })
}

export const readPrefix = (option: Option, names: Names, reader: Reader): Prefix => {
  const lines = option.lines.filter(({ text }) => text !== '')
  let prefix: Prefix = 'unknown'
  if (lines.length > 1) reader.report(lines[1]?.number ?? option.line, 'The value of prefregex is one line.')
  if (lines.length === 0) reader.report(option.line, 'prefregex: The expression is empty.')
  attempt(lines.slice(0, 1), reader, 'prefregex', line => {
    const text = expand(line.text, names, reader)
    if (text.includes('\n')) throw new Expansion('With its variables filled in it has more than one line.')
    const expression = readOwn(text, line, 'prefregex', reader)
    prefix = expression
    if (!expression.names.has('content'))
      reader.report(line.number, 'prefregex: It has no <F-CONTENT>, so it hands nothing on to failregex.', 'warning')
  })
  return prefix
}

export const readDates = (option: Option, names: Names, reader: Reader) => {
  if (option.lines.length > 50) return reader.report(option.line, 'datepattern has more than 50 lines.')
  if (joined(option).trim() === '') return reader.report(option.line, 'datepattern: The pattern is empty.')
  attempt(option.lines, reader, 'datepattern', line => {
    for (const text of expressionsOf(line, names, reader)) {
      const wrong = datepatternFault(text)
      if (wrong) reader.report(line.number, `datepattern: ${wrong}`)
    }
  })
}
/** Used or not, the engine reads it: what it refers to must be there. */
export const readVariable = (option: Option, names: Names, reader: Reader) =>
  attempt([{ text: joined(option), number: option.line }], reader, option.name, line =>
    refuseGroup(expand(line.text, names, reader, !ofPrefix.test(option.name)), option.line, option.name, reader),
  )
