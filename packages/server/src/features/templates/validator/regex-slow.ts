import { isAmbiguous } from './ambiguity.ts'
import { everything } from './regex-sets.ts'
import type { Node, Set128 } from './regex-tree.ts'
import { bodyOf, widthOf } from './regex-width.ts'

/* What makes an expression take very long on a line made for it. */

const overlap = (a: Set128, b: Set128) => a.some((in_, code) => in_ === 1 && b[code] === 1)
const sets = new WeakMap<Node, { readonly set: Set128 | null }>()
/** The characters that it consists of, where it is one character or any of several. */
const setOfNode = (node: Node): Set128 | null => {
  const knownSets = sets.get(node)
  if (knownSets) return knownSets.set
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
export const slowPart = (root: Node, length: number): string | null =>
  slowForm(root) ?? (isAmbiguous(root, length) ? severalWays : null)
const severalWays =
  'A repetition can take the same text in several ways, as in (a+)+ or (a|a)*: a line made for it can keep the engine busy for hours. Servers refuse it.'
/** Whether three endless repetitions of the same characters follow one another. */
const repeatsInARow = (items: readonly Node[]): boolean => {
  let run = 0
  let last: Set128 | null = null
  for (const item of items) {
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
    if (run >= 3) return true
  }
  return false
}
const slowForm = (root: Node): string | null => {
  const work: Node[] = [root]
  for (let node = work.pop(); node; node = work.pop()) {
    if (node.kind === 'group' || node.kind === 'look') work.push(node.body)
    if (node.kind === 'either') work.push(...node.branches)
    if (node.kind === 'repeat') work.push(node.body)
    if (node.kind !== 'sequence') continue
    work.push(...node.items)
    if (repeatsInARow(node.items))
      return 'Several repetitions of the same characters follow one another, as in .*.*.*: long lines take very long. Servers refuse it.'
  }
  return null
}
