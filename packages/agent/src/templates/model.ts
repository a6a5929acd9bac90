import { bounds } from '@stockade/contract/limits.ts'
import { isTemplateName } from '@stockade/contract/names.ts'
import { ownJail, testJail } from '../engine/own-files.ts'
import type { Trial } from '../engine/config.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import type { Fields } from '../json.ts'
import { forbiddenGroup } from '@stockade/contract/filter-groups.ts'
import { parseIni } from './ini.ts'
import type { Section } from './ini.ts'

/** A template that passed every rule. The files on the host are made from this alone. */
export interface Template {
  readonly name: string
  /** Options of the jail but filter, logpath and backend, in the order to write them. */
  readonly options: ReadonlyMap<string, readonly string[]>
  /** Null: the template brings its own filter, or leaves it to the host's section of that name. */
  readonly filter: string | null
  /** Paths, globs or the engine's variables, each perhaps with ` head` or ` tail`; the existing ones are taken. */
  readonly logpaths: readonly string[]
  readonly backend: string | null
  readonly journalmatch: readonly string[]
  /** Sections of the filter of its own. */
  readonly filterText: readonly Section[] | null
  /** Below fail2ban's configuration directory. */
  readonly requiredFiles: readonly string[]
}

const reservedNames = [ownJail, testJail, 'default', 'includes', 'known', 'definition', 'init']
/** Filters with options, exactly as the built-in templates have them. */
const filtersWithOptions = [
  'sshd[_daemon="sshd(?:-session)?"]',
  'sshd[mode=aggressive, _daemon="sshd(?:-session)?"]',
  'recidive[_jailname="(?:recidive|stockade)"]',
  'postfix[mode=more]',
  'postfix[mode=auth]',
]
const timePattern =
  /^(?:-1|\d{1,9}|(?:\d{1,6} ?(?:s|se|sec|seconds?|m|mi|min|minutes?|h|ho|hours?|d|da|days?|w|we|weeks?|mo|mon|months?|y|ye|years?) ?){1,6})$/
