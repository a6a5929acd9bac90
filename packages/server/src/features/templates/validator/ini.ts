/*
 * The engine's dialect of INI, as Python's configparser reads it for fail2ban: names in lower case, `=` or `:`, a line
 * that is indented continues the value, `#` and `;` begin a comment line, ` ;` one within a line,
 * no section and no option twice. Whatever two readers could take differently (control characters, lines that only
 * some programs see, blanks that are none) is refused, so that what was checked is what is read.
 */

export interface Line {
  readonly text: string
  /** Counted from 1. */
  readonly number: number
}
export interface Option {
  readonly name: string
  readonly line: number
  /** The value, line by line; the first is what follows the `=`, and may be empty. */
  readonly lines: readonly Line[]
}
export interface Section {
  readonly name: string
  readonly line: number
  readonly options: readonly Option[]
}
export interface Fault {
  readonly line: number | null
  readonly message: string
}
export interface Ini {
  readonly sections: readonly Section[]
  readonly faults: readonly Fault[]
}

/** Enough to see what is wrong; a text of nothing but faults must not make an answer of megabytes. */
const mostFaults = 50
const longestLine = 8192
const mostLines = 2000
const tabFault = 'A tab must not stand within a value; an expression says \\t.'

/** Control and format characters, private and half characters, and every blank but space, tab and newline. */
const unseen = /[^\P{Cc}\t\n]|[\p{Cf}\p{Cn}\p{Co}\p{Cs}]|[^\S \t\n]|[\u2028\u2029\ufffd]/u

const nameOf = (character: string) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** Where a comment within the line begins: at a `;` that stands first or after a blank. */
const commentAt = (line: string): number => {
  for (let at = line.indexOf(';'); at >= 0; at = line.indexOf(';', at + 1))
    if (at === 0 || line[at - 1] === ' ' || line[at - 1] === '\t') return at
  return -1
}

export const readIni = (text: string): Ini => {
  const sections: { name: string; line: number; options: { name: string; line: number; lines: Line[] }[] }[] = []
  const faults: Fault[] = []
  const fault = (line: number | null, message: string) => {
    if (faults.length < mostFaults) faults.push({ line, message })
  }
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  let section: (typeof sections)[number] | null = null
  let option: (typeof sections)[number]['options'][number] | null = null
  const optionsBySection = new Map<string, Set<string>>()

  if (lines.length > mostLines)
    return { sections, faults: [{ line: mostLines + 1, message: `The text has more than ${mostLines} lines.` }] }
  // oxlint-disable-next-line complexity -- a parser: one branch for each kind of line and fault
  lines.forEach((raw, index) => {
    const number = index + 1
    const strange = unseen.exec(raw)?.[0]
    if (strange !== undefined) return fault(number, `The character ${nameOf(strange)} must not stand here.`)
    if (raw.length > longestLine) return fault(number, `The line is longer than ${longestLine} characters.`)
    const trimmed = raw.trim()
    const comment = trimmed.startsWith('#') || trimmed.startsWith(';') ? 0 : commentAt(raw)
    const value = (comment < 0 ? raw : raw.slice(0, comment)).trim()
    if (value === '') {
      if (comment < 0 && option) option.lines.push({ text: '', number })
      return
    }
    if (raw.startsWith(' ') || raw.startsWith('\t')) {
      if (value.includes('\t')) fault(number, tabFault)
      if (option) return void option.lines.push({ text: value, number })
      return fault(number, 'The line begins with a blank, but there is no option that it could continue.')
    }
    const head = /^\[([^\]]+)\]/.exec(value)
    if (head) {
      const name = head[1] ?? ''
      if (head[0].length !== value.length) fault(number, `After [${name}] the line must end.`)
      if (optionsBySection.has(name)) fault(number, `The section [${name}] stands here twice.`)
      optionsBySection.set(name, new Set())
      section = { name, line: number, options: [] }
      sections.push(section)
      option = null
      return
    }
    if (!section) return fault(number, 'The text must begin with a section such as [name].')
    const at = value.search(/[=:]/)
    if (at < 0) return fault(number, 'The line is neither a section, nor `name = value`, nor indented to continue one.')
    const name = value.slice(0, at).trim().toLowerCase()
    if (name === '') return fault(number, 'The name of the option is missing.')
    const names = optionsBySection.get(section.name)
    if (names?.has(name)) fault(number, `The option ${name} stands in [${section.name}] twice.`)
    names?.add(name)
    const first = value.slice(at + 1).trim()
    if (first.startsWith(';')) fault(number, 'A value that begins with ";" would be taken for a comment.')
    if (name.includes('\t') || first.includes('\t')) fault(number, tabFault)
    option = { name, line: number, lines: [{ text: first, number }] }
    section.options.push(option)
  })
  // Blank lines after the last line of a value belong to nothing.
  for (const { options } of sections)
    for (const { lines } of options) while (lines.length > 1 && lines.at(-1)?.text === '') lines.pop()
  return { sections, faults }
}
