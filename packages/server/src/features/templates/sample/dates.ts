import { isHostTag } from '../validator/regex-tags.ts'
import { readRegex } from '../validator/regex.ts'
import { Untriable, toJavaScript } from './javascript.ts'
import type { Script } from './javascript.ts'

/*
 * The forms of dates that the engine looks for in a line, as it makes them of `datepattern`, or of its own list where
 * there is none. What the first group of a form finds is cut out of the line before any expression sees it.
 */

export interface DateForm extends Script {
  /** No two forms have the same name. */
  readonly name: string
  /** Bound to the beginning or the end of the line. */
  readonly anchored: boolean
  /** How much a hit counts when forms are put in order. */
  readonly weight: number
}

/** A form before it is translated: `text` is a Python expression. */
interface Draft {
  readonly name: string
  /** The pattern as it can be built into another one; absent where the engine has none. */
  readonly pattern?: string
  readonly text: string
  readonly atBeginning: boolean
  readonly atEnd: boolean
}
type Bound = 'word' | 'line' | 'none'

const lineMark = '{^LN-BEG}'
const freeMark = '{UNB}'

const group = (name: string, text: string) => `(?P<${name}>${text})`
const oneOf = (name: string, words: string) => group(name, words.split(' ').join('|'))
const zoneName = '[A-Z](?:[A-Z]{2,4})?'
const offset = '[+-][01]\\d(?::?\\d{2})?'
const weeks = '5[0-3]|[0-4]\\d|\\d'

/** Years that the engine takes for real ones: from 2000 to the end of the decade in three years. */
const yearsUntil = (now: number): string => {
  const lastDecade = Math.floor((new Date(now).getFullYear() + 3) / 10) % 10
  return lastDecade === 0 ? '200\\d' : `20[0-${lastDecade}]\\d`
}

/** The conversions that a pattern may have; those with `Ex` are stricter about the number of digits. */
const conversionsAt = (now: number): ReadonlyMap<string, string> => {
  const years = yearsUntil(now)
  return new Map([
    ['a', oneOf('a', 'mon tue wed thu fri sat sun')],
    ['A', oneOf('A', 'wednesday thursday saturday tuesday monday friday sunday')],
    ['b', oneOf('b', 'jan feb mar apr may jun jul aug sep oct nov dec')],
    ['B', oneOf('B', 'september february november december january october august march april june july may')],
    ['d', group('d', '[1-2]\\d|[0 ]?[1-9]|3[0-1]')],
    ['f', group('f', '[0-9]{1,6}')],
    ['H', group('H', '[0-1]?\\d|2[0-3]')],
    ['I', group('I', '1[0-2]|0[1-9]|[1-9]')],
    ['j', group('j', '36[0-6]|3[0-5]\\d|[1-2]\\d\\d|0[1-9]\\d|00[1-9]|[1-9]\\d|0[1-9]|[1-9]')],
    ['k', ` ?${group('H', '[0-2]?\\d')}`],
    ['l', ` ?${group('I', '1?\\d')}`],
    ['m', group('m', '0?[1-9]|1[0-2]')],
    ['M', group('M', '[0-5]?\\d')],
    ['p', oneOf('p', 'am pm')],
    ['S', group('S', '[0-5]?\\d|6[0-1]')],
    ['U', group('U', weeks)],
    ['w', group('w', '[0-6]')],
    ['W', group('W', weeks)],
    ['y', group('y', '\\d\\d')],
    ['Y', group('Y', '\\d{4}')],
    ['z', group('z', `Z|UTC|GMT|${offset}`)],
    ['Z', group('Z', 'Z|[A-Z]{3,5}')],
    ['Exd', group('d', '[1-2]\\d|0[1-9]|3[0-1]')],
    ['Exm', group('m', '0[1-9]|1[0-2]')],
    ['ExH', group('H', '[0-1]\\d|2[0-3]')],
    ['Exk', ` ?${group('H', '[0-1]?\\d|2[0-3]')}`],
    ['Exl', ` ?${group('I', '1[0-2]|\\d')}`],
    ['ExM', group('M', '[0-5]\\d')],
    ['ExS', group('S', '[0-5]\\d|6[0-1]')],
    ['ExY', group('Y', years)],
    ['Exy', group('y', '\\d{2}')],
    ['Exz', group('z', `(?:${zoneName})?${offset}|${zoneName}`)],
    ['ExZ', group('Z', zoneName)],
  ])
}

const clock = (hour: string) => `${hour}:%M:%S`
const split = (separators: string, ...[first, second, third]: readonly [string, string, string]) =>
  `${first}(?P<_sep>[${separators}])${second}(?P=_sep)${third}`
const perhaps = (text: string) => `(?:${text})?`
const monthDayTime = `${perhaps('%a ')}%b %d ${clock('%k')}${perhaps('\\.%f')}${perhaps(' %ExY')}`

