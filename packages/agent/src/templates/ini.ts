/** A section of fail2ban's INI dialect: option names in lower case, values line by line. */
export interface Section {
  readonly name: string
  readonly options: ReadonlyMap<string, readonly string[]>
}

const maxBytes = 64 * 1024
const maxLines = 2000
/** Python ends lines at some of these, and fail2ban cuts at others: none has a place in a configuration. */
const forbiddenCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]|(?! )\p{Zs}/u

/**
 * Parses a text as fail2ban would: `=` or `:`, comments by `#` and `;` at the start of a line and by ` ;` inside one,
 * lines that begin with a blank go on with the value above. Throws with the line's number at anything unclear.
 */
// oxlint-disable-next-line complexity -- a parser: one branch for each kind of line
export const parseIni = (what: string, text: string): Section[] => {
  if (Buffer.byteLength(text) > maxBytes) throw new Error(`${what} is longer than ${maxBytes / 1024} KiB`)
  const lines = text.replace(/\r\n/g, '\n').split('\n')
  if (lines.length > maxLines) throw new Error(`${what} has more than ${maxLines} lines`)
  const sections: { name: string; options: Map<string, string[]> }[] = []
  let value: string[] | null = null
  for (const [index, raw] of lines.entries()) {
    const refuse = (why: string): never => {
      throw new Error(`${what}, line ${index + 1}: ${why}`)
    }
    const line = raw.replace(/\t/g, ' ')
    if (forbiddenCharacters.test(line)) refuse('a control character or another invisible one')
    const plain = withoutComment(line)
    if (plain.trim() === '') continue
    const section = sections.at(-1)
    if (/^ /.test(plain)) {
      if (value === null) refuse('a line that begins with a blank, but no option to belong to')
      value?.push(plain.trim())
      continue
    }
    const header = /^\[([^\][]+)\]$/.exec(plain.trim())
    if (header) {
      const name = header[1] ?? ''
      if (sections.some(known => known.name === name)) refuse(`section [${name}] comes twice`)
      sections.push({ name, options: new Map() })
      value = null
      continue
    }
    const [, rawName = '', first = ''] =
      /^([^=:]+?) *[=:] *(.*)$/.exec(plain) ?? refuse('neither a section nor an option')
    const name = rawName.toLowerCase()
    if (!section) return refuse('an option before the first section')
    if (section.options.has(name)) refuse(`option ${name} comes twice`)
    value = first.trim() === '' ? [] : [first.trim()]
    section.options.set(name, value)
  }
  return sections
}

/** Sections and values as text, from the model alone: nothing of the original's form comes through. */
export const writeIni = (sections: readonly Section[]): string =>
  sections
    .map(({ name, options }) => {
      const lines = [...options].map(([option, values]) => `${option} = ${values.join('\n    ')}`.trimEnd())
      return `[${name}]\n${lines.map(line => `${line}\n`).join('')}`
    })
    .join('')

const withoutComment = (line: string): string => {
  if (/^ *[#;]/.test(line)) return ''
  const at = line.indexOf(' ;')
  return at < 0 ? line : line.slice(0, at)
}
