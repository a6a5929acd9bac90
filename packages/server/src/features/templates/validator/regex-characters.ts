import { backReference, fail, isTag } from './regex-reading.ts'
import type { Reading } from './regex-reading.ts'
import {
  atScripts,
  classScripts,
  classes,
  controlEscapes,
  everything,
  not,
  one,
  scriptOf,
  setOf,
  single,
} from './regex-sets.ts'
import type { Characters } from './regex-sets.ts'
import { foreign } from './regex-tags.ts'
import type { Node, Set128 } from './regex-tree.ts'

/* Characters, escapes and classes. */

const hexEscape = (reading: Reading, letter: string, length: number): Characters => {
  const digits = reading.text.slice(reading.at, reading.at + length)
  if (digits.length < length || !/^[\da-fA-F]+$/.test(digits)) fail(`\\${letter} needs ${length} hexadecimal digits.`)
  const code = parseInt(digits, 16)
  if (code > 0x10ffff) fail(`\\${letter}${digits} is no character.`)
  reading.at += length
  return single(String.fromCodePoint(code))
}
const octalEscape = (reading: Reading, first: string): Characters => {
  const digits = /^[0-7]{1,3}/.exec(reading.text.slice(reading.at - 1, reading.at + 2))?.[0] ?? first
  reading.at += digits.length - 1
  if (parseInt(digits, 8) > 0o377) fail(`\\${digits} is no character.`)
  return single(String.fromCharCode(parseInt(digits, 8)))
}
const escapedCharacter = (reading: Reading): string => {
  const next = reading.text[reading.at + 1]
  if (next === undefined) return fail('The expression ends within an escape.')
  if (next === foreign) return fail('A variable must not follow a backslash.')
  reading.at += 1
  // The engine puts its pattern in place of a tag whatever stands before it.
  if (next === '<' && isTag(reading)) return fail('A tag must not follow a backslash.')
  reading.at += 1
  return next
}
/** The character or class of an escape; null where it is no single character. */
const escapeOf = (reading: Reading, inClass: boolean): Characters | null => {
  const next = escapedCharacter(reading)
  const set = classes[next]
  if (set) return { set, script: classScripts[next] ?? '' }
  const control = controlEscapes[next]
  if (control !== undefined) return single(control)
  if (next === 'b' && inClass) return single('\b')
  const hex = { x: 2, u: 4, U: 8 }[next]
  if (hex !== undefined) return hexEscape(reading, next, hex)
  if (next === '0' || (inClass && /[1-7]/.test(next))) return octalEscape(reading, next)
  if (/[A-Za-z0-9]/.test(next)) return inClass ? fail(`\\${next} means nothing in a class.`) : null
  return single(next)
}
/** One member of a class, its code where it is one character, and how JavaScript writes it. */
const classItem = (reading: Reading): readonly [Set128, number | null, string] => {
  if (reading.text[reading.at] === '\\') {
    const isClass = (reading.text[reading.at + 1] ?? '') in classes
    const from = reading.at
    const { set, script } = escapeOf(reading, true) ?? fail('This escape means nothing in a class.')
    if (isClass) return [set, null, script]
    const code = set.indexOf(1)
    // Beyond ASCII the order is not known here; Python's is that of the code points.
    return [set, code > 127 ? 128 + from : code, script]
  }
  const character = String.fromCodePoint(reading.text.codePointAt(reading.at) ?? 0)
  reading.at += character.length
  return [one(character), character.codePointAt(0) ?? 0, scriptOf(character)]
}
/** A character, a class or a range. */
const classMember = (reading: Reading): Characters => {
  const [set, low, script] = classItem(reading)
  const after = reading.text[reading.at + 1]
  if (reading.text[reading.at] !== '-' || after === ']' || after === undefined) return { set, script }
  reading.at++
  const [, high, highScript] = classItem(reading)
  if (low === null || high === null || high < low) return fail('A range in a class [...] is the wrong way round.')
  return { set: setOf(code => code >= low && code <= high, high > 127), script: `${script}-${highScript}` }
}
export const classNode = (reading: Reading): Node => {
  reading.at++
  const negated = reading.text[reading.at] === '^'
  if (negated) reading.at++
  const set = new Uint8Array(everything)
  /** What classes such as \\s take, all of which is in them. */
  const whole = new Uint8Array(everything)
  let script = ''
  let first = true
  for (;;) {
    const character = reading.text[reading.at]
    if (character === undefined) fail('A class [...] is not closed.')
    if (character === ']' && !first) break
    first = false
    if (character === foreign) fail('A variable must not stand in a class [...].')
    if (isTag(reading)) fail('A tag must not stand in a class [...].')
    const isClass = reading.text[reading.at] === '\\' && (reading.text[reading.at + 1] ?? '') in classes
    const member = classMember(reading)
    member.set.forEach((in_, code) => {
      if (in_) set[code] = 1
      if (in_ && isClass) whole[code] = 1
    })
    script += member.script
  }
  reading.at++
  return {
    kind: 'set',
    set: negated ? not(set, whole) : set,
    script: `[${negated ? '^' : ''}${script}]`,
    folds: reading.flags.i,
  }
}

export const setNode = (reading: Reading, { set, script }: Characters): Node => ({
  kind: 'set',
  set,
  script,
  folds: reading.flags.i,
})
export const escaped = (reading: Reading): Node => {
  const next = reading.text[reading.at + 1] ?? ''
  if (/[AZbB]/.test(next)) {
    reading.at += 2
    const what = next === 'A' ? '^' : next === 'Z' ? '$' : next
    return { kind: 'at', what, script: atScripts[next] ?? '' }
  }
  if (/[1-9]/.test(next)) {
    const octal = /^[0-3][0-7]{2}/.exec(reading.text.slice(reading.at + 1, reading.at + 4))?.[0]
    if (octal) {
      reading.at += 4
      return setNode(reading, single(String.fromCharCode(parseInt(octal, 8))))
    }
    const digits = /^[1-9]\d?/.exec(reading.text.slice(reading.at + 1, reading.at + 3))?.[0] ?? next
    reading.at += 1 + digits.length
    return backReference(reading, Number(digits))
  }
  const characters = escapeOf(reading, false)
  return characters ? setNode(reading, characters) : fail(`\\${next} is no escape that Python knows.`)
}
