import { classNode, escaped, setNode } from './regex-characters.ts'
import {
  checkFlags,
  closeGroup,
  fail,
  flagsFrom,
  isTag,
  matchHere,
  namedReference,
  openGroup,
  startReading,
  under,
} from './regex-reading.ts'
import type { Reading } from './regex-reading.ts'
import { any, everyCharacter, single } from './regex-sets.ts'
import { slowPart } from './regex-slow.ts'
import { customTag, foreign, mappedNames, tagPattern, tags } from './regex-tags.ts'
import type { Node } from './regex-tree.ts'
import { widthOf } from './regex-width.ts'

/*
 * Reads a regular expression as Python's `re` does after fail2ban put its own patterns in place of its tags, into a
 * tree. It compiles nothing, so no expression can hang it; time and depth are bounded. What newer and older Pythons
 * take differently (possessive quantifiers, atomic groups, flags in the middle) is refused.
 */

export interface Expression {
  readonly node: Node
  /** Whether case matters nowhere in it, by a flag at its beginning. */
  readonly folds: boolean
  /** Whether a part of it depends on whether a group took part. */
  readonly conditional: boolean
  /** Names of its groups. */
  readonly names: ReadonlySet<string>
  readonly warnings: readonly string[]
  /** A part that can make the engine try endlessly on a line made for it, in words; null when there is none. */
  readonly slow: string | null
}

const most = 20_000
const deepest = 60
const largestRepeat = 65_535

const tagNode = (reading: Reading): Node | 'close' | null => {
  const tag = matchHere(reading, tagPattern)?.[0]
  if (tag === undefined) return null
  const knownTag = tags.get(tag.slice(1, -1))
  if (knownTag) {
    reading.at += tag.length
    const numbers = knownTag.names.map(name => {
      const number = openGroup(reading, name)
      closeGroup(reading, number, { kind: 'empty' })
      return number
    })
    const loose = /ADDR|SUBNET|IP4|SKIPLINES/.test(tag)
    return {
      kind: 'tag',
      tag: tag.slice(1, -1),
      numbers,
      set: knownTag.set,
      least: knownTag.least,
      loose,
      folds: reading.flags.i,
    }
  }
  const match = customTag.exec(tag)
  if (!match) return null
  const name = match[2] ?? ''
  if (match[1] === '/') return reading.opened.has(name) ? 'close' : null
  reading.opened.add(name)
  reading.at += tag.length
  return inner(reading, mappedNames.get(name.toLowerCase()) ?? name.toLowerCase())
}
/** What stands between here and the closing parenthesis (or closing tag), as a group. */
const inner = (reading: Reading, name: string | null, captures = true): Node => {
  if (++reading.depth > deepest) fail(`Groups lie deeper than ${deepest} in one another.`)
  const index = captures ? openGroup(reading, name) : -1
  const body = alternatives(reading)
  const closing = matchHere(reading, /<\/F-[A-Z0-9_-]+>/y)?.[0]
  if (reading.text[reading.at] === ')') reading.at++
  else if (closing !== undefined && isTag(reading)) reading.at += closing.length
  else fail('A group "(" is not closed.')
  reading.depth--
  if (captures) closeGroup(reading, index, body)
  return { kind: 'group', body, number: captures ? index : null, name }
}

