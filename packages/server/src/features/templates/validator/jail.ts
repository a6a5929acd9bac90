import { isTemplateName } from '@stockade/contract'
import { reservedNames } from '../names.ts'
import { engineFilters } from './engine-filters.ts'
import { readExpressions } from './expressions.ts'
import type { Option, Section } from './ini.ts'
import { checkValue, jailChecks, refusedOption } from './options.ts'
import { parse, shortened } from './report.ts'
import type { Reader } from './report.ts'

/* The text of the jail. */

/** A jail has no variables. */
const noNames = { variables: new Map(), taken: new Set<string>(), included: false }

export const readJail = (
  text: string,
  reader: Reader,
  context: { name?: string; knownFilters: ReadonlySet<string>; own: boolean; ownRegex: boolean },
): { name: string | null; files: readonly string[] } => {
  const { report } = reader
  const { sections, faults } = parse(text, reader)
  const [section, ...others] = sections
  if (!section) {
    if (faults.length === 0) report(null, 'There is no jail: begin with a section such as [name].')
    return { name: null, files: [] }
  }
  for (const other of others)
    report(other.line, `[${shortened(other.name)}] is one section too many: a template is one jail, and nothing else.`)
  if (!isTemplateName(section.name))
    report(
      section.line,
      `[${shortened(section.name)}] is no name for a template: a small letter first, then small letters, digits and hyphens, 24 in all.`,
    )
  else if (reservedNames.has(section.name)) report(section.line, `The name [${section.name}] is reserved.`)
  if (context.name !== undefined && section.name !== context.name)
    report(
      section.line,
      `The section must be [${context.name}], as the template is called; it is [${shortened(section.name)}].`,
    )
  const optionByName = new Map(section.options.map(option => [option.name, option]))
  const files: string[] = []
  for (const option of section.options) {
    if (option.name === 'filter') files.push(...readFilterName(option, section.name, reader, context))
    else if (option.name === 'failregex' || option.name === 'ignoreregex')
      readExpressions(option, noNames, reader, null)
    else if (jailChecks.has(option.name))
      checkValue(option, jailChecks.get(option.name), reader, knownVariables(option.name))
    else report(option.line, refusedOption(option.name))
  }
  warnOfJail(section, optionByName, context, reader)
  return { name: section.name, files }
}
/** Variables of the engine are allowed as a path or a backend, and nowhere else. */
const knownVariables = (name: string): boolean => name === 'logpath' || name === 'backend'

const isOutside = (path: string): boolean => path.startsWith('/') && !/^\/(?:var\/log\/|dev\/null)/.test(path)

const warnOfJail = (
  section: Section,
  given: ReadonlyMap<string, Option>,
  context: { own: boolean; ownRegex: boolean },
  { report }: Reader,
) => {
  const warn = (message: string) => report(section.line, message, 'warning')
  const value = (name: string) => (given.get(name)?.lines ?? []).map(line => line.text).join('\n')
  if (!context.own && !given.has('filter') && !given.has('failregex'))
    warn('It names no filter: that works only where the server has a jail of this name by itself.')
  if (!given.has('backend'))
    warn('It names no backend: where the journal is the default a file would not be read. Add backend = auto.')
  if (!given.has('logpath') && !value('backend').includes('systemd'))
    warn('It names no logpath: that works only where the server has a jail of this name by itself.')
  if (given.has('logpath') && value('backend').startsWith('systemd'))
    warn(
      'With backend = systemd the engine reads the journal and never the logpath. Take backend = auto for files, or leave the logpath out.',
    )
  const beyond = value('logpath').split('\n').find(isOutside)
  if (beyond !== undefined)
    warn(
      `${shortened(beyond)} lies outside /var/log: only servers whose own policy.json names it will take the template.`,
    )
  if (['false', 'no', 'off', '0'].includes(value('enabled').toLowerCase()))
    warn('It is not enabled, so that it will not watch anything.')
  if (context.own && !context.ownRegex && !given.has('failregex')) report(null, 'Neither text has a failregex.')
}

/** A bare name; with options only as a built-in has them. */
const readFilterName = (
  option: Option,
  jail: string,
  { report }: Reader,
  context: { knownFilters: ReadonlySet<string>; own: boolean },
): readonly string[] => {
  const [line] = option.lines
  const value = line?.text ?? ''
  if (option.lines.length > 1) report(option.lines[1]?.number ?? option.line, 'A filter is named on one line.')
  if (context.own) {
    if (value !== jail && value !== `stockade-${jail}`)
      report(
        option.line,
        `The template has a filter of its own, so filter must be ${shortened(jail)} or stockade-${shortened(jail)}, or be left out.`,
      )
    return []
  }
  return readEngineFilter(option, value, report, context.knownFilters)
}

/** The name of a filter that the engine ships, or that each host has by itself. */
const readEngineFilter = (
  option: Option,
  value: string,
  report: Reader['report'],
  knownFilters: ReadonlySet<string>,
): readonly string[] => {
  const bare = /^[a-z0-9][a-z0-9_-]{0,60}(?:\[mode=(?:normal|ddos|extra|more|auth|aggressive)\])?$/.test(value)
  const name = /^[a-z0-9_-]+/.exec(value)?.[0] ?? ''
  if (!bare && !knownFilters.has(value)) {
    report(
      option.line,
      value.includes('[')
        ? 'Of the options of a filter only mode passes, as in sshd[mode=aggressive]; others pass only as a built-in template has them.'
        : 'It must be the bare name of a filter, such as sshd.',
    )
    return []
  }
  if (name.startsWith('stockade'))
    report(option.line, 'Names that begin with stockade belong to filters that come with a template.')
  else if (!engineFilters.has(name))
    report(option.line, `The engine ships no filter ${name}: every server must have one of its own.`, 'warning')
  return [`filter.d/${name}.conf`]
}
