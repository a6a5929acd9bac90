import { Stumble, createDetector } from './detector.ts'
import type { FoundDate } from './detector.ts'
import type { DateForm } from './dates.ts'
import { plainer } from './javascript.ts'
import type { Script } from './javascript.ts'
import { readingOf } from './reading.ts'

/* What the engine would do with each of several lines. Pure; it takes as long as the expressions take. */

/** A filter that can be tried: everything in JavaScript. */
export interface Plan {
  readonly dates: readonly DateForm[]
  readonly prefix: Script | null
  readonly fails: readonly Script[]
  readonly ignores: readonly Script[]
}
/** Whose failure an expression found: groups, null where they took no part. */
export type Blamed = Readonly<Record<'ip4' | 'ip6' | 'dns' | 'fid' | 'cidr', string | null>>
/** Null: no failure. A text: why this line can not be judged here. */
export type LineVerdict = Blamed | string | null

type Groups = Readonly<Record<string, string | undefined>>
const idGroups = ['fid', 'ip4', 'ip6', 'dns'] as const

/** Judges lines one after the other: where the date stands depends on those before. */
export function* judgeLines(plan: Plan, lines: readonly string[]): Generator<LineVerdict, void> {
  const ascii = lines.every(line => /^[\0-\x7f]*$/.test(line))
  const judge = createJudge(ascii ? plainPlan(plan) : plan)
  for (const line of lines) yield judge(line)
}
const plainPlan = ({ dates, prefix, fails, ignores }: Plan): Plan => ({
  dates: dates.map(plainer),
  prefix: prefix && plainer(prefix),
  fails: fails.map(plainer),
  ignores: ignores.map(plainer),
})

const createJudge = (plan: Plan): ((line: string) => LineVerdict) => {
  const detector = createDetector(plan.dates)
  const [prefix] = plan.prefix ? [compile(plan.prefix)] : []
  const fails = plan.fails.map(compile)
  const ignores = plan.ignores.map(compile)
  const foldsSomewhere = [plan.prefix, ...plan.dates, ...plan.fails, ...plan.ignores].some(
    script => script !== null && /i/.test(script.flags + (/\(\?i:/.exec(script.source)?.[0] ?? '')),
  )
  const ignored = (text: string) => ignores.some(ignore => ignore.test(text))

  // oxlint-disable-next-line complexity -- follows the decisions of fail2ban one by one
  const failureIn = (line: string): Blamed | null => {
    let text = `${line}\n`
    // With few of them the engine looks before anything else, and then at the whole line.
    if (ignores.length > 0 && ignores.length < fails.length - 2 && ignored(text)) return null
    let before: Groups | null = null
    if (prefix) {
      const prefixMatch = prefix.exec(text)
      if (!prefixMatch) return null
      const { content, ...others } = prefixMatch.groups ?? {}
      if (Object.keys(others).length > 0) before = others
      if (content !== undefined && content !== '') text = `${content}\n`
    }
    for (const fail of fails) {
      const failMatch = fail.exec(text)
      if (!failMatch) continue
      if (ignored(text)) return null
      const groups = before ? { ...before, ...failMatch.groups } : (failMatch.groups ?? {})
      if (idGroups.some(name => groups[name] !== undefined)) return blamedOf(groups)
      // The expression matched without a host group: fail2ban goes on with an empty rest of the line.
      text = '\n'
    }
    return null
  }

  return line => {
    if (foldsSomewhere && /[\u0130\u0131]/.test(line))
      return 'it holds a letter i of Turkish, whose case Python sees otherwise'
    let date: FoundDate | null
    try {
      date = detector.find(line)
    } catch (error) {
      if (error instanceof Stumble) return null
      throw error
    }
    if (!date?.span) return failureIn(line)
    const [from, to] = date.span
    const reading = readingOf(date.groups)
    if (reading === 'stumbles') return null
    if (typeof reading === 'object') return reading.unknown
    const without = failureIn(line.slice(0, from) + line.slice(to))
    if (reading === 'reads' || from === to) return without
    return JSON.stringify(failureIn(line)) === JSON.stringify(without)
      ? without
      : 'its date may not be one, and whether it is cut out then depends on when the line before was written'
  }
}

const compile = ({ source, flags }: Script) => new RegExp(source, flags)
const blamedOf = (groups: Groups): Blamed => ({
  ip4: groups['ip4'] ?? null,
  ip6: groups['ip6'] ?? null,
  dns: groups['dns'] ?? null,
  fid: groups['fid'] ?? null,
  cidr: groups['cidr'] ?? null,
})
