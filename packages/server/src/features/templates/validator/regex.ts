import { isAmbiguous } from './ambiguity.ts'
import type { Node, Set128 } from './regex-tree.ts'

/*
 * Reads a regular expression as Python's `re` does after fail2ban put its own patterns in place of its tags, into a
 * tree. It compiles nothing, so no expression can hang it; time and depth are bounded. What newer and older Pythons
 * take differently (possessive quantifiers, atomic groups, flags in the middle) is refused.
 */

const everything = 129

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
export class RegexFault extends Error {}

const fail: (message: string) => never = message => {
  throw new RegexFault(message)
}

const most = 20_000
const deepest = 60
const largestRepeat = 65_535

const setOf = (test: (code: number) => boolean, others: boolean): Set128 => {
  const set = new Uint8Array(everything)
  for (let code = 0; code < 128; code++) set[code] = test(code) ? 1 : 0
  set[128] = others ? 1 : 0
  return set
}
const not = (set: Set128): Set128 => set.map((in_, code) => (code === 128 ? 1 : in_ ? 0 : 1))
const singles: Set128[] = []
const one = (character: string): Set128 => {
  const code = Math.min(character.codePointAt(0) ?? 0, 128)
  return (singles[code] ??= setOf(each => each === code, code > 127))
}
const digit = setOf(code => code >= 48 && code <= 57, true)
const space = setOf(code => (code >= 9 && code <= 13) || (code >= 28 && code <= 32), true)
const word = setOf(
  code => (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122),
  true,
)
const any = setOf(code => code !== 10, true)
const everyCharacter = setOf(() => true, true)
const addressSet = setOf(code => /[0-9a-fA-F.:/[\]]/.test(String.fromCharCode(code)), false)
const hostSet = setOf(code => /[\w.:^[\]-]/.test(String.fromCharCode(code)), true)
const classes: Readonly<Record<string, Set128>> = {
  d: digit,
  D: not(digit),
  s: space,
  S: not(space),
  w: word,
  W: not(word),
}
const wordScript = '[\\p{L}\\p{N}_]'
const blanksScript = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'
/** Python's classes take letters, digits and blanks of all scripts; JavaScript's own do not. */
const classScripts: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: `[${blanksScript}]`,
  S: `[^${blanksScript}]`,
  w: wordScript,
  W: `[^${wordScript}]`,
}
const scriptOf = (character: string): string =>
  /^[A-Za-z0-9]$/.test(character) ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
/** A character or a class, and how JavaScript writes it, within a class as well. */
interface Characters {
  readonly set: Set128
  readonly script: string
}
const single = (character: string): Characters => ({ set: one(character), script: scriptOf(character) })
const atScripts: Readonly<Record<string, string>> = {
  A: '^',
  Z: '(?![^])',
  b: `(?:(?<=${wordScript})(?!${wordScript})|(?<!${wordScript})(?=${wordScript}))`,
  B: `(?:(?<=${wordScript})(?=${wordScript})|(?<!${wordScript})(?!${wordScript}))`,
}
const controlEscapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** What the engine puts in place of a tag: its groups, and what it can match. */
const tagTable: Record<string, { names: readonly string[]; set: Set128; least: number }> = {
  HOST: { names: ['ip4', 'ip6', 'dns'], set: hostSet, least: 1 },
  ADDR: { names: ['ip4', 'ip6'], set: addressSet, least: 2 },
  IP4: { names: ['ip4'], set: addressSet, least: 7 },
  IP6: { names: ['ip6'], set: addressSet, least: 2 },
  DNS: { names: ['dns'], set: hostSet, least: 1 },
  CIDR: { names: ['cidr'], set: digit, least: 1 },
  SUBNET: { names: ['ip4', 'ip6', 'cidr'], set: addressSet, least: 2 },
  SKIPLINES: { names: [], set: everyCharacter, least: 1 },
  'F-ID/': { names: ['fid'], set: classes.S ?? word, least: 1 },
  'F-PORT/': { names: ['fport'], set: word, least: 1 },
}
/** Names are a stranger's: a plain object would also answer to `constructor`. */
const tags = new Map(Object.entries(tagTable))
for (const name of ['ADDR', 'IP4', 'IP6', 'DNS', 'CIDR', 'SUBNET']) {
  const tag = tags.get(name)
  if (tag) tags.set(`F-${name}/`, tag)
}