/** `(...)` without a question mark. */
const plainGroup = (reading: Reading): Node => {
  reading.at++
  // The engine makes the flags of `((?i)...)` the group's own.
  const own = matchHere(reading, /\(\?([a-z]+)\)/y)
  if (own) {
    checkFlags(own[1] ?? '')
    reading.at += own[0].length
    if (++reading.depth > deepest) fail(`Groups lie deeper than ${deepest} in one another.`)
    const body = under(reading, flagsFrom(reading.flags, own[1] ?? ''), () => alternatives(reading))
    if (reading.text[reading.at] !== ')') fail('A group "(" is not closed.')
    reading.at++
    reading.depth--
    return { kind: 'group', body, number: null, name: null }
  }
  return inner(reading, null)
}
const lookAround: ReadGroup = (reading, look) => {
  const node = inner(reading, null, false)
  const behind = look[1] === '<'
  const [least, most] = widthOf(node)
  if (behind && least !== most) fail('What is looked behind for must have one fixed length.')
  return { kind: 'look', behind, not: look[2] === '!', body: node }
}
const conditionGroup: ReadGroup = (reading, condition) => {
  reading.conditional = true
  const name = condition[1] ?? ''
  if (/^\d+$/.test(name)) {
    const index = Number(name)
    if (index === 0 || index >= reading.groups.length) fail(`There is no group ${name} to depend on.`)
  } else if (!reading.names.has(name)) fail(`There is no group "${name.slice(0, 40)}" to depend on.`)
  reading.warnings.add('It has a condition, (?(group)...): that is hard to foresee, try it on a server.')
  const node = inner(reading, null, false)
  const body = node.kind === 'group' ? node.body : node
  if (body.kind === 'either' && body.branches.length > 2) fail('A condition has two branches at most.')
  return body.kind === 'either' ? node : { kind: 'repeat', body: node, least: 0, most: 1, lazy: false }
}
const flagGroup: ReadGroup = (reading, local) => {
  checkFlags(local[1] ?? '')
  if ((local[2] ?? '').includes('x') || [...(local[2] ?? '')].some(flag => local[1]?.includes(flag)))
    fail('A flag is turned on and off at once.')
  const own = matchHere(reading, /\(\?([a-z]+)\)/y)
  if (own && local[0] === '(?:') {
    checkFlags(own[1] ?? '')
    reading.at += own[0].length
  }
  const on = `${local[1] ?? ''}${local[0] === '(?:' ? (own?.[1] ?? '') : ''}`
  return under(reading, flagsFrom(reading.flags, on, local[2]), () => inner(reading, null, false))
}
/** Reads a group of whose beginning the match is; what it matched is read already. */
type ReadGroup = (reading: Reading, match: RegExpExecArray) => Node
const groupForms: readonly (readonly [pattern: RegExp, read: ReadGroup])[] = [
  [/\(\?P<([^>]*)>/y, (reading, match) => inner(reading, match[1] ?? '')],
  [/\(\?P=([^)]*)\)/y, (reading, match) => namedReference(reading, match[1] ?? '')],
  [/\(\?(<?)([=!])/y, lookAround],
  [/\(\?\((\w+)\)/y, conditionGroup],
  [/\(\?#[^)<]*\)/y, () => ({ kind: 'empty' })],
  [/\(\?([aiLmsux]*)(?:-([imsx]+))?:/y, flagGroup],
]
const group = (reading: Reading): Node => {
  if (reading.text[reading.at + 1] !== '?') return plainGroup(reading)
  for (const [pattern, read] of groupForms) {
    const match = matchHere(reading, pattern)
    if (!match) continue
    reading.at += match[0].length
    return read(reading, match)
  }
  return fail(
    `"${reading.text.slice(reading.at, reading.at + 4)}" begins no group that every version of the engine knows.`,
  )
}
/** A brace is a character, unless it is a quantifier that has nothing to repeat. */
const refuseBounds = (reading: Reading): null => {
  const quantifier = matchHere(reading, /\{(?:\d+(?:,\d*)?|,\d*)\}/y)
  return quantifier ? fail(`There is nothing that "${quantifier[0]}" could repeat.`) : null
}
/** What a character with a meaning of its own begins; null for another one. */
const specialNode = (reading: Reading, character: string): Node | null => {
  switch (character) {
    case '(':
      return group(reading)
    case '[':
      return classNode(reading)
    case '.':
      reading.at++
      return setNode(reading, reading.flags.s ? { set: everyCharacter, script: '[^]' } : { set: any, script: '[^\\n]' })
    case '^':
      reading.at++
      return { kind: 'at', what: character, script: reading.flags.m ? '(?<![^\\n])' : '^' }
    case '$':
      reading.at++
      // Before a last end of line as well.
      return { kind: 'at', what: character, script: reading.flags.m ? '(?![^\\n])' : '(?![^\\n]|\\n[^])' }
    case foreign:
      reading.at++
      return { kind: 'empty' }
    case '*':
    case '+':
    case '?':
      return fail(`There is nothing that "${character}" could repeat.`)
    case '{':
      return refuseBounds(reading)
    case '\\':
      return escaped(reading)
    default:
      return null
  }
}
const atom = (reading: Reading): Node | 'end' => {
  const character = reading.text[reading.at]
  if (character === undefined || character === '|' || character === ')') return 'end'
  if (character === '<') {
    const tag = tagNode(reading)
    if (tag === 'close') return 'end'
    if (tag !== null) return tag
  }
  const special = specialNode(reading, character)
  if (special) return special
  const whole = String.fromCodePoint(reading.text.codePointAt(reading.at) ?? 0)
  reading.at += whole.length
  return setNode(reading, single(whole))
}
const sequence = (reading: Reading): Node => {
  const items: Node[] = []
  for (;;) {
    const from = reading.at
    const node = atom(reading)
    if (node === 'end') break
    items.push(quantified(reading, node, reading.text[from] === '(' && node.kind === 'empty'))
  }
  return items.length === 1 && items[0]
    ? items[0]
    : items.length === 0
      ? { kind: 'empty' }
      : { kind: 'sequence', items }
}
/** How often a quantifier repeats. */
const boundsOf = (all: string, low: string, comma: string | undefined, high: string): readonly [number, number] => {
  if (all === '*' || all === '{,}') return [0, Infinity]
  if (all === '+') return [1, Infinity]
  if (all === '?') return [0, 1]
  const least = Number(low || '0')
  if (comma === undefined) return [least, least]
  return [least, high ? Number(high) : Infinity]
}
const quantified = (reading: Reading, node: Node, isComment: boolean): Node => {
  const quantifier = matchHere(reading, /\*|\+|\?|\{(\d*)(?:(,)(\d*))?\}/y)
  if (!quantifier || quantifier[0] === '{}') return node
  const [all, low = '', comma, high = ''] = quantifier
  const [least, most] = boundsOf(all, low, comma, high)
  return repeat(reading, node, least, most, all, isComment)
}
const checkRepeated = (node: Node, all: string, isComment: boolean) => {
  if (isComment) fail('There is nothing to repeat before a quantifier.')
  if (node.kind === 'at' || node.kind === 'empty') fail(`There is nothing that "${all}" could repeat.`)
  if (node.kind === 'tag' && node.loose) fail(`${all} would repeat only the end of that tag; put it into (?:...).`)
}
const repeat = (reading: Reading, node: Node, least: number, most: number, all: string, isComment: boolean): Node => {
  checkRepeated(node, all, isComment)
  if (least > largestRepeat || (most !== Infinity && most > largestRepeat)) fail(`${all} repeats too often.`)
  if (most < least) fail(`In ${all} the smaller number comes first.`)
  reading.at += all.length
  const lazy = reading.text[reading.at] === '?'
  if (lazy) reading.at++
  else if (reading.text[reading.at] === '+') fail(`${all}+ is known to newer engines only.`)
  if (matchHere(reading, /\*|\+|\?|\{\d*,?\d*\}/y) && !reading.text.startsWith('{}', reading.at))
    fail('Two quantifiers follow one another.')
  return { kind: 'repeat', body: node, least, most, lazy }
}
const alternatives = (reading: Reading): Node => {
  const branches = [sequence(reading)]
  while (reading.text[reading.at] === '|') {
    reading.at++
    branches.push(sequence(reading))
  }
  return branches.length === 1 && branches[0] ? branches[0] : { kind: 'either', branches }
}

export const readRegex = (text: string): Expression => {
  if (text.trim() === '') fail('The expression is empty.')
  if (text.length > most) fail(`The expression is longer than ${most} characters.`)
  const reading = startReading(text)
  const leading = matchHere(reading, /\(\?([a-zA-Z]+)\)/y)
  if (leading) {
    checkFlags(leading[1] ?? '')
    reading.at += leading[0].length
    reading.flags = flagsFrom(reading.flags, leading[1] ?? '')
  }
  const folds = reading.flags.i
  const node = alternatives(reading)
  if (reading.at < text.length)
    fail(text[reading.at] === ')' ? 'A ")" closes nothing.' : 'A closing tag closes nothing.')
  return {
    node,
    folds,
    conditional: reading.conditional,
    names: new Set(reading.names.keys()),
    warnings: [...reading.warnings],
    slow: slowPart(node, text.length),
  }
}
