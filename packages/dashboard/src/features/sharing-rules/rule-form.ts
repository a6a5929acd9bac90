import { readDuration } from '@stockade/contract/durations.ts'
import { useKept } from '../../kit/draft.ts'
import { useTarget } from '../fleet/target-choice.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { duration } from '../../lib/time.ts'
import type { Rule, RuleInput } from './queries.ts'
import { rulesTexts } from './sharing-rules.texts.ts'

interface Typed {
  readonly name: string
  readonly servers: string
  readonly bans: string
  readonly within: string
  readonly jails: string
  readonly countries: string
  readonly length: string
  readonly factor: string
  readonly perHour: string
  readonly exclude: string
}
const usual: Typed = {
  name: '',
  servers: '3',
  bans: '',
  within: '1d',
  jails: '',
  countries: '',
  length: '1d',
  factor: '1',
  perHour: '50',
  exclude: '',
}
/** The shortest form that `readDuration` reads. */
const typedLength = (seconds: number): string => {
  if (seconds < 0) return 'perm'
  for (const [size, unit] of [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'm'],
  ] as const)
    if (seconds % size === 0) return `${seconds / size}${unit}`
  return String(seconds)
}
const typedOf = (rule: Rule): Typed => ({
  name: rule.name,
  servers: String(rule.min_servers),
  bans: rule.min_bans === rule.min_servers ? '' : String(rule.min_bans),
  within: typedLength(rule.within),
  jails: (rule.jails ?? []).join(', '),
  countries: (rule.countries ?? []).join(', '),
  length: typedLength(rule.duration),
  factor: String(rule.factor),
  perHour: String(rule.per_hour),
  exclude: rule.exclude.join(', '),
})

const listOf = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter(part => part !== ''))]
const listOrNull = (text: string): string[] | null => {
  const list = listOf(text)
  return list.length > 0 ? list : null
}
const whole = (text: string, fallback: number): number => (/^\d{1,6}$/.test(text.trim()) ? Number(text) : fallback)
const weekLong = 7 * 86_400

const draftOf = (rule: Rule | undefined) => `sharing rule ${rule?.id ?? 'new'}`

/** What is typed, what is wrong with it, and what the API takes of it. */
export const useRuleForm = (rule: Rule | undefined) => {
  const t = textsOf(rulesTexts).dialog
  const draft = draftOf(rule)
  const { typed, set } = useKept(draft, rule ? typedOf(rule) : usual)
  const target = useTarget(draft, rule?.target)
  const within = readDuration(typed.within)
  const length = readDuration(typed.length)
  const servers = whole(typed.servers, 2)
  const limits = { per_hour: whole(typed.perHour, 50), exclude: listOf(typed.exclude) }
  const conditions: RuleInput = {
    min_servers: servers,
    min_bans: typed.bans.trim() === '' ? servers : whole(typed.bans, servers),
    within: within ?? 0,
    jails: listOrNull(typed.jails),
    countries: listOrNull(typed.countries),
    target: target.input ?? {},
    duration: length ?? 0,
    factor: Number(typed.factor.replace(',', '.')) || 1,
  }
  return {
    typed,
    set,
    target,
    conditions,
    limits,
    problems: {
      name: typed.name.trim() ? undefined : t.missingName,
      within: within === null || within < 60 || within > weekLong ? t.wrongWithin : undefined,
      length: length === null ? t.wrongLength : undefined,
      target: target.problem,
    },
    words: { within: duration(within ?? 0) },
  }
}
export type RuleForm = ReturnType<typeof useRuleForm>
