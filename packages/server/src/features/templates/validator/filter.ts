import { engineFilters } from './engine-filters.ts'
import { isVariable } from './expand.ts'
import type { Names, Variables } from './expand.ts'
import { readDates, readExpressions, readPrefix, readVariable } from './expressions.ts'
import type { Prefix } from './expressions.ts'
import type { Option, Section } from './ini.ts'
import { checkValue, filterChecks } from './options.ts'
import { joined, parse, shortened } from './report.ts'
import type { Reader } from './report.ts'

/* The text of the filter. */

const expressions = new Set(['failregex', 'ignoreregex', 'prefregex'])

export const readFilter = (text: string, reader: Reader): { files: readonly string[]; failregex: boolean } => {
  const { report } = reader
  const { sections, faults } = parse(text, reader)
  const files: string[] = []
  const definition = sections.find(({ name }) => name === 'Definition')
  if (!definition && faults.length === 0) report(null, 'A filter needs a section [Definition].')
  for (const section of sections) {
    if (section.name === 'INCLUDES') files.push(...readIncludes(section, reader))
    else if (section.name !== 'Definition' && section.name !== 'Init')
      report(section.line, `A filter has [INCLUDES], [Definition] and [Init], not [${shortened(section.name)}].`)
  }
  const options = sections.filter(({ name }) => name === 'Definition' || name === 'Init').flatMap(each => each.options)
  const variables: Variables = new Map(
    options.filter(({ name }) => isVariable(name)).map(option => [option.name, joined(option)]),
  )
  const optionNames = new Set(options.map(({ name }) => name))
  const failregex = options.some(option => option.name === 'failregex' && joined(option).trim() !== '')
  const prefregex = options.find(({ name }) => name === 'prefregex')
  const context = { variables, taken: optionNames, included: files.length > 0 }
  const own = prefregex ? readPrefix(prefregex, context, reader) : null
  // Filters that the engine ships may bring a prefix of their own; what only holds variables does not.
  const prefix: Prefix = own ?? (files.some(file => file !== 'filter.d/common.conf') ? 'unknown' : null)
  for (const option of options) readOption(option, context, prefix, reader)
  if (definition && !failregex && files.length === 0) report(definition.line, 'The filter has no failregex.')
  return { files, failregex: failregex || files.length > 0 }
}
const readOption = (option: Option, names: Names, prefix: Prefix, reader: Reader) => {
  if (option.name === 'prefregex') return
  if (expressions.has(option.name)) readExpressions(option, names, reader, prefix)
  else if (option.name === 'datepattern') readDates(option, names, reader)
  else if (isVariable(option.name)) readVariable(option, names, reader)
  else if (filterChecks.has(option.name)) checkValue(option, filterChecks.get(option.name), reader, false)
  else
    reader.report(
      option.line,
      `The option ${shortened(option.name)} is not one that a filter of a template may set; variables of its own begin with "_".`,
    )
}

const readIncludes = (section: Section, { report }: Reader): readonly string[] => {
  const files: string[] = []
  for (const option of section.options) {
    if (option.name !== 'before') {
      report(option.line, `[INCLUDES] may have "before" only, not ${shortened(option.name)}.`)
      continue
    }
    for (const { text, number } of option.lines) {
      if (text === '') continue
      const name = /^([a-z0-9-]+)\.conf$/.exec(text)?.[1] ?? ''
      if (engineFilters.has(name)) files.push(`filter.d/${name}.conf`)
      else report(number, `${shortened(text)} is no filter file that the engine ships, such as common.conf.`)
    }
  }
  return files
}
