import { datepatternFault } from '../validator/datepattern.ts'
import { readIni } from '../validator/ini.ts'
import type { Line, Option, Section } from '../validator/ini.ts'
import { RegexFault } from '../validator/regex-reading.ts'
import { readRegex } from '../validator/regex.ts'
import type { Expression } from '../validator/regex.ts'
import { Expansion, expand, isVariable, mostExpanded, ofPrefix } from '../validator/expand.ts'
import type { Names } from '../validator/expand.ts'
import { joined, shortened } from '../validator/report.ts'
import { dateForms } from './dates.ts'
import { Untriable, toJavaScript } from './javascript.ts'
import type { Script } from './javascript.ts'
import type { Plan } from './lines.ts'

export type UseDns = 'yes' | 'warn' | 'no' | 'raw'
export interface Trial extends Plan {
  readonly usedns: UseDns
  /** What holds for every line, in a sentence; null when there is nothing to say. */
  readonly note: string | null
}

/**
 * Makes of two texts that the validator has passed what lines can be tried with.
 * @param now ms; says which years are near.
 * @throws Untriable with the reason, where what the engine would do is not known here.
 */
export const planOf = (texts: { readonly jail_config: string; readonly filter_config: string }, now: number): Trial => {
  try {
    return makePlan(texts, now)
  } catch (error) {
    if (error instanceof Expansion || error instanceof RegexFault) throw new Untriable(error.message)
    throw error
  }
}

const makePlan = (
  { jail_config, filter_config }: { readonly jail_config: string; readonly filter_config: string },
  now: number,
): Trial => {
  const jail = optionsOf(readIni(jail_config).sections)
  if (filter_config.trim() === '') throw new Untriable(whyElsewhere(jail))
  const { sections } = readIni(filter_config)
  const definition = optionsOf(sections.filter(({ name }) => name === 'Definition'))
  const init = optionsOf(sections.filter(({ name }) => name === 'Init'))
  for (const [name] of init) {
    if (/regex$/.test(name)) throw new Untriable(`${name} stands in [Init], where it is not tried here.`)
    if (isVariable(name) && definition.has(name))
      throw new Untriable(`The variable ${shortened(name)} stands in [Init] and in [Definition].`)
  }
  const names = namesOf(sections)
  // What the jail says itself, it says in the place of the filter.
  const linesOf = (name: string): readonly string[] => {
    const own = jail.get(name)
    const { lines = [] } = own ?? definition.get(name) ?? {}
    return expanded(lines, own ? plainNames : names)
  }
  const most = valueOf(jail.get('maxlines') ?? init.get('maxlines') ?? definition.get('maxlines'))
  if (Number(most || '1') > 1)
    throw new Untriable('With maxlines the filter looks at several lines at once; here each is tried by itself.')
  const usedns = usednsOf(valueOf(jail.get('usedns')))
  const read = (text: string) => readSingle(usedns === 'no' ? text.replaceAll('<HOST>', '<ADDR>') : text)
  const [prefix] = expanded(definition.get('prefregex')?.lines ?? [], names).map(read)
  const fails = linesOf('failregex').map(read)
  const ignores = linesOf('ignoreregex').map(read)
  const budget = { left: longest }
  const dates = dateForms(datesOf(init.get('datepattern') ?? definition.get('datepattern'), names), now)
  return {
    dates,
    prefix: prefix ? within(budget, prefix) : null,
    fails: fails.map(fail => within(budget, fail)),
    ignores: ignores.map(ignore => within(budget, ignore)),
    usedns,
    note: valueOf(jail.get('backend')).startsWith('systemd')
      ? 'The jail reads the journal, whose lines begin with the host name and have no date. Here lines are tried as those of a file.'
      : null,
  }
}

/** Characters of all expressions in JavaScript: nothing can stop the thread while it takes one in. */
const longest = 192 * 1024
const within = (budget: { left: number }, expression: Expression): Script => {
  const script = toJavaScript(expression)
  budget.left -= script.source.length
  if (budget.left < 0) throw new Untriable('The filter is longer than can be tried here.')
  return script
}

const whyElsewhere = (jail: ReadonlyMap<string, Option>): string => {
  const filter = /^[\w-]+/.exec(valueOf(jail.get('filter')))?.[0]
  return filter === undefined
    ? 'The template brings no filter, so the lines meet that of the server, which is not known here.'
    : `The filter ${shortened(filter)} lies on the servers and not in the template, so lines can't be tried here.`
}

