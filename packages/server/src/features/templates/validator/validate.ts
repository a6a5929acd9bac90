import { isTemplateName, nearestOf } from '@stockade/contract'
import { reservedNames } from '../names.ts'
import { datepatternFault } from './datepattern.ts'
import { readIni } from './ini.ts'
import type { Ini, Line, Option, Section } from './ini.ts'
import { RegexFault } from './regex-reading.ts'
import { forbiddenGroup, foreign, isHostTag, namesSomebody } from './regex-tags.ts'
import { anchored } from './regex-width.ts'
import { readRegex } from './regex.ts'
import type { Expression } from './regex.ts'
import * as values from './values.ts'
import type { Check } from './values.ts'

export interface TemplateProblem {
  readonly file: 'jail' | 'filter'
  /** From 1; null where no single line is to blame. */
  readonly line: number | null
  readonly message: string
  readonly severity: 'error' | 'warning'
  /** No template is made of it, though it can be checked and tried. */
  readonly refuses?: true
}
export interface Verdict {
  readonly problems: readonly TemplateProblem[]
  /** The jail's section, once there is one. */
  readonly name: string | null
  /** Files of the engine that it rests on, relative to its folder of configuration. */
  readonly requiredFiles: readonly string[]
}

/** As many errors, and as many warnings, as anyone reads. */
const mostProblems = 100
/** Characters of all expressions of a template, variables filled in: far beyond the engine's own largest filter. */
export const mostExpanded = 256 * 1024
const longestValue = 64 * 1024

/** Filters that the engine ships and that others build on, or are ready to be built on. */
export const engineFilters: ReadonlySet<string> = new Set(
  (
    '3proxy apache-auth apache-badbots apache-botsearch apache-common apache-fakegooglebot apache-modsecurity ' +
    'apache-nohome apache-noscript apache-overflows apache-pass apache-shellshock assp asterisk bitwarden ' +
    'botsearch-common centreon common counter-strike courier-auth courier-smtp cyrus-imap dante directadmin ' +
    'domino-smtp dovecot dropbear drupal-auth ejabberd-auth exim exim-common exim-spam freeswitch froxlor-auth gitlab ' +
    'grafana groupoffice gssftpd guacamole haproxy-http-auth horde kerio lighttpd-auth mongodb-auth monit monitorix ' +
    'mssql-auth murmur mysqld-auth nagios named-refused nginx-bad-request nginx-botsearch nginx-error-common ' +
    'nginx-forbidden nginx-http-auth nginx-limit-req nsd openhab openvpn openwebmail oracleims pam-generic perdition ' +
    'php-url-fopen phpmyadmin-syslog portsentry postfix proftpd proxmox pure-ftpd qmail recidive roundcube-auth ' +
    'routeros-auth scanlogd screensharingd selinux-common selinux-ssh sendmail-auth sendmail-reject sieve slapd ' +
    'softethervpn sogo-auth solid-pop3d squid squirrelmail sshd stunnel suhosin tine20 traefik-auth uwimap-auth ' +
    'vaultwarden vsftpd webmin-auth wuftpd xinetd-fail znc-adminlog zoneminder'
  ).split(' '),
)

/** Names are a stranger's: a plain object would also answer to `constructor`. */
const table = <T>(entries: Record<string, T>): ReadonlyMap<string, T> => new Map(Object.entries(entries))

const jailChecks: ReadonlyMap<string, Check> = table({
  enabled: values.truth,
  port: values.port,
  protocol: values.protocol,
  logpath: values.logpaths,
  maxretry: values.whole(1, 1000),
  findtime: values.span(false),
  bantime: values.span(true),
  'bantime.increment': values.truth,
  'bantime.maxtime': values.span(false),
  'bantime.factor': values.factor,
  'bantime.rndtime': values.span(false),
  backend: values.backend,
  journalmatch: values.journalmatch,
  usedns: values.usedns,
  maxlines: values.whole(1, 100),
  mode: values.mode,
  logencoding: values.logencoding,
  logtimezone: values.logtimezone,
})
const filterChecks: ReadonlyMap<string, Check> = table({
  journalmatch: values.journalmatch,
  maxlines: values.whole(1, 100),
  mode: values.mode,
})
const expressions = new Set(['failregex', 'ignoreregex', 'prefregex'])
const manyLined = new Set(['failregex', 'ignoreregex', 'datepattern', 'logpath', 'journalmatch'])

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
export type Variables = ReadonlyMap<string, string>