const pathPattern = /^\/[A-Za-z0-9._\-/*?[\]+@,=~]+$/
const logDirectory = /^\/var\/log\//
const engineVariable = /^(?:[a-z0-9]+(?:_[a-z0-9]+)*_(?:logs?|backend)|syslog_[a-z0-9_]+)$/

type Rule = (value: string) => boolean

const matches =
  (pattern: RegExp): Rule =>
  value =>
    pattern.test(value)
const oneOf =
  (...words: string[]): Rule =>
  value =>
    words.includes(value.toLowerCase())
const whole =
  (least: number, most: number): Rule =>
  value =>
    /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most

const portPattern = '(?:\\d{1,5}(?::\\d{1,5})?|[a-z][a-z0-9-]{0,30})'
const yesNo = oneOf('true', 'false', 'yes', 'no', 'on', 'off', '1', '0')

/** Options with values of one line. Some of them end up in shell commands of firewall actions or are evaluated. */
const plainOptions: Readonly<Record<string, Rule>> = {
  enabled: yesNo,
  port: matches(new RegExp(`^${portPattern}(?: ?, ?${portPattern}){0,40}$`)),
  protocol: matches(/^(?:tcp|udp|sctp|icmp|all)(?:,(?:tcp|udp|sctp|icmp|all)){0,4}$/),
  maxretry: whole(1, 1000),
  findtime: value => value !== '-1' && timePattern.test(value),
  bantime: matches(timePattern),
  'bantime.increment': yesNo,
  'bantime.maxtime': matches(timePattern),
  'bantime.factor': matches(/^\d{1,6}(?:\.\d{1,6})?$/),
  'bantime.rndtime': matches(timePattern),
  'bantime.multipliers': matches(/^\d{1,9}(?: \d{1,9}){0,49}$/),
  'bantime.overalljails': yesNo,
  // With `raw`, names from the log would reach the firewall unchecked.
  usedns: oneOf('yes', 'no', 'warn'),
  maxlines: whole(1, 100),
  mode: matches(/^[a-z][a-z0-9-]{0,30}$/),
  logencoding: matches(/^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$/),
  logtimezone: matches(/^[A-Za-z]{0,5}(?:[+-]\d{1,2}(?::?\d{2})?)?$/),
}
const jailTexts = ['failregex', 'ignoreregex']
const filterTexts = ['failregex', 'ignoreregex', 'prefregex', 'datepattern']
const otherJailOptions = ['filter', 'logpath', 'backend', 'journalmatch']

export const checkTemplateName = (name: string): string => {
  if (!isTemplateName(name) || reservedNames.includes(name))
    throw new Error(`${JSON.stringify(name)} cannot be a template's name`)
  return name
}

/**
 * Reads the template of a command. `namesLog`: whether the host's policy names a path outside /var/log.
 * @throws Error with a sentence about the first thing that no template may contain
 */
export const readTemplate = (value: unknown, namesLog: (path: string) => boolean = () => false): Template => {
  const sent = asFields(value)
  const name = checkTemplateName(asText(sent['name']))
  const jail = readJail(name, asText(sent['jail_config']), namesLog)
  const filterText = readFilter(asText(sent['filter_config']))
  const options = new Map([...jail].filter(([option]) => !otherJailOptions.includes(option)))
  options.set('enabled', ['true'])
  const logpath = applySettings(options, asFields(sent['settings']))
  return {
    name,
    options,
    filter: filterText === null ? (jail.get('filter')?.join(' ') ?? null) : null,
    logpaths: logpathsOf(logpath === null ? (jail.get('logpath') ?? []) : [logpath], namesLog),
    backend: jail.get('backend')?.join(' ') ?? null,
    journalmatch: jail.get('journalmatch') ?? [],
    filterText,
    requiredFiles: asList(sent['required_files']).map(requiredFile),
  }
}

/** `own` also where the included file says only how a line of a system log begins. */
export const trialOf = ({ filterText }: Template): Trial => {
  if (filterText === null) return 'host'
  const included = filterText.find(({ name }) => name === 'INCLUDES')?.options.get('before') ?? []
  return included.every(file => file === 'common.conf') ? 'own' : 'mixed'
}

const readJail = (name: string, text: string, namesLog: Rule): ReadonlyMap<string, readonly string[]> => {
  const [section, ...others] = parseIni('jail_config', text)
  if (section?.name !== name || others.length > 0) throw new Error(`jail_config must be the one section [${name}]`)
  for (const [option, lines] of section.options) {
    const whole = lines.join(' ')
    if (option === 'filter') checkFilterName(whole)
    else if (option === 'logpath') logpathsOf(lines, namesLog)
    else if (option === 'backend') checkBackend(whole)
    else if (option === 'journalmatch') lines.forEach(checkJournalmatch)
    else if (jailTexts.includes(option)) checkTexts(option, lines, [])
    else checkPlain('jail_config', option, lines)
  }
  return section.options
}

const readFilter = (text: string): Section[] | null => {
  if (text.trim() === '') return null
  const sections = parseIni('filter_config', text)
  const own = sections.flatMap(({ options }) => [...options.keys()]).filter(option => option.startsWith('_'))
  if (!sections.some(section => section.name === 'Definition'))
    throw new Error('filter_config must have the section [Definition]')
  for (const { name, options } of sections) {
    if (!['INCLUDES', 'Definition', 'Init'].includes(name))
      throw new Error(`filter_config must not have the section [${name}]`)
    for (const [option, lines] of options) {
      if (name === 'INCLUDES') checkInclude(option, lines)
      else if (option === 'journalmatch') lines.forEach(checkJournalmatch)
      else if (filterTexts.includes(option) || /^_[a-z0-9_]{0,60}$/.test(option)) checkTexts(option, lines, own)
      else if (option === 'maxlines' || option === 'mode') checkPlain('filter_config', option, lines)
      else throw new Error(`filter_config must not set the option ${JSON.stringify(option)}`)
    }
  }
  return sections
}

const checkPlain = (what: string, option: string, lines: readonly string[]): void => {
  const rule = Object.hasOwn(plainOptions, option) ? plainOptions[option] : undefined
  if (!rule) throw new Error(`${what} must not set the option ${JSON.stringify(option)}`)
  const [value = ''] = lines
  if (lines.length !== 1 || !rule(value)) throw new Error(`${option} = ${JSON.stringify(lines.join('\n'))} cannot pass`)
}

const checkFilterName = (filter: string): void => {
  const isNamed = /^[a-z0-9][a-z0-9._-]{0,60}(?:\[mode=(?:normal|ddos|extra|more|auth|aggressive)\])?$/.test(filter)
  if (!isNamed && !filtersWithOptions.includes(filter))
    throw new Error(`filter = ${JSON.stringify(filter)} is not the bare name of a filter`)
}

const checkBackend = (backend: string): void => {
  const variable = /^%\(([a-z0-9_]+)\)s$/.exec(backend)?.[1] ?? ''
  const isNamed = /^(?:auto|polling|pyinotify|systemd(?:\[journalflags=\d{1,2}\])?)$/.test(backend)
  if (!isNamed && !/^[a-z0-9_]+_backend$/.test(variable))
    throw new Error(`backend = ${JSON.stringify(backend)} is none of auto, polling, pyinotify, systemd`)
}

const checkJournalmatch = (line: string): void => {
  if (
    !/^[A-Z0-9_]{1,64}=[A-Za-z0-9._@:/-]{1,128}(?: (?:\+ )?[A-Z0-9_]{1,64}=[A-Za-z0-9._@:/-]{1,128}){0,20}$/.test(line)
  )
    throw new Error(`journalmatch = ${JSON.stringify(line)} cannot pass`)
}

const checkInclude = (option: string, lines: readonly string[]): void => {
  if (
    option !== 'before' ||
    lines.some(line => !/^[a-z][a-z0-9-]{0,40}\.conf$/.test(line) || line.startsWith('stockade'))
  )
    throw new Error('[INCLUDES] may only say "before" with the bare name of a filter file that fail2ban ships')
}

/** Checks expressions and similar texts, in which `%` could refer to other options. */
const checkTexts = (option: string, lines: readonly string[], own: readonly string[]): void => {
  for (const line of lines) {
    for (const [mark] of line.matchAll(/%(?:%|\([^)]*\)s|)/g)) {
      const variable = /^%\((.*)\)s$/.exec(mark)?.[1]
      if (mark === '%%' || variable === '__prefix_line' || (variable !== undefined && own.includes(variable))) continue
      throw new Error(
        variable === undefined
          ? `${option}: a single "%" must be written as "%%"`
          : `${option}: %(${variable})s is not a variable of this filter`,
      )
    }
    const group = option === 'datepattern' ? null : forbiddenGroup(line)
    if (group !== null)
      throw new Error(
        `${option}: ${group} is refused, because its text could reach a firewall command; mark the address with <HOST>, <ADDR>, <IP4>, <IP6>, <SUBNET>, <CIDR> or <DNS>`,
      )
  }
}

