import { RegexFault } from './regex-reading.ts'
import { readRegex } from './regex.ts'

/** Conversions that the engine has an expression for; each is a named group, so it can stand in a pattern once. */
const conversion = /%(?:Ex[YymdHMSklzZ]|[aAbBdfHIjklmMpSUwWyYzZ])/g
/** What it knows by name. */
const special = /\{(?:\^LN-BEG|UNB|NONE|DATE|L?EPOCH)\}/gi

/** What is wrong with a pattern for dates, in which `%%` has become `%`; null when nothing is. */
export const datepatternFault = (pattern: string): string | null => {
  if (/^(?:EPOCH|LONGEPOCH|TAI64N|ISO8601|\{?NONE\}?|\{?LN-BEG\}?)$/i.test(pattern.trim())) return null
  const usedDirectives = new Set<string>()
  let twice: string | null = null
  const text = pattern.replace(special, '(?:x)').replace(conversion, found => {
    const group = { k: 'H', l: 'I' }[found.at(-1) ?? ''] ?? found.at(-1) ?? ''
    if (usedDirectives.has(group)) twice = found
    usedDirectives.add(group)
    return '(?:x)'
  })
  if (twice) return `${String(twice)} can stand there once.`
  if (text.includes('%')) return 'It has a "%" that begins none of the engine\'s conversions, such as %%Y.'
  // In front and behind, two asterisks say that no word needs to end there.
  const bare = text.replace(/^\*\*|\*\*$/g, '')
  try {
    readRegex(bare)
    return null
  } catch (error) {
    if (error instanceof RegexFault) return error.message
    throw error
  }
}