/**
 * Reads both texts as the engine would, as far as that is possible off the host, and says what it would not do for
 * reasons of safety. No input and output, and bounded in time whatever the texts hold.
 */
export const validate = (
  texts: { readonly jail_config: string; readonly filter_config: string },
  options: {
    /** The name of the template, when it has one already. */
    readonly name?: string
    /** `filter` values with options that pass as they are: those of the built-ins. */
    readonly knownFilters: ReadonlySet<string>
  },
): Verdict => {
  const problems: TemplateProblem[] = []
  const told = { error: 0, warning: 0, refusal: 0 }
  const reader = (file: 'jail' | 'filter'): Reader => ({
    budget,
    report(line, message, severity = 'error', refuses) {
      // Counted apart: warnings must never crowd out an error, nor what refuses the template.
      const crowded = refuses ? told.refusal++ >= mostProblems : told[severity]++ >= mostProblems
      if (!crowded) problems.push({ file, line, message, severity, ...(refuses ? { refuses } : {}) })
    },
  })
  const budget = { left: mostExpanded }
  const own = texts.filter_config.trim() !== ''
  const filter = own ? readFilter(texts.filter_config, reader('filter')) : null
  const jail = readJail(texts.jail_config, reader('jail'), { ...options, own, ownRegex: filter?.failregex === true })
  // What stops it first; then by file and line.
  const rank = ({ severity, file, line }: TemplateProblem) =>
    (severity === 'error' ? 0 : 2e6) + (file === 'jail' ? 0 : 1e6) + (line ?? 0)
  problems.sort((a, b) => rank(a) - rank(b))
  return { problems, name: jail.name, requiredFiles: [...new Set([...jail.files, ...(filter?.files ?? [])])] }
}

const parse = (text: string, { report }: Reader): Ini => {
  const ini = readIni(text)
  for (const { line, message } of ini.faults) report(line, message)
  return ini
}

const readJail = (
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
    report(other.line, `[${shown(other.name)}] is one section too many: a template is one jail, and nothing else.`)
  if (!isTemplateName(section.name))
    report(
      section.line,
      `[${shown(section.name)}] is no name for a template: a small letter first, then small letters, digits and hyphens, 24 in all.`,
    )
  else if (reservedNames.has(section.name)) report(section.line, `The name [${section.name}] is reserved.`)
  if (context.name !== undefined && section.name !== context.name)
    report(
      section.line,
      `The section must be [${context.name}], as the template is called; it is [${shown(section.name)}].`,
    )
  const given = new Map(section.options.map(option => [option.name, option]))
  const files: string[] = []
  for (const option of section.options) {
    if (option.name === 'filter') files.push(...readFilterName(option, section.name, reader, context))
    else if (option.name === 'failregex' || option.name === 'ignoreregex')
      readExpressions(option, new Map(), false, reader, new Set(), null)
    else if (jailChecks.has(option.name))
      checkValue(option, jailChecks.get(option.name), reader, knownVariables(option.name))
    else report(option.line, refusedOption(option.name))
  }
  warnOfJail(section, given, context, reader)
  return { name: section.name, files }
}
/** Variables of the engine are allowed as a path or a backend, and nowhere else. */
const knownVariables = (name: string): boolean => name === 'logpath' || name === 'backend'

