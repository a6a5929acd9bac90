import { bounds } from '@stockade/contract/limits.ts'
import { contentOf } from './content.ts'
import { Misuse } from './failure.ts'
import { safe } from './safe.ts'

/** So many at once, and so many faults are named. */
const most = 10_000
const mostFaults = 5

interface Given {
  readonly name: string
  /** Where somebody finds it: `hosts.txt, line 3`. */
  readonly at: string
}

/** A line holds a name, perhaps a comment after it; blank lines and those of a comment alone count for nothing. */
const linesOf = (file: string, text: string): Given[] =>
  text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line, index) => ({
      name: line.replace(/(^|\s)#.*/, '').trim(),
      at: `${file === '-' ? 'Standard input' : file}, line ${index + 1}`,
    }))
    .filter(({ name }) => name !== '')

/** What is wrong with a name of a host to be; null when nothing is. A hyphen in front would be an option to ssh. */
const faultOf = (name: string): string | null => {
  if (name === '') return 'the name is empty'
  if ([...name].length > bounds.hostname) return `the name is longer than ${bounds.hostname} characters`
  if (/\s/.test(name)) return `"${name}" has a space in it`
  if (safe(name) !== name) return `"${name}" holds a character that can't be seen`
  return name.startsWith('-') ? `"${name}" begins with a hyphen` : null
}

/**
 * The names that were typed and those of a file, in that order.
 * @throws Misuse that names the place, before anything is done, when one of them is no name or occurs twice.
 */
export const hostnamesOf = async (typed: readonly string[], file: string | undefined): Promise<string[]> => {
  const candidates = [
    ...typed.map((name, index) => ({ name, at: `Name ${index + 1}` })),
    ...(file === undefined ? [] : linesOf(file, await contentOf(file))),
  ]
  if (candidates.length === 0)
    throw new Misuse(
      file === undefined ? 'Say which: NAME..., or --from FILE.' : 'There is no name in it: one a line is wanted.',
    )
  if (candidates.length > most) throw new Misuse(`These are ${candidates.length} names; ${most} at once are the most.`)
  const first = new Map<string, string>()
  const faults = candidates.flatMap(({ name, at }) => {
    const before = first.get(name.toLowerCase())
    if (before === undefined) first.set(name.toLowerCase(), at)
    const fault = faultOf(name) ?? (before === undefined ? null : `"${name}" stands in ${before} already`)
    return fault === null ? [] : [`${at}: ${fault}.`]
  })
  if (faults.length > 0) {
    const more = faults.length - mostFaults
    throw new Misuse(
      `${faults.slice(0, mostFaults).join(' ')}${more > 0 ? ` And ${more} more.` : ''} Nothing was done.`,
    )
  }
  return candidates.map(({ name }) => name)
}