/** Groups that the engine takes for the address, merges into it, or keeps as a field of the ban: an action may use them. */
const fieldGroup =
  /^(?:f?id|ip|ip4|ip6|addr|subnet|dns|host|cidr|ip-?host|ip-?rev|family|failures|users|time|bantime|bancount|restored|raw-ticket|(?:ip)?(?:jail)?(?:matches|failures)|mlf.*|alt_.*|tuple_.*)$/i
/** The first tag or group whose text could reach a firewall command in place of an address; null when there is none. */
export const forbiddenGroup = (text: string): string | null => {
  // One by one: in `(?P<F-ID>` the engine sees the tag.
  for (const form of [/<F-([\w-]+)\/?>/gi, /\(\?P?<([\w-]+)>/g])
    for (const [written, name = ''] of text.matchAll(form)) if (fieldGroup.test(name)) return written
  return null
}

/** The groups that say whose failure it is. */
const idGroups = ['fid', 'ip4', 'ip6', 'dns', 'mlfid']
export const namesSomebody = (names: ReadonlySet<string>): boolean => idGroups.some(name => names.has(name))

const tagPattern = /<\/?[\w-]+\/?>/y
const custom = /^<(\/?)F-([A-Z0-9_-]+)>$/
const mapped = new Map([
  ['id', 'fid'],
  ['port', 'fport'],
])
/** Whether the engine puts a pattern of its own in place of this. */
export const isHostTag = (tag: string): boolean => tags.has(tag.slice(1, -1)) || custom.test(tag)
/** What stands where a variable of another file belongs: it has no width and no groups here. */
export const foreign = '\ue000'

interface Flags {
  readonly i: boolean
  readonly m: boolean
  readonly s: boolean
}
const flagsFrom = (before: Flags, on: string, off = ''): Flags => {
  const now = (flag: keyof Flags) => (before[flag] || on.includes(flag)) && !off.includes(flag)
  return { i: now('i'), m: now('m'), s: now('s') }
}

interface Group {
  readonly open: boolean
  readonly least: number
  readonly most: number
  readonly name: string | null
}

export const readRegex = (source: string): Expression => {
  const text = source
  if (text.trim() === '') fail('The expression is empty.')
  if (text.length > most) fail(`The expression is longer than ${most} characters.`)
  let at = 0
  let depth = 0
  const groups: Group[] = [{ open: true, least: 0, most: Infinity, name: null }]
  const names = new Map<string, number>()
  const warnings = new Set<string>()
  let conditional = false
  /** What the flags i, m and s say for the part that is read. */
  let flags: Flags = { i: false, m: false, s: false }
  /** Tags such as <F-USER> that were opened so far: only those can be closed. */
  const opened = new Set<string>()

  const rest = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(text)
  }
  const open = (name: string | null): number => {
    if (name !== null) {
      if (!/^[A-Za-z_]\w*$/.test(name) || tags.has(name)) fail(`"${name.slice(0, 40)}" is no name for a group.`)
      if (names.has(name)) fail(`There are two groups "${name}"; a host tag or a tag such as <F-USER> works once.`)
    }
    groups.push({ open: true, least: 0, most: Infinity, name })
    if (name !== null) names.set(name, groups.length - 1)
    return groups.length - 1
  }
  const close = (index: number, body: Node) => {
    const [least, most] = widthOf(body)
    groups[index] = { open: false, least, most, name: groups[index]?.name ?? null }
  }
  const back = (index: number): Node => {
    const group = groups[index]
    if (index === 0 || !group) return fail(`There is no group ${index} to refer to.`)
    if (group.open) return fail('A group can not be referred to from within itself.')
    return { kind: 'back', number: index, least: group.least, most: group.most, folds: flags.i }
  }
  const named = (name: string): Node => {
    const index = names.get(name)
    return index === undefined ? fail(`There is no group "${name.slice(0, 40)}" to refer to.`) : back(index)
  }

  /** The character or class of an escape; null where it is no single character. */
  const escapeOf = (inClass: boolean): Characters | null => {
    const next = text[at + 1]
    if (next === undefined) return fail('The expression ends within an escape.')
    if (next === foreign) return fail('A variable must not follow a backslash.')
    at += 1
    // The engine puts its pattern in place of a tag whatever stands before it.
    if (next === '<' && isTag()) return fail('A tag must not follow a backslash.')
    at += 1
    const set = classes[next]
    if (set) return { set, script: classScripts[next] ?? '' }
    const control = controlEscapes[next]
    if (control !== undefined) return single(control)
    if (next === 'b' && inClass) return single('\b')
    const hex = { x: 2, u: 4, U: 8 }[next]
    if (hex !== undefined) {
      const digits = text.slice(at, at + hex)
      if (digits.length < hex || !/^[\da-fA-F]+$/.test(digits)) fail(`\\${next} needs ${hex} hexadecimal digits.`)
      const code = parseInt(digits, 16)
      if (code > 0x10ffff) fail(`\\${next}${digits} is no character.`)
      at += hex
      return single(String.fromCodePoint(code))
    }
    if (next === '0' || (inClass && /[1-7]/.test(next))) {
      const digits = /^[0-7]{1,3}/.exec(text.slice(at - 1, at + 2))?.[0] ?? next
      at += digits.length - 1
      if (parseInt(digits, 8) > 0o377) fail(`\\${digits} is no character.`)
      return single(String.fromCharCode(parseInt(digits, 8)))
    }
    if (/[A-Za-z0-9]/.test(next)) return inClass ? fail(`\\${next} means nothing in a class.`) : null
    return single(next)
  }
  const classNode = (): Node => {
    at++
    const negated = text[at] === '^'
    if (negated) at++
    const set = new Uint8Array(everything)
    const add = (more: Set128) => more.forEach((in_, code) => in_ && (set[code] = 1))
    let script = ''
    let first = true
    for (;;) {
      const character = text[at]
      if (character === undefined) fail('A class [...] is not closed.')
      if (character === ']' && !first) break
      first = false
      if (character === foreign) fail('A variable must not stand in a class [...].')
      if (rest(tagPattern) && isTag()) fail('A tag must not stand in a class [...].')
      const [lowSet, low, lowScript] = classItem()
      if (text[at] === '-' && text[at + 1] !== ']' && text[at + 1] !== undefined) {
        at++
        const [, high, highScript] = classItem()
        if (low === null || high === null || high < low) fail('A range in a class [...] is the wrong way round.')
        add(setOf(code => code >= (low ?? 0) && code <= (high ?? 0), (high ?? 0) > 127))
        script += `${lowScript}-${highScript}`
      } else {
        add(lowSet)
        script += lowScript
      }
    }
    at++
    return {
      kind: 'set',
      set: negated ? not(set) : set,
      script: `[${negated ? '^' : ''}${script}]`,
      folds: flags.i,
    }
  }
  /** One member of a class, its code where it is one character, and how JavaScript writes it. */
  const classItem = (): readonly [Set128, number | null, string] => {
    if (text[at] === '\\') {
      const isClass = (text[at + 1] ?? '') in classes
      const from = at
      const { set, script } = escapeOf(true) ?? fail('This escape means nothing in a class.')
      if (isClass) return [set, null, script]
      const code = set.indexOf(1)
      // Beyond ASCII the order is not known here; Python's is that of the code points.
      return [set, code === 128 ? 128 + from : code, script]
    }
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
    at += character.length
    return [one(character), character.codePointAt(0) ?? 0, scriptOf(character)]
  }
  const isTag = (): boolean => {
    const tag = rest(tagPattern)?.[0]
    if (tag === undefined) return false
    if (tags.has(tag.slice(1, -1))) return true
    const match = custom.exec(tag)
    return match !== null && (match[1] === '' || opened.has(match[2] ?? ''))
  }
  const tagNode = (): Node | 'close' | null => {
    const tag = rest(tagPattern)?.[0]
    if (tag === undefined) return null
    const known = tags.get(tag.slice(1, -1))
    if (known) {
      at += tag.length
      const numbers = known.names.map(name => {
        const number = open(name)
        close(number, { kind: 'empty' })
        return number
      })
      const loose = /ADDR|SUBNET|IP4|SKIPLINES/.test(tag)
      return {
        kind: 'tag',
        tag: tag.slice(1, -1),
        numbers,
        set: known.set,
        least: known.least,
        loose,
        folds: flags.i,
      }
    }
    const match = custom.exec(tag)
    if (!match) return null
    const name = match[2] ?? ''
    if (match[1] === '/') return opened.has(name) ? 'close' : null
    opened.add(name)
    at += tag.length
    return inner(mapped.get(name.toLowerCase()) ?? name.toLowerCase())
  }
  /** What stands between here and the closing parenthesis (or closing tag), as a group. */
  const inner = (name: string | null, captures = true): Node => {
    if (++depth > deepest) fail(`Groups lie deeper than ${deepest} in one another.`)
    const index = captures ? open(name) : -1
    const body = alternatives()
    const closing = rest(/<\/F-[A-Z0-9_-]+>/y)?.[0]
    if (text[at] === ')') at++
    else if (closing !== undefined && isTag()) at += closing.length
    else fail('A group "(" is not closed.')
    depth--
    if (captures) close(index, body)
    return { kind: 'group', body, number: captures ? index : null, name }
  }
  /** The same under other flags, which end with the group. */
  const under = <T>(other: Flags, read: () => T): T => {
    const before = flags
    flags = other
    const result = read()
    flags = before
    return result
  }
  const group = (): Node => {
    if (text[at + 1] !== '?') {
      at++
      // The engine makes the flags of `((?i)...)` the group's own.
      const own = rest(/\(\?([a-z]+)\)/y)
      if (own) {
        checkFlags(own[1] ?? '')
        at += own[0].length
        if (++depth > deepest) fail(`Groups lie deeper than ${deepest} in one another.`)
        const body = under(flagsFrom(flags, own[1] ?? ''), alternatives)
        if (text[at] !== ')') fail('A group "(" is not closed.')
        at++
        depth--
        return { kind: 'group', body, number: null, name: null }
      }
      return inner(null)
    }
    const named_ = rest(/\(\?P<([^>]*)>/y)
    if (named_) {
      at += named_[0].length
      return inner(named_[1] ?? '')
    }
    const reference = rest(/\(\?P=([^)]*)\)/y)
    if (reference) {
      at += reference[0].length
      return named(reference[1] ?? '')
    }
    const look = rest(/\(\?(<?)([=!])/y)
    if (look) {
      at += look[0].length
      const node = inner(null, false)
      const behind = look[1] === '<'
      const [least, most] = widthOf(node)
      if (behind && least !== most) fail('What is looked behind for must have one fixed length.')
      return { kind: 'look', behind, not: look[2] === '!', body: node }
    }
    const condition = rest(/\(\?\((\w+)\)/y)
    if (condition) {
      at += condition[0].length
      conditional = true
      const name = condition[1] ?? ''
      if (/^\d+$/.test(name)) {
        const index = Number(name)
        if (index === 0 || index >= groups.length) fail(`There is no group ${name} to depend on.`)
      } else if (!names.has(name)) fail(`There is no group "${name.slice(0, 40)}" to depend on.`)
      warnings.add('It has a condition, (?(group)...): that is hard to foresee, try it on a host.')
      const node = inner(null, false)
      const body = node.kind === 'group' ? node.body : node
      if (body.kind === 'either' && body.branches.length > 2) fail('A condition has two branches at most.')
      return body.kind === 'either' ? node : { kind: 'repeat', body: node, least: 0, most: 1, lazy: false }
    }
    const comment = rest(/\(\?#[^)<]*\)/y)
    if (comment) {
      at += comment[0].length
      return { kind: 'empty' }
    }
    const local = rest(/\(\?([aiLmsux]*)(?:-([imsx]+))?:/y)
    if (local) {
      checkFlags(local[1] ?? '')
      if ((local[2] ?? '').includes('x') || [...(local[2] ?? '')].some(flag => local[1]?.includes(flag)))
        fail('A flag is turned on and off at once.')
      at += local[0].length
      const own = rest(/\(\?([a-z]+)\)/y)
      if (own && local[0] === '(?:') {
        checkFlags(own[1] ?? '')
        at += own[0].length
      }
      const on = `${local[1] ?? ''}${local[0] === '(?:' ? (own?.[1] ?? '') : ''}`
      return under(flagsFrom(flags, on, local[2]), () => inner(null, false))
    }
    return fail(`"${text.slice(at, at + 4)}" begins no group that every version of the engine knows.`)
  }
  const checkFlags = (flags: string) => {
    for (const flag of flags) {
      if (!'imsu'.includes(flag)) fail(`The flag "${flag}" is refused; i, m, s and u may be used.`)
    }
    if (new Set(flags).size !== flags.length) fail('A flag stands twice.')
  }
  const atom = (): Node | 'end' => {
    const character = text[at]
    if (character === undefined || character === '|' || character === ')') return 'end'
    if (character === '<') {
      const tag = tagNode()
      if (tag === 'close') return 'end'
      if (tag !== null) return tag
    }
    switch (character) {
      case '(':
        return group()
      case '[':
        return classNode()
      case '.':
        at++
        return flags.s
          ? { kind: 'set', set: everyCharacter, script: '[^]', folds: flags.i }
          : { kind: 'set', set: any, script: '[^\\n]', folds: flags.i }
      case '^':
        at++
        return { kind: 'at', what: character, script: flags.m ? '(?<![^\\n])' : '^' }
      case '$':
        at++
        // Before a last end of line as well.
        return { kind: 'at', what: character, script: flags.m ? '(?![^\\n])' : '(?![^\\n]|\\n[^])' }
      case foreign:
        at++
        return { kind: 'empty' }
      case '*':
      case '+':
      case '?':
        return fail(`There is nothing that "${character}" could repeat.`)
      case '{': {
        const quantifier = rest(/\{(?:\d+(?:,\d*)?|,\d*)\}/y)
        if (quantifier) return fail(`There is nothing that "${quantifier[0]}" could repeat.`)
        break
      }
      case '\\':
        return escaped()
    }
    const whole = String.fromCodePoint(text.codePointAt(at) ?? 0)
    at += whole.length
    return setNode(single(whole))
  }
  const setNode = ({ set, script }: Characters): Node => ({ kind: 'set', set, script, folds: flags.i })
  const escaped = (): Node => {
    const next = text[at + 1] ?? ''
    if (/[AZbB]/.test(next)) {
      at += 2
      const what = next === 'A' ? '^' : next === 'Z' ? '$' : next
      return { kind: 'at', what, script: atScripts[next] ?? '' }
    }
    if (/[1-9]/.test(next)) {
      const octal = /^[0-3][0-7]{2}/.exec(text.slice(at + 1, at + 4))?.[0]
      if (octal) {
        at += 4
        return setNode(single(String.fromCharCode(parseInt(octal, 8))))
      }
      const digits = /^[1-9]\d?/.exec(text.slice(at + 1, at + 3))?.[0] ?? next
      at += 1 + digits.length
      return back(Number(digits))
    }
    const characters = escapeOf(false)
    return characters ? setNode(characters) : fail(`\\${next} is no escape that Python knows.`)
  }
  const sequence = (): Node => {
    const items: Node[] = []
    for (;;) {
      const from = at
      const node = atom()
      if (node === 'end') break
      items.push(quantified(node, text[from] === '(' && node.kind === 'empty'))
    }
    return items.length === 1 && items[0]
      ? items[0]
      : items.length === 0
        ? { kind: 'empty' }
        : { kind: 'sequence', items }
  }
  const quantified = (node: Node, isComment: boolean): Node => {
    const quantifier = rest(/\*|\+|\?|\{(\d*)(?:(,)(\d*))?\}/y)
    if (!quantifier || quantifier[0] === '{}') return node
    const [all, low, comma, high] = quantifier
    if (all.startsWith('{') && low === '' && comma === undefined) return node
    if (all === '{,}') return repeat(node, 0, Infinity, all, isComment)
    const least = all === '+' ? 1 : all.startsWith('{') ? Number(low || '0') : 0
    const most =
      all === '?' ? 1 : all.startsWith('{') ? (comma === undefined ? least : high ? Number(high) : Infinity) : Infinity
    return repeat(node, least, most, all, isComment)
  }
  const repeat = (node: Node, least: number, most: number, all: string, isComment: boolean): Node => {
    if (isComment) fail('There is nothing to repeat before a quantifier.')
    if (node.kind === 'at' || node.kind === 'empty') fail(`There is nothing that "${all}" could repeat.`)
    if (node.kind === 'tag' && node.loose) fail(`${all} would repeat only the end of that tag; put it into (?:...).`)
    if (least > largestRepeat || (most !== Infinity && most > largestRepeat)) fail(`${all} repeats too often.`)
    if (most < least) fail(`In ${all} the smaller number comes first.`)
    at += all.length
    const lazy = text[at] === '?'
    if (lazy) at++
    else if (text[at] === '+') fail(`${all}+ is known to newer engines only.`)
    if (rest(/\*|\+|\?|\{\d*,?\d*\}/y) && !text.startsWith('{}', at)) fail('Two quantifiers follow one another.')
    return { kind: 'repeat', body: node, least, most, lazy }
  }
  const alternatives = (): Node => {
    const branches = [sequence()]
    while (text[at] === '|') {
      at++
      branches.push(sequence())
    }
    return branches.length === 1 && branches[0] ? branches[0] : { kind: 'either', branches }
  }

  const leading = rest(/\(\?([a-zA-Z]+)\)/y)
  if (leading) {
    checkFlags(leading[1] ?? '')
    at += leading[0].length
    flags = flagsFrom(flags, leading[1] ?? '')
  }
  const folds = flags.i
  const node = alternatives()
  if (at < text.length) fail(text[at] === ')' ? 'A ")" closes nothing.' : 'A closing tag closes nothing.')
  return {
    node,
    folds,
    conditional,
    names: new Set(names.keys()),
    warnings: [...warnings],
    slow: slowPart(node, text.length),
  }
}

const widths = new WeakMap<Node, readonly [number, number]>()
/** The fewest and the most characters that it matches. */
const widthOf = (node: Node): readonly [number, number] => {
  const known = widths.get(node)
  if (known) return known
  const width = measure(node)
  widths.set(node, width)
  return width
}
const measure = (node: Node): readonly [number, number] => {
  switch (node.kind) {
    case 'empty':
    case 'at':
    case 'look':
      return [0, 0]
    case 'set':
      return [1, 1]
    case 'tag':
      return [node.least, Infinity]
    case 'back':
      return [node.least, node.most]
    case 'group':
      return widthOf(node.body)
    case 'sequence':
      return node.items.reduce<readonly [number, number]>(
        ([least, most], item) => {
          const [itemLeast, itemMost] = widthOf(item)
          return [least + itemLeast, most + itemMost]
        },
        [0, 0],
      )
    case 'either': {
      const all = node.branches.map(widthOf)
      return [
        all.reduce((least, [each]) => Math.min(least, each), Infinity),
        all.reduce((most, [, each]) => Math.max(most, each), 0),
      ]
    }
    case 'repeat': {
      const [least, most] = widthOf(node.body)
      return [least * node.least, most === 0 ? 0 : most * node.most]
    }
  }
}

const bodyOf = (node: Node): Node => (node.kind === 'group' ? bodyOf(node.body) : node)
const overlap = (a: Set128, b: Set128) => a.some((in_, code) => in_ === 1 && b[code] === 1)
const sets = new WeakMap<Node, { readonly set: Set128 | null }>()
/** The characters that it consists of, where it is one character or any of several. */
const setOfNode = (node: Node): Set128 | null => {
  const known = sets.get(node)
  if (known) return known.set
  const set = findSet(node)
  sets.set(node, { set })
  return set
}
const findSet = (node: Node): Set128 | null => {
  const body = bodyOf(node)
  if (body.kind === 'set') return body.set
  if (body.kind !== 'either') return null
  const union = new Uint8Array(everything)
  for (const branch of body.branches) {
    const set = setOfNode(branch)
    if (set === null) return null
    set.forEach((in_, code) => in_ && (union[code] = 1))
  }
  return union
}
const unbounded = (node: Node) => node.kind === 'repeat' && node.most > 100

/** What is slow about it, in words: polynomial parts by their form, exponential ones by their automaton. */
const slowPart = (root: Node, length: number): string | null =>
  slowForm(root) ?? (isAmbiguous(root, length) ? severalWays : null)
const severalWays =
  'A repetition can take the same text in several ways, as in (a|a)*: a line made for it can keep the engine busy for hours. Hosts refuse it.'
const slowForm = (root: Node): string | null => {
  const work: Node[] = [root]
  for (let node = work.pop(); node; node = work.pop()) {
    if (node.kind === 'group' || node.kind === 'look') work.push(node.body)
    if (node.kind === 'either') work.push(...node.branches)
    if (node.kind === 'repeat') {
      work.push(node.body)
      if (node.most === Infinity && endless(node.body))
        return 'A repetition without end lies within another one, as in (a+)+: a line made for it can keep the engine busy for hours. Hosts refuse it.'
    }
    if (node.kind !== 'sequence') continue
    work.push(...node.items)
    let run = 0
    let last: Set128 | null = null
    for (const item of node.items) {
      const set = item.kind === 'repeat' && unbounded(item) ? setOfNode(item.body) : null
      if (set === null) {
        if (widthOf(item)[0] > 0) {
          run = 0
          last = null
        }
        continue
      }
      run = last && overlap(last, set) ? run + 1 : 1
      last = set
      if (run >= 3)
        return 'Several repetitions of the same characters follow one another, as in .*.*.*: long lines take very long. Hosts refuse it.'
    }
  }
  return null
}
const ends = new WeakMap<Node, boolean>()
/** Whether a repetition without end lies somewhere within. */
const endless = (node: Node): boolean => {
  const known = ends.get(node)
  if (known !== undefined) return known
  const found =
    node.kind === 'repeat'
      ? node.most === Infinity || endless(node.body)
      : node.kind === 'sequence'
        ? node.items.some(endless)
        : node.kind === 'either'
          ? node.branches.some(endless)
          : (node.kind === 'group' || node.kind === 'look') && endless(node.body)
  ends.set(node, found)
  return found
}
/** Whether it can match only at the beginning of a line: else text that an attacker writes into a log can match. */
export const anchored = (node: Node): boolean => {
  const body = bodyOf(node)
  switch (body.kind) {
    case 'at':
      return body.what === '^'
    case 'either':
      return body.branches.every(anchored)
    case 'sequence': {
      for (const item of body.items) {
        if (anchored(item)) return true
        if (bodyOf(item).kind !== 'empty' && widthOf(item)[1] > 0) return false
        if (bodyOf(item).kind === 'look') continue
      }
      return false
    }
    case 'repeat':
      return body.least > 0 && anchored(body.body)
    default:
      return false
  }
}