const dangerous: ReadonlyMap<string, string> = table({
  action: 'actions run programs as root; the jail keeps those of the host',
  banaction: 'the host says how it bans; the jail keeps that',
  banaction_allports: 'the host says how it bans; the jail keeps that',
  ignorecommand: 'it runs a program for each failure',
  ignoreip: 'addresses that are never banned belong on the whitelist',
  'bantime.formula': 'the engine evaluates it as a program',
})
const refusedOption = (name: string): string => {
  const reason = dangerous.get(name)
  if (reason !== undefined) return `The option ${name} is refused: ${reason}.`
  const nearest = nearestOf(name, [...jailChecks.keys()])
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `The option ${shown(name)} is not one that a template may set.${hint}`
}

const warnOfJail = (
  section: Section,
  given: ReadonlyMap<string, Option>,
  context: { own: boolean; ownRegex: boolean },
  { report }: Reader,
) => {
  const warn = (message: string) => report(section.line, message, 'warning')
  const value = (name: string) =>
    given
      .get(name)
      ?.lines.map(line => line.text)
      .join('\n')
  if (!context.own && !given.has('filter') && !given.has('failregex'))
    warn('It names no filter: that works only where the host has a jail of this name by itself.')
  if (!given.has('backend'))
    warn('It names no backend: where the journal is the default a file would not be read. Add backend = auto.')
  if (!given.has('logpath') && !value('backend')?.includes('systemd'))
    warn('It names no logpath: that works only where the host has a jail of this name by itself.')
  const beyond = value('logpath')
    ?.split('\n')
    .find(path => path.startsWith('/') && !/^\/(?:var\/log\/|dev\/null)/.test(path))
  if (beyond !== undefined)
    warn(`${shown(beyond)} lies outside /var/log: only hosts whose own policy.json names it will take the template.`)
  const off = value('enabled')?.toLowerCase()
  if (off && ['false', 'no', 'off', '0'].includes(off)) warn('It is not enabled, so that it will not watch anything.')
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
        `The template has a filter of its own, so filter must be ${shown(jail)} or stockade-${shown(jail)}, or be left out.`,
      )
    return []
  }
  const bare = /^[a-z0-9][a-z0-9_-]{0,60}$/.test(value)
  const name = /^[a-z0-9_-]+/.exec(value)?.[0] ?? ''
  if (!bare && !context.knownFilters.has(value)) {
    report(
      option.line,
      value.includes('[')
        ? 'A filter with options passes only as a built-in template has it.'
        : 'It must be the bare name of a filter, such as sshd.',
    )
    return []
  }
  if (name.startsWith('stockade'))
    report(option.line, 'Names that begin with stockade belong to filters that come with a template.')
  else if (!engineFilters.has(name))
    report(option.line, `The engine ships no filter ${name}: every host must have one of its own.`, 'warning')
  return [`filter.d/${name}.conf`]
}

/** A plain option: one value, no percent signs but those of known variables, no tags. */
const checkValue = (option: Option, check: Check | undefined, { report }: Reader, variables: boolean) => {
  const lines = option.lines.filter(({ text }, index) => index === 0 || text !== '')
  if (!manyLined.has(option.name) && lines.length > 1)
    return report(lines[1]?.number ?? option.line, `The value of ${option.name} is one line.`)
  for (const { text, number } of lines) {
    if (text === '' && lines.length > 1) continue
    if (/[<>]/.test(text)) report(number, `${option.name} must not hold "<" or ">".`)
    else if (text.includes('%') && !variables) report(number, `${option.name} must not hold "%".`)
    else {
      const wrong = check?.(text)
      if (wrong) report(number, `${option.name}: ${wrong}`)
    }
  }
}

