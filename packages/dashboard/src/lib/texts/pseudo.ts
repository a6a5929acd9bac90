const accents: Readonly<Record<string, string>> = {
  a: 'á',
  e: 'ë',
  i: 'ï',
  o: 'ø',
  u: 'ü',
  A: 'Å',
  E: 'É',
  I: 'Ï',
  O: 'Ø',
  U: 'Ü',
  c: 'ç',
  n: 'ñ',
}
/** In words of six, since no language has a word as long as a sentence. */
const filler = (length: number) =>
  '~~~~~ '
    .repeat(Math.ceil(length / 6))
    .slice(0, length)
    .trimEnd()
const stretch = (text: string) =>
  `${[...text].map(letter => accents[letter] ?? letter).join('')}${filler(Math.ceil(text.length * 0.4))}`

/** A catalogue as a language with long words would have it: every text accented and 40 % longer. */
export const pseudo = <T>(texts: T): T => {
  const change = (value: unknown): unknown => {
    if (typeof value === 'string') return stretch(value)
    if (typeof value === 'function')
      return (...given: readonly unknown[]) => change((value as (...given: readonly unknown[]) => unknown)(...given))
    if (Array.isArray(value)) return value.map(change)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]))
    return value
  }
  return change(texts) as T
}