const optionsOf = (sections: readonly Section[]): ReadonlyMap<string, Option> =>
  new Map(sections.flatMap(({ options }) => options.map(option => [option.name, option] as const)))
const valueOf = (option: Option | undefined): string => (option ? joined(option).trim() : '')
const usednsOf = (value: string): UseDns => {
  const lower = value.toLowerCase()
  return lower === 'yes' || lower === 'no' || lower === 'raw' ? lower : 'warn'
}

const plainNames: Names = { variables: new Map(), taken: new Set(), included: false }
const namesOf = (sections: readonly Section[]): Names => {
  const options = sections.filter(({ name }) => name === 'Definition' || name === 'Init').flatMap(each => each.options)
  const variables = new Map(options.filter(({ name }) => isVariable(name)).map(each => [each.name, joined(each)]))
  const files = sections
    .filter(({ name }) => name === 'INCLUDES')
    .flatMap(each => each.options.flatMap(option => option.lines.map(({ text }) => text)))
    .filter(text => text !== '')
  const names = { variables, taken: new Set(options.map(({ name }) => name)), included: files.length > 0 }
  const other = files.find(file => file !== 'common.conf')
  if (other !== undefined)
    throw new Untriable(
      `The filter builds on ${shortened(other)}, which lies on the servers, so lines can't be tried here.`,
    )
  const piece = [...variables.keys()].find(name => ofPrefix.test(name) && name !== '_daemon')
  if (files.length > 0 && piece !== undefined)
    throw new Untriable(
      `${shortened(piece)} changes what fail2ban's common.conf means, so lines can not be tried here.`,
    )
  if (files.length === 0) return names
  const daemon = expand(variables.get('_daemon') ?? '\\S*', names, reader(), false)
  if (daemon.includes('\n')) throw new Untriable('_daemon has several lines.')
  return { ...names, prefixLine: prefixLine(daemon) }
}

/** How a line of a system log begins once its date is cut out, as the engine's common.conf has it for files. */
const prefixLine = (daemon: string): string => {
  const then = (text: string) => `(?:${text}\\s+)?`
  const pid = '(?:\\[\\d+\\])'
  const program = `[\\[\\(]?${daemon}(?:\\(\\S+\\))?[\\]\\)]?:?`
  return [
    '(?:\\[\\])?\\s*',
    then('[<][^.]+\\.[^.]+>'),
    then('\\S+'),
    then('kernel:\\s?\\[ *\\d+\\.\\d+\\]:?'),
    then('@vserver_\\S+'),
    then(`(?:${pid}?:\\s+${program}|${program}${pid}?:?)`),
    then('\\[ID \\d+ \\S+\\]'),
  ].join('')
}

/** The texts have passed the validator: nothing is reported, only the length is watched. */
const reader = () => ({ report: () => undefined, budget: { left: mostExpanded } })
const expanded = (lines: readonly Line[], names: Names): string[] => {
  const watched = reader()
  return lines.flatMap(({ text }) => expand(text, names, watched).split('\n')).filter(text => text !== '')
}

/** Groups by which the engine ties several lines together. */
const severalLines = /^(?:mlf|nofail$)/
/** Groups that the engine puts in the place of others. */
const replacing = /^(?:alt|tuple)_(?:ip4|ip6|dns|fid|id|cidr|content|mlf\w*|nofail)(?:_\d+)?$/

const readSingle = (text: string): Expression => {
  const expression = readRegex(text)
  for (const name of expression.names) {
    if (severalLines.test(name))
      throw new Untriable(`<F-${name.toUpperCase()}> ties several lines together; here each is tried by itself.`)
    if (replacing.test(name)) throw new Untriable(`The group ${shortened(name)} can not be tried here.`)
  }
  return expression
}

const datesOf = (option: Option | undefined, names: Names): readonly string[] => {
  // Where common.conf is included its own pattern holds: a date is looked for at the beginning of a line.
  if (!option) return names.included ? ['{^LN-BEG}'] : []
  const patterns = expanded(option.lines, names).map(text => text.trim())
  const wrong = patterns.map(datepatternFault).find(Boolean)
  if (wrong) throw new Untriable(wrong)
  return patterns
}