const readFilter = (text: string, reader: Reader): { files: readonly string[]; failregex: boolean } => {
  const { report } = reader
  const { sections, faults } = parse(text, reader)
  const files: string[] = []
  const definition = sections.find(({ name }) => name === 'Definition')
  if (!definition && faults.length === 0) report(null, 'A filter needs a section [Definition].')
  for (const section of sections) {
    if (section.name === 'INCLUDES') files.push(...readIncludes(section, reader))
    else if (section.name !== 'Definition' && section.name !== 'Init')
      report(section.line, `A filter has [INCLUDES], [Definition] and [Init], not [${shown(section.name)}].`)
  }
  const options = sections.filter(({ name }) => name === 'Definition' || name === 'Init').flatMap(each => each.options)
  const variables: Variables = new Map(
    options.filter(({ name }) => isVariable(name)).map(option => [option.name, joined(option)]),
  )
  const taken = new Set(options.map(({ name }) => name))
  const failregex = options.some(option => option.name === 'failregex' && joined(option).trim() !== '')
  const prefregex = options.find(({ name }) => name === 'prefregex')
  const context = { variables, taken, included: files.length > 0 }
  const own = prefregex ? readPrefix(prefregex, context, reader) : null
  // Filters that the engine ships may bring a prefix of their own; what only holds variables does not.
  const prefix: Prefix = own ?? (files.some(file => file !== 'filter.d/common.conf') ? 'unknown' : null)
  for (const option of options) {
    if (option.name === 'prefregex') continue
    if (expressions.has(option.name)) readExpressions(option, variables, context.included, reader, taken, prefix)
    else if (option.name === 'datepattern') readDates(option, context, reader)
    else if (isVariable(option.name)) readVariable(option, context, reader)
    else if (filterChecks.has(option.name)) checkValue(option, filterChecks.get(option.name), reader, false)
    else
      report(
        option.line,
        `The option ${shown(option.name)} is not one that a filter of a template may set; variables of its own begin with "_".`,
      )
  }
  if (definition && !failregex && files.length === 0) report(definition.line, 'The filter has no failregex.')
  return { files, failregex: failregex || files.length > 0 }
}
/** The one variable of the engine's own filters that may be used: how a line of a system log begins. */
const prefixLine = '__prefix_line'
/** What that one is made of: it would be filled in with itself. */
export const ofPrefix = /^(?:__|_daemon$)/
export const isVariable = (name: string) => /^_[a-z0-9_]{0,63}$/.test(name)
export const joined = (option: Option) => option.lines.map(line => line.text).join('\n')

const readIncludes = (section: Section, { report }: Reader): readonly string[] => {
  const files: string[] = []
  for (const option of section.options) {
    if (option.name !== 'before') {
      report(option.line, `[INCLUDES] may have "before" only, not ${shown(option.name)}.`)
      continue
    }
    for (const { text, number } of option.lines) {
      if (text === '') continue
      const name = /^([a-z0-9-]+)\.conf$/.exec(text)?.[1] ?? ''
      if (engineFilters.has(name)) files.push(`filter.d/${name}.conf`)
      else report(number, `${shown(text)} is no filter file that the engine ships, such as common.conf.`)
    }
  }
  return files
}

/** What `prefregex` is; unknown where it is broken, or another file's. */
type Prefix = Expression | 'unknown' | null
export interface Names {
  readonly variables: Variables
  /** Options of the filter: as <tags> they would be filled in. */
  readonly taken: ReadonlySet<string>
  readonly included: boolean
  /** Replacement of an included `%(__prefix_line)s`; a marker if it is unknown. */
  readonly prefixLine?: string
}

/** What stops an expansion; the message says why. */
export class Expansion extends Error {}

