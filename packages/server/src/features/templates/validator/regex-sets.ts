import type { Set128 } from './regex-tree.ts'

/* Sets of characters, and how JavaScript writes what Python's classes and escapes take. */

/** Places of a set beyond ASCII: digits, what else is in a word, blanks, and all the rest. No character is in two of them. */
const kinds = { digit: 128, word: 129, blank: 130, rest: 131 } as const
type Kind = keyof typeof kinds
export const everything = 132
const none: Set128 = new Uint8Array(everything)

/** `others`: the kinds of characters beyond ASCII; true for all of them. */
export const setOf = (test: (code: number) => boolean, others: boolean | readonly Kind[]): Set128 => {
  const set = new Uint8Array(everything)
  for (let code = 0; code < 128; code++) set[code] = test(code) ? 1 : 0
  const otherKinds = others === true ? (Object.keys(kinds) as Kind[]) : others || []
  for (const kind of otherKinds) set[kinds[kind]] = 1
  return set
}
/** A set holds a kind beyond ASCII for one character of it, so its opposite holds that kind too, unless `whole` has it. */
export const not = (set: Set128, whole: Set128 = none): Set128 =>
  set.map((in_, code) => ((code > 127 ? whole[code] : in_) ? 0 : 1))
const exactlyNot = (set: Set128): Set128 => set.map(in_ => (in_ ? 0 : 1))
const kindOf = (character: string): Kind =>
  /\p{Nd}/u.test(character)
    ? 'digit'
    : /[\p{L}\p{N}]/u.test(character)
      ? 'word'
      : /[^\S\ufeff]|\x85/.test(character)
        ? 'blank'
        : 'rest'
const singles: Set128[] = []
export const one = (character: string): Set128 => {
  const code = character.codePointAt(0) ?? 0
  const place = code > 127 ? kinds[kindOf(character)] : code
  return (singles[place] ??= setOf(each => each === code, code > 127 ? [kindOf(character)] : false))
}
export const digit = setOf(code => code >= 48 && code <= 57, ['digit'])
const space = setOf(code => (code >= 9 && code <= 13) || (code >= 28 && code <= 32), ['blank'])
export const word = setOf(
  code => (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122),
  ['digit', 'word'],
)
export const any = setOf(code => code !== 10, true)
export const everyCharacter = setOf(() => true, true)
export const addressSet = setOf(code => /[0-9a-fA-F.:/[\]]/.test(String.fromCharCode(code)), false)
export const hostSet = setOf(code => /[\w.:^[\]-]/.test(String.fromCharCode(code)), true)
export const classes: Readonly<Record<string, Set128>> = {
  d: digit,
  D: exactlyNot(digit),
  s: space,
  S: exactlyNot(space),
  w: word,
  W: exactlyNot(word),
}
const wordScript = '[\\p{L}\\p{N}_]'
const blanksScript = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
/** Python's classes take letters, digits and blanks of all scripts; JavaScript's own do not. */
export const classScripts: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: `[${blanksScript}]`,
  S: `[^${blanksScript}]`,
  w: wordScript,
  W: `[^${wordScript}]`,
}
export const scriptOf = (character: string): string =>
  /^[A-Za-z0-9]$/.test(character) ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
/** A character or a class, and how JavaScript writes it, within a class as well. */
export interface Characters {
  readonly set: Set128
  readonly script: string
}
export const single = (character: string): Characters => ({ set: one(character), script: scriptOf(character) })
export const atScripts: Readonly<Record<string, string>> = {
  A: '^',
  Z: '(?![^])',
  b: `(?:(?<=${wordScript})(?!${wordScript})|(?<!${wordScript})(?=${wordScript}))`,
  B: `(?:(?<=${wordScript})(?=${wordScript})|(?<!${wordScript})(?!${wordScript}))`,
}
export const controlEscapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}
