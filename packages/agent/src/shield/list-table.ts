import { setName } from './entry.ts'
import type { Entry } from './entry.ts'
import type { Kernel, Placed } from './kernel.ts'
import { areSameKeys, countOf, keyBytes } from './listed.ts'
import type { ListedSet } from './listed.ts'
import type { HeldList } from './list-store.ts'
import { listChain, listsChain } from './rules.ts'
import type { ListShape, Shape } from './rules.ts'

/* The sets of blocklists in the shield's table. */

/** Elements of one transaction while a new version is loaded beside the old one: about 15 ms, and 2 MB of objects. */
const portion = 5000

const nameOfSet = ({ id, generation }: ListShape, { family, length }: Omit<ListedSet, 'keys'>): string =>
  setName(`l${id}${generation}_`, family, length)

/** Says which content a list has in the table: what is left out of a version can change. */
export const contentOf = ({ version, approved, leftOut }: Pick<HeldList, 'version' | 'approved' | 'leftOut'>): string =>
  [version, leftOut ?? '', ...approved].join(' ')

/** The shapes for these lists. A list whose content differs gets the other generation of sets. */
export const shapesOf = (lists: readonly HeldList[], before: readonly ListShape[]): ListShape[] =>
  // Those that only count come first, so that they see what later ones drop.
  [...lists]
    .sort((a, b) => Number(a.mode === 'enforce') - Number(b.mode === 'enforce') || a.id - b.id)
    .map(({ id, mode, sets, ...list }) => {
      const old = before.find(list => list.id === id)
      const content = contentOf(list)
      const isSame = old?.content === content
      return {
        id,
        content,
        mode,
        generation: isSame ? old.generation : old?.generation === 'a' ? 'b' : 'a',
        sets: sets.map(set => ({ family: set.family, length: set.length, size: Math.max(16, countOf(set)) })),
      }
    })

/** The elements of a list, made one at a time. */
export const elementsOf = (shape: ListShape, list: HeldList): Iterable<Placed> => ({
  *[Symbol.iterator]() {
    for (const set of list.sets) {
      const name = nameOfSet(shape, set)
      const bytes = keyBytes(set.family)
      for (let at = 0; at < set.keys.length; at += bytes) {
        const key = set.keys.subarray(at, at + bytes)
        const entry: Entry = { text: '', family: set.family, length: set.length, key }
        yield { set: name, entry, timeout: null }
      }
    }
  },
})

/**
 * Brings lists into the table: new versions are loaded into sets that no rule uses, and one transaction then swaps the
 * rules and deletes the old sets. So there is no moment without the old or the new version. Answers the new shape.
 */
export const swapLists = async (kernel: Kernel, shape: Shape, lists: readonly HeldList[]): Promise<Shape> => {
  const next = { ...shape, lists: shapesOf(lists, shape.lists ?? []) }
  const present = new Set((shape.lists ?? []).flatMap(namesOf))
  const fresh = next.lists.filter(list => namesOf(list).some(name => !present.has(name)))
  if (fresh.length > 0) await kernel.addListSets(fresh)
  for (const list of fresh) {
    const heldList = lists.find(({ id }) => id === list.id)
    if (heldList) for (const some of portionsOf(elementsOf(list, heldList))) await kernel.fill(some)
  }
  const used = new Set(next.lists.flatMap(namesOf))
  const ids = new Set(next.lists.map(({ id }) => id))
  await kernel.reshape(next, {
    sets: [...present].filter(name => !used.has(name)),
    chains: [
      ...(next.lists.length === 0 && present.size > 0 ? [listsChain] : []),
      ...(shape.lists ?? []).filter(({ id }) => !ids.has(id)).map(({ id }) => listChain(id)),
    ],
  })
  return next
}
const namesOf = (list: ListShape): string[] => list.sets.map(set => nameOfSet(list, set))

const portionsOf = (elements: Iterable<Placed>): Iterable<Placed[]> => ({
  *[Symbol.iterator]() {
    let some: Placed[] = []
    for (const element of elements) {
      some.push(element)
      if (some.length < portion) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  },
})

/** Whether the kernel holds exactly the entries of a list. */
export const holdsList = async (kernel: Pick<Kernel, 'keys'>, shape: ListShape, list: HeldList): Promise<boolean> => {
  for (const set of list.sets)
    if (!areSameKeys(set.family, await kernel.keys(nameOfSet(shape, set)), set.keys)) return false
  return true
}