/** Options of a jail: the engine fills them in where they stand as <tags> in a filter. */
const engineOptions: ReadonlySet<string> = new Set([
  ...jailChecks.keys(),
  ...dangerous.keys(),
  ...'filter failregex ignoreregex prefregex datepattern ignoreself ignorecache maxmatches logtype __name__'.split(' '),
  ...'bantime.multipliers bantime.overalljails fail2ban_version fail2ban_confpath'.split(' '),
])
/** Fills in `%(_x)s` and `%%`, then `<_x>`, as the engine does. What an included file defines becomes a mark. */
export const expand = (text: string, names: Names, reader: Reader, prefixes = true): string => {
  const spend = (length: number) => {
    reader.budget.left -= length
    if (length > longestValue || reader.budget.left < 0)
      throw new Expansion('With its variables filled in it is too long.')
  }
  const fill = (value: string, depth: number): string => {
    if (depth > 9) throw new Expansion('Variables refer to one another more than ten deep, or in a circle.')
    let out = ''
    let at = 0
    for (;;) {
      const percent = value.indexOf('%', at)
      if (percent < 0) break
      out += value.slice(at, percent)
      const reference = /%(?:%|\(([^)]*)\)s)/y
      reference.lastIndex = percent
      const found = reference.exec(value)
      if (!found) throw new Expansion('A "%" must be doubled, "%%", or begin a variable such as %(_name)s.')
      at = percent + found[0].length
      if (found[0] === '%%') out += '%'
      else {
        const name = (found[1] ?? '').toLowerCase()
        const own = names.variables.get(name)
        if (own !== undefined) out += fill(own, depth + 1)
        else if (names.included && prefixes && name === prefixLine) out += names.prefixLine ?? foreign
        else
          throw new Expansion(
            name === prefixLine && names.included
              ? '%(__prefix_line)s is made of this variable, and can not stand in it.'
              : name === prefixLine
                ? '%(__prefix_line)s comes with [INCLUDES] before = common.conf, which is not there.'
                : `%(${shown(name)})s is refused: only the filter's own variables, whose names begin with "_", may be filled in.`,
          )
      }
      if (out.length > longestValue) spend(out.length)
    }
    out += value.slice(at)
    spend(out.length)
    return out
  }
  let filled = fill(text, 0)
  for (let times = 0; ; times++) {
    let changed = false
    filled = filled.replace(/<([^ <>]+)>/g, (tag, spelled: string) => {
      const name = spelled.toLowerCase()
      const own = names.variables.get(name)
      if (own !== undefined) {
        changed = true
        return fill(own, 1)
      }
      // As `section/option` the engine reaches into other parts of its configuration.
      const reaching = /^[\w-]+\/[^\s>]/.test(name)
      const unsure = names.included && /^[a-z_][\w.-]*$/.test(name) && !isHostTag(tag)
      if (reaching || unsure || names.taken.has(name) || engineOptions.has(name))
        throw new Expansion(
          `<${shown(spelled)}> could be filled in with an option of that name; write [<]${shown(spelled)}> for the text itself.`,
        )
      return tag
    })
    spend(filled.length)
    if (!changed) return filled
    if (times > 9) throw new Expansion('Variables refer to one another more than ten deep, or in a circle.')
  }
}

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
      `${what}: ${shown(group)} is refused, because its text could reach a firewall command. Mark the address with <HOST>, <ADDR>, <IP4>, <IP6>, <SUBNET>, <CIDR> or <DNS>.`,
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

const readExpressions = (
  option: Option,
  variables: Variables,
  included: boolean,
  reader: Reader,
  taken: ReadonlySet<string>,
  prefix: Prefix,
) => {
  const names = { variables, included, taken }
  const isFail = option.name === 'failregex'
  if (option.lines.length > 500) return reader.report(option.line, `${option.name} has more than 500 lines.`)
  attempt(option.lines, reader, option.name, line => {
    for (const text of expressionsOf(line, names, reader)) {
      const expression = readOwn(text, line, option.name, reader)
      if (!isFail) continue
      if (
        !namesSomebody(expression.names) &&
        (prefix === null || (prefix !== 'unknown' && !namesSomebody(prefix.names)))
      )
        reader.report(
          line.number,
          'failregex: It must say whose failure it is, with <HOST>, <ADDR>, <IP4>, <IP6>, <DNS> or <SUBNET>.',
        )
      if (!anchored(expression.node) && (prefix === null || (prefix !== 'unknown' && !anchored(prefix.node))))
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

const readPrefix = (option: Option, names: Names, reader: Reader): Prefix => {
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

const readDates = (option: Option, names: Names, reader: Reader) => {
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
const readVariable = (option: Option, names: Names, reader: Reader) =>
  attempt([{ text: joined(option), number: option.line }], reader, option.name, line =>
    refuseGroup(expand(line.text, names, reader, !ofPrefix.test(option.name)), option.line, option.name, reader),
  )

/** A stranger's word in a sentence: short. */
export const shown = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
