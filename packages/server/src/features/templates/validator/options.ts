import { nearestOf } from '@stockade/contract'
import { shortened } from './report.ts'
import type { Reader } from './report.ts'
import type { Option } from './ini.ts'
import * as values from './values.ts'
import type { Check } from './values.ts'

/* The options that a template may set, and what their values may be. */

/** Names are a stranger's: a plain object would also answer to `constructor`. */
const table = <T>(entries: Record<string, T>): ReadonlyMap<string, T> => new Map(Object.entries(entries))

export const jailChecks: ReadonlyMap<string, Check> = table({
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
  'bantime.multipliers': values.multipliers,
  'bantime.overalljails': values.truth,
  'bantime.rndtime': values.span(false),
  backend: values.backend,
  journalmatch: values.journalmatch,
  usedns: values.usedns,
  maxlines: values.whole(1, 100),
  mode: values.mode,
  logencoding: values.logencoding,
  logtimezone: values.logtimezone,
})
export const filterChecks: ReadonlyMap<string, Check> = table({
  journalmatch: values.journalmatch,
  maxlines: values.whole(1, 100),
  mode: values.mode,
})
const manyLined = new Set(['failregex', 'ignoreregex', 'datepattern', 'logpath', 'journalmatch'])

export const dangerous: ReadonlyMap<string, string> = table({
  action: 'actions run programs as root; the jail keeps those of the server',
  banaction: 'the server says how it bans; the jail keeps that',
  banaction_allports: 'the server says how it bans; the jail keeps that',
  ignorecommand: 'it runs a program for each failure',
  ignoreip: 'addresses that are never banned belong on the whitelist',
  'bantime.formula': 'the engine evaluates it as a program',
})
export const refusedOption = (name: string): string => {
  const reason = dangerous.get(name)
  if (reason !== undefined) return `The option ${name} is refused: ${reason}.`
  const nearest = nearestOf(name, [...jailChecks.keys()])
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `The option ${shortened(name)} is not one that a template may set.${hint}`
}

/** A plain option: one value, no percent signs but those of known variables, no tags. */
export const checkValue = (option: Option, check: Check | undefined, { report }: Reader, variables: boolean) => {
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
