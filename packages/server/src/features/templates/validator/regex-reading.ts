import { customTag, tagPattern, tags } from './regex-tags.ts'
import type { Node } from './regex-tree.ts'
import { widthOf } from './regex-width.ts'

/* How far an expression is read, and the groups and flags so far. */

export class RegexFault extends Error {}
export const fail: (message: string) => never = message => {
  throw new RegexFault(message)
}

export interface Flags {
  readonly i: boolean
  readonly m: boolean
  readonly s: boolean
}
export const flagsFrom = (before: Flags, on: string, off = ''): Flags => {
  const now = (flag: keyof Flags) => (before[flag] || on.includes(flag)) && !off.includes(flag)
  return { i: now('i'), m: now('m'), s: now('s') }
}

interface Group {
  readonly open: boolean
  readonly least: number
  readonly most: number
  readonly name: string | null
}

/** An expression while it is read. */
export interface Reading {
  readonly text: string
  /** Where the part begins that is not read yet. */
  at: number
  /** How deep groups lie in one another here. */
  depth: number
  readonly groups: Group[]
  /** Numbers of groups by their names. */
  readonly names: Map<string, number>
  readonly warnings: Set<string>
  conditional: boolean
  /** What the flags i, m and s say for the part that is read. */
  flags: Flags
  /** Tags such as <F-USER> that were opened so far: only those can be closed. */
  readonly opened: Set<string>
}
export const startReading = (text: string): Reading => ({
  text,
  at: 0,
  depth: 0,
  groups: [{ open: true, least: 0, most: Infinity, name: null }],
  names: new Map(),
  warnings: new Set(),
  conditional: false,
  flags: { i: false, m: false, s: false },
  opened: new Set(),
})

/** Matches a sticky pattern against what follows. */
export const matchHere = (reading: Reading, pattern: RegExp): RegExpExecArray | null => {
  pattern.lastIndex = reading.at
  return pattern.exec(reading.text)
}
export const isTag = (reading: Reading): boolean => {
  const tag = matchHere(reading, tagPattern)?.[0]
  if (tag === undefined) return false
  if (tags.has(tag.slice(1, -1))) return true
  const match = customTag.exec(tag)
  return match !== null && (match[1] === '' || reading.opened.has(match[2] ?? ''))
}

export const openGroup = (reading: Reading, name: string | null): number => {
  if (name !== null) {
    if (!/^[A-Za-z_]\w*$/.test(name) || tags.has(name)) fail(`"${name.slice(0, 40)}" is no name for a group.`)
    if (reading.names.has(name))
      fail(`There are two groups "${name}"; a host tag or a tag such as <F-USER> works once.`)
  }
  reading.groups.push({ open: true, least: 0, most: Infinity, name })
  if (name !== null) reading.names.set(name, reading.groups.length - 1)
  return reading.groups.length - 1
}
export const closeGroup = (reading: Reading, index: number, body: Node) => {
  const [least, most] = widthOf(body)
  reading.groups[index] = { open: false, least, most, name: reading.groups[index]?.name ?? null }
}
export const backReference = (reading: Reading, index: number): Node => {
  const group = reading.groups[index]
  if (index === 0 || !group) return fail(`There is no group ${index} to refer to.`)
  if (group.open) return fail('A group can not be referred to from within itself.')
  return { kind: 'back', number: index, least: group.least, most: group.most, folds: reading.flags.i }
}
export const namedReference = (reading: Reading, name: string): Node => {
  const index = reading.names.get(name)
  return index === undefined
    ? fail(`There is no group "${name.slice(0, 40)}" to refer to.`)
    : backReference(reading, index)
}

/** The same under other flags, which end with the group. */
export const under = <T>(reading: Reading, other: Flags, read: () => T): T => {
  const before = reading.flags
  reading.flags = other
  const result = read()
  reading.flags = before
  return result
}
export const checkFlags = (flags: string) => {
  for (const flag of flags) {
    if (!'imsu'.includes(flag)) fail(`The flag "${flag}" is refused; i, m, s and u may be used.`)
  }
  if (new Set(flags).size !== flags.length) fail('A flag stands twice.')
}
