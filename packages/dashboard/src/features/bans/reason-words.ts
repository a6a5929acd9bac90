import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { reasonsTexts } from './reasons.texts.ts'

/** Why an address was banned, as the API reads it from the log lines. */
export interface Reason {
  readonly kind:
    | 'failed-logins'
    | 'mail-logins'
    | 'requests'
    | 'probes'
    | 'repeat-offender'
    | 'rate-limit'
    | 'manual'
    | 'other'
  readonly attempts: number | null
  readonly users: readonly string[]
  readonly paths: readonly string[]
  readonly text: string | null
}

/* Names come from attackers: isolated in their direction, so that none turns the sentence around. */
const [open, close] = ['\u2068', '\u2069']
const isolated = (name: string): string => `${open}${name.replaceAll(open, '').replaceAll(close, '')}${close}`

/** `31 failed logins for root, admin`: each name stands between U+2068 and U+2069. */
export const reasonWords = (reason: Reason | null | undefined): string => {
  const t = textsOf(reasonsTexts)
  if (!reason) return t.none
  const { kind, attempts, users, paths, text } = reason
  const what = t.kinds[kind](number(attempts ?? 0), attempts)
  const names = users.length > 0 ? users : paths
  if (text && (kind === 'manual' || names.length === 0)) return t.quoted(what, isolated(text))
  return names.length > 0 ? t.about(what, names.map(isolated).join(', ')) : what
}
/** The words in turn with the names in them: every second one is a name. */
export const partsOfReason = (words: string): readonly string[] => words.split(/[\u2068\u2069]/)