/** The paths, one for each line or separated by spaces. */
const logpathsOf = (lines: readonly string[], namesLog: Rule): string[] => {
  const problems: string[] = []
  for (const word of lines.flatMap(line => line.split(/[ ]+/)).filter(Boolean)) {
    const before = problems.at(-1)
    if ((word === 'head' || word === 'tail') && before !== undefined && !before.includes(' '))
      problems[problems.length - 1] = `${before} ${word}`
    else problems.push(checkLogpath(word, namesLog))
  }
  if (problems.length > 50) throw new Error('logpath names more than 50 paths')
  return problems
}

const checkLogpath = (path: string, namesLog: Rule): string => {
  const variable = /^%\(([a-z0-9_]+)\)s$/.exec(path)?.[1]
  const good = variable === undefined ? path === '/dev/null' || pathPattern.test(path) : engineVariable.test(variable)
  if (!good || path.length > 1024 || path.split('/').some(part => part === '..' || part === '.'))
    throw new Error(`logpath ${JSON.stringify(path)} is not the absolute path of a log`)
  if (variable === undefined && path !== '/dev/null' && !logDirectory.test(path) && !namesLog(path))
    throw new Error(
      `logpath ${path} is not below /var/log; "log_paths" in policy.json on this host does not name it either`,
    )
  return path
}

const requiredFile = (value: unknown): string => {
  const file = asText(value)
  if (!/^(?:filter|action)\.d\/[A-Za-z0-9][A-Za-z0-9._-]{0,80}$/.test(file))
    throw new Error(`required file ${JSON.stringify(file)} is not a file of fail2ban's configuration`)
  return file
}

/** Applies the settings to the options. Answers their logpath, or null. */
const applySettings = (options: Map<string, readonly string[]>, settings: Fields): string | null => {
  for (const [name, value] of Object.entries(settings)) {
    if (value === null || value === undefined || name === 'logpath') continue
    const number = asInteger(value, NaN)
    const most = name === 'maxretry' ? 1000 : bounds.seconds
    if (!['maxretry', 'findtime', 'bantime'].includes(name))
      throw new Error(`there is no setting ${JSON.stringify(name)}`)
    if (!(number >= 1 && number <= most) && !(name === 'bantime' && number === -1))
      throw new Error(`the setting ${name} must be a whole number from 1 to ${most}`)
    options.set(name, [String(number)])
  }
  const logpath = settings['logpath']
  if (logpath === undefined || logpath === null) return null
  if (typeof logpath !== 'string' || !/^[\x20-\x7e]{1,4096}$/.test(logpath))
    throw new Error('the setting logpath must be one line of text')
  return logpath
}
