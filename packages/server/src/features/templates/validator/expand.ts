import { dangerous, jailChecks } from './options.ts'
import { foreign, isHostTag } from './regex-tags.ts'
import { shortened } from './report.ts'
import type { Reader } from './report.ts'

/* Variables of a filter, filled in as the engine does. */

/** Characters of all expressions of a template, variables filled in: far beyond the engine's own largest filter. */
export const mostExpanded = 256 * 1024
const longestValue = 64 * 1024

export type Variables = ReadonlyMap<string, string>

/** The one variable of the engine's own filters that may be used: how a line of a system log begins. */
const prefixLine = '__prefix_line'
/** What that one is made of: it would be filled in with itself. */
export const ofPrefix = /^(?:__|_daemon$)/
export const isVariable = (name: string) => /^_[a-z0-9_]{0,63}$/.test(name)

export interface Names {
  readonly variables: Variables
  /** Options of the filter: as <tags> they would be filled in. */
  readonly taken: ReadonlySet<string>
  readonly included: boolean
  /** Replacement of an included `%(__prefix_line)s`; a marker if it is unknown. */
  readonly prefixLine?: string
}

/** What stops an expansion; the message says why. */
export class Expansion extends Error {}

/** Options of a jail: the engine fills them in where they stand as <tags> in a filter. */
const engineOptions: ReadonlySet<string> = new Set([
  ...jailChecks.keys(),
  ...dangerous.keys(),
  ...'filter failregex ignoreregex prefregex datepattern ignoreself ignorecache maxmatches logtype __name__'.split(' '),
  ...'bantime.multipliers bantime.overalljails fail2ban_version fail2ban_confpath'.split(' '),
])
const unknownVariable = (name: string, included: boolean): string => {
  if (name !== prefixLine)
    return `%(${shortened(name)})s is refused: only the filter's own variables, whose names begin with "_", may be filled in.`
  return included
    ? '%(__prefix_line)s is made of this variable, and can not stand in it.'
    : '%(__prefix_line)s comes with [INCLUDES] before = common.conf, which is not there.'
}
/** Fills in `%(_x)s` and `%%`, then `<_x>`, as the engine does. What an included file defines becomes a mark. */
export const expand = (text: string, names: Names, reader: Reader, prefixes = true): string => {
  const spend = (length: number) => {
    reader.budget.left -= length
    if (length > longestValue || reader.budget.left < 0)
      throw new Expansion('With its variables filled in it is too long.')
  }
  const fill = (value: string, depth: number): string => {
    if (depth > 9) throw new Expansion('Variables refer to one another more than ten deep, or in a circle.')
    let out = ''
    let at = 0
    for (;;) {
      const percent = value.indexOf('%', at)
      if (percent < 0) break
      out += value.slice(at, percent)
      const reference = /%(?:%|\(([^)]*)\)s)/y
      reference.lastIndex = percent
      const match = reference.exec(value)
      if (!match) throw new Expansion('A "%" must be doubled, "%%", or begin a variable such as %(_name)s.')
      at = percent + match[0].length
      if (match[0] === '%%') out += '%'
      else {
        const name = (match[1] ?? '').toLowerCase()
        const own = names.variables.get(name)
        if (own !== undefined) out += fill(own, depth + 1)
        else if (names.included && prefixes && name === prefixLine) out += names.prefixLine ?? foreign
        else throw new Expansion(unknownVariable(name, names.included))
      }
      if (out.length > longestValue) spend(out.length)
    }
    out += value.slice(at)
    spend(out.length)
    return out
  }
  let filled = fill(text, 0)
  for (let times = 0; ; times++) {
    let changed = false
    filled = filled.replace(/<([^ <>]+)>/g, (tag, spelled: string) => {
      const name = spelled.toLowerCase()
      const own = names.variables.get(name)
      if (own !== undefined) {
        changed = true
        return fill(own, 1)
      }
      // As `section/option` the engine reaches into other parts of its configuration.
      const reaching = /^[\w-]+\/[^\s>]/.test(name)
      const unsure = names.included && /^[a-z_][\w.-]*$/.test(name) && !isHostTag(tag)
      if (reaching || unsure || names.taken.has(name) || engineOptions.has(name))
        throw new Expansion(
          `<${shortened(spelled)}> could be filled in with an option of that name; write [<]${shortened(spelled)}> for the text itself.`,
        )
      return tag
    })
    spend(filled.length)
    if (!changed) return filled
    if (times > 9) throw new Expansion('Variables refer to one another more than ten deep, or in a circle.')
  }
}