/** What is looked for where a filter says nothing, in this order. */
const ownPatterns: readonly string[] = [
  `${split('-/.', '%ExY', '%m', '%d')}(?:T|  ?)${clock('%H')}${perhaps('[.,]%f')}${perhaps('\\s*%z')}`,
  monthDayTime,
  `${perhaps('%a ')}%b %d %ExY ${clock('%k')}${perhaps('\\.%f')}`,
  `${split('-/', '%d', '%m', '(?:%ExY|%Exy)')} ${clock('%k')}`,
  `${split('-/', '%d', '%b', '%ExY')}[ :]?${clock('%H')}${perhaps('\\.%f')}${perhaps(' %z')}`,
  `%m/%d/%ExY:${clock('%H')}`,
  `%m-%d-%ExY ${clock('%k')}${perhaps('\\.%f')}`,
  'EPOCH',
  `${lineMark}${clock('%H')}`,
  `^<%m/%d/%Exy@${clock('%H')}>`,
  `%Exy%Exm%Exd  ?${clock('%H')}`,
  `%b %d, %ExY ${clock('%I')} %p`,
  `^%b-%d-%Exy ${clock('%k')}`,
  `%ExY%Exm%Exd(?:T|  ?)%ExH%ExM%ExS${perhaps('[.,]%f')}${perhaps('\\s*%z')}`,
  `${perhaps('%Z ')}${monthDayTime}`,
  `${perhaps('%z ')}${monthDayTime}`,
  'TAI64N',
]

const epoch = '\\d{10,11}\\b(?:\\.\\d{3,6})?'
const longEpoch = '\\d{10,11}(?:\\d{3}(?:\\.\\d{1,6}|\\d{3})?)?'

/** Puts bounds around an expression, and a group where it has none: what that finds is the date. */
// oxlint-disable-next-line complexity -- follows the decisions of fail2ban one by one
const bound = (text: string, name: string, front: Bound, wordBehind: boolean): Omit<Draft, 'pattern'> => {
  let inner = text.trim()
  const flags = /\(\?[a-z]+\)/.exec(inner)?.[0] ?? ''
  inner = inner.replace(flags, '')
  const freeInFront = /^\(*(?:\(\?\w+\))?(?:\^|\(*\*\*|\((?:\?:)?\^)/.test(inner)
  const freeBehind = /(?<!\\)(?:\$\)?|\\b|\\s|\*\*\)*)$/.test(inner)
  if (!/(?<!\(\?)(?<!\\)\((?!\?)/.test(inner)) {
    const [, begin = '', middle = '', end = ''] = /^(\^?)(.*?)(\$?)$/s.exec(inner) ?? []
    inner = `${begin}(${middle})${end}`
  }
  const byLine = front === 'line' && !freeInFront
  if (byLine) inner = `^(?:\\W{0,2})?${inner}`
  else if (front === 'word' && !freeInFront) inner = `(?=^|\\b|\\W)${inner}`
  const byWord = wordBehind && !freeBehind
  if (byWord) inner = `${inner}(?=\\b|\\W|$)`
  const atBeginning = byLine || /^(?:\^|\((?:\?:)?\^(?!\|))/.test(inner)
  const atEnd = /(?<![\\|])\$\)?$/.test(inner)
  // Two asterisks in front or behind say that no word begins or ends there.
  inner = inner
    .replace(/^\(*(?:\(\?\w+\))?\(*\*\*/, stars => stars.replace('**', ''))
    .replace(/(?<!\\)\*\*\)*$/, stars => stars.replace('**', ''))
  return {
    name: byLine && !name.startsWith(lineMark) ? `${lineMark}${name}` : name,
    text: `${flags}${inner}`,
    atBeginning,
    atEnd,
  }
}

/** A form by the name or the pattern that the engine knows it by. */
const draftOf = (pattern: string, conversions: ReadonlyMap<string, string>): Draft => {
  const key = pattern.includes('%') ? pattern : pattern.toUpperCase()
  const built = key.includes('EPOCH') && /(?<!\\)\{L?EPOCH\}/i.test(pattern)
  if (built) {
    const seconds = `(${key.includes('LEPOCH') ? longEpoch : epoch})`
    return bound(`(${pattern.replace(/(?<!\\)\{L?EPOCH\}/gi, () => seconds)})`, pattern, 'word', true)
  }
  const epochForm = /^(\{\^LN-BEG\}|\^)?(L?EPOCH|TAI64N)$/.exec(key)
  if (epochForm) {
    const byLine = epochForm[1] !== undefined
    if (epochForm[2] === 'TAI64N') return bound('@[0-9a-f]{24}', 'TAI64N', byLine ? 'line' : 'none', true)
    const seconds = epochForm[2] === 'EPOCH' ? epoch : longEpoch
    const name = epochForm[2] === 'EPOCH' ? 'Epoch' : 'LongEpoch'
    return byLine
      ? bound(`((?<=^\\[)${seconds}(?=\\])|${seconds})`, name, 'line', true)
      : bound(`((?:^|(?<=^\\[)|(?<=\\baudit\\())${seconds})`, name, 'none', true)
  }
  return patternDraft(pattern, conversions)
}

const patternDraft = (pattern: string, conversions: ReadonlyMap<string, string>): Draft => {
  const free = pattern.startsWith(freeMark)
  const byLine = !free && pattern.startsWith(lineMark)
  const rest = free ? pattern.slice(freeMark.length) : byLine ? pattern.slice(lineMark.length) : pattern
  const filled = rest.replace(/%(Ex[A-Za-z]|[A-Za-z%])/g, (whole, conversion: string) => {
    if (conversion === '%') return '%'
    return conversions.get(conversion) ?? whole
  })
  const text = /(?<!%)%[aAbBpc]/.test(pattern) ? `(?iu)${filled}` : filled
  return { ...bound(text, rest, free ? 'none' : byLine ? 'line' : 'word', !free), pattern }
}

/** Without the marks and bounds that only make sense where a pattern stands alone. */
const unbound = (pattern: string): string => {
  let text = pattern
  if (text.startsWith(freeMark)) text = text.slice(freeMark.length)
  if (text.startsWith(lineMark)) text = text.slice(lineMark.length)
  return text.replace(/^\((?:\?:)?\^\|\\b\|\\W\)/, '').replace(/\(\?=\\b\|\\W\|\$\)$/, '')
}

/** Characters of all forms; the engine's own list has a tenth of it. */
const longest = 64 * 1024

interface Listed {
  readonly draft: Draft
  readonly weight: number
}

/** The engine's own list: first each form at the beginning of a line, then each where it may be. */
const ownList = (conversions: ReadonlyMap<string, string>): Listed[] => {
  const plain = ownPatterns.map(pattern => draftOf(pattern, conversions))
  const first = plain
    .filter(({ name }) => !name.startsWith(lineMark) && !name.startsWith('^'))
    .map(({ name, pattern }) => draftOf(`${lineMark}${pattern ?? name}`, conversions))
  return [...first.map(draft => ({ draft, weight: 100 })), ...plain.map(draft => ({ draft, weight: 1 }))]
}

/**
 * The forms that a filter's `datepattern` asks for, in order; `now` in ms says which years are near.
 * @throws Untriable
 */
export const dateForms = (patterns: readonly string[], now: number): readonly DateForm[] => {
  const conversions = conversionsAt(now)
  const listed: Listed[] = []
  const knownForms = new Set<string>()
  let length = 0
  const add = (more: readonly Listed[], ignoreKnown: boolean) => {
    for (const each of more) {
      if (knownForms.has(each.draft.name)) {
        if (ignoreKnown) continue
        throw new Untriable('The same datepattern stands there twice: the engine refuses that.')
      }
      knownForms.add(each.draft.name)
      listed.push(each)
      length += each.draft.text.length
      if (length > longest) throw new Untriable('The datepattern is longer than can be tried here.')
    }
  }
  for (const pattern of patterns) {
    const key = pattern.includes('%') ? pattern : pattern.toUpperCase()
    const before = listed.length > 0
    if (key === lineMark)
      add(
        ownList(conversions).filter(({ draft }) => draft.atBeginning),
        before,
      )
    else if (key === '{DEFAULT}') add(ownList(conversions), before)
    else if (key.includes('{DATE}')) add(within(pattern, conversions), before)
    else {
      const source = key === '{NONE}' ? `${freeMark}^` : pattern
      add([{ draft: draftOf(source, conversions), weight: 1 }], false)
    }
  }
  if (patterns.length === 0) add(ownList(conversions), false)
  return listed.map(translated)
}

/** Each form of the list in the place of `{DATE}`. */
const within = (pattern: string, conversions: ReadonlyMap<string, string>): Listed[] => {
  const put = (form: string) => pattern.replace(/(?<!\\)\{DATE\}/gi, () => unbound(form))
  return ownPatterns.map(own => {
    const draft = draftOf(own, conversions)
    return { draft: draftOf(put(draft.pattern ?? draft.name), conversions), weight: 1 }
  })
}

const translated = ({ draft, weight }: Listed): DateForm => {
  if ((draft.text.match(/<[^<>]+>/g) ?? []).some(isHostTag))
    throw new Untriable('A tag such as <HOST> in a datepattern can not be tried here.')
  const { source, flags } = toJavaScript(readRegex(draft.text))
  // The place of the group is asked for, and where to begin is said.
  return { name: draft.name, source, flags: `${flags}dg`, anchored: draft.atBeginning || draft.atEnd, weight }
}
