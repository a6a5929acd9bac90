import { everyCharacter } from './regex-sets.ts'
import type { Node } from './regex-tree.ts'

/*
 * The engine tries one way after the other. Where a loop can take the same text in two ways, each turn doubles the number
 * of ways, and one line made for it keeps the engine busy for hours. The automaton has a state for each character of an
 * expression; two different paths from a state back to itself over the same text are such a loop.
 */

/** How many ways there are from here, by state; more than two count as two. */
type Ways = ReadonlyMap<number, number>
interface Part {
  readonly first: Ways
  readonly last: Ways
  /** Ways to take no character. */
  readonly empty: number
}

/** A part repeated more often than this counts as a loop. */
const loop = 10
const mostStates = 3000
const mostInLoop = 400

class TooComplex extends Error {}

const two = (ways: number) => Math.min(2, ways)
const add = (all: Map<number, number>, more: Ways) => {
  for (const [state, ways] of more) all.set(state, two(ways + (all.get(state) ?? 0)))
  return all
}
const sum = (one: Ways, other: Ways): Ways => (other.size === 0 ? one : add(new Map(one), other))
const times = (ways: Ways, factor: number): Ways =>
  factor === 1
    ? ways
    : factor === 0
      ? new Map()
      : new Map([...ways].map(([state, each]) => [state, two(each * factor)]))
const nothing: Part = { first: new Map(), last: new Map(), empty: 1 }

/** The same with the other case of each letter. */
const folded = (set: Uint8Array): Uint8Array =>
  set.map((in_, code) => {
    const letter = String.fromCharCode(code)
    const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
    return in_ || (code < 128 && set[other.charCodeAt(0)]) ? 1 : 0
  })

/** Whether a loop of the expression can take the same text in two ways, or too much stands in it to tell. */
export const isAmbiguous = (root: Node, length: number): boolean => {
  const sets: Uint8Array[] = []
  const follow: Map<number, number>[] = []
  let left = 10_000 + 100 * length
  const spend = (steps: number) => {
    left -= steps
    if (left < 0) throw new TooComplex()
  }
  const join = (lasts: Ways, firsts: Ways) => {
    spend(lasts.size * firsts.size)
    for (const [from, ways] of lasts)
      for (const [to, more] of firsts) {
        const next = follow[from]
        next?.set(to, two((next.get(to) ?? 0) + ways * more))
      }
  }
  const state = (set: Uint8Array, loops: boolean): Part => {
    if (sets.length >= mostStates) throw new TooComplex()
    const ways = new Map([[sets.push(set) - 1, 1]])
    follow.push(new Map(loops ? ways : []))
    return { first: ways, last: ways, empty: 0 }
  }
  const sequence = (parts: Iterable<Part>): Part => {
    let { first, last, empty } = nothing
    for (const part of parts) {
      join(last, part.first)
      first = sum(first, times(part.first, empty))
      last = sum(times(last, part.empty), part.last)
      empty = two(empty * part.empty)
      spend(first.size + last.size)
    }
    return { first, last, empty }
  }
  const repeat = (body: Node, least: number, most: number): Part => {
    if (most === 0) return nothing
    if (most > loop) {
      const { first, last, empty } = partOf(body)
      join(last, first)
      return { first, last, empty: empty > 0 || least === 0 ? 1 : 0 }
    }
    let [first, last, reached]: [Ways, Ways, Ways] = [new Map(), new Map(), new Map()]
    let [ways, empty] = [1, least === 0 ? 1 : 0]
    for (let turn = 1; turn <= most; turn++) {
      const part = partOf(body)
      join(reached, part.first)
      first = sum(first, times(part.first, ways))
      reached = sum(times(reached, part.empty), part.last)
      ways = two(ways * part.empty)
      if (turn < least) continue
      last = sum(last, reached)
      empty = two(empty + ways)
    }
    return { first, last, empty }
  }
  const partOf = (node: Node): Part => {
    switch (node.kind) {
      case 'empty':
      case 'at':
        return nothing
      case 'look':
        // Of no width, but what is in it is tried too.
        partOf(node.body)
        return nothing
      case 'set':
        return state(node.folds ? folded(node.set) : node.set, false)
      case 'tag':
        return state(node.set, true)
      case 'back':
        return state(everyCharacter, false)
      case 'group':
        return partOf(node.body)
      case 'sequence':
        return sequence(
          (function* () {
            for (const item of node.items) yield partOf(item)
          })(),
        )
      case 'either': {
        const [first, last] = [new Map<number, number>(), new Map<number, number>()]
        let empty = 0
        for (const branch of node.branches) {
          const part = partOf(branch)
          add(first, part.first)
          add(last, part.last)
          empty = two(empty + part.empty)
        }
        return { first, last, empty }
      }
      case 'repeat':
        return repeat(node.body, node.least, node.most)
    }
  }
  const overlaps = new Map<number, boolean>()
  const overlap = (a: number, b: number): boolean => {
    const key = a * mostStates + b
    let knownOverlap = overlaps.get(key)
    if (knownOverlap === undefined) {
      knownOverlap = sets[a]?.some((in_, code) => in_ === 1 && sets[b]?.[code] === 1) === true
      overlaps.set(key, knownOverlap)
    }
    return knownOverlap
  }
  /** Whether two paths over the same text begin in one state of the loop, part, and end in it again. */
  // oxlint-disable-next-line complexity -- one algorithm over pairs of states, forwards and backwards
  const doubles = (states: ReadonlySet<number>): boolean => {
    for (const from of states) for (const [to, ways] of follow[from] ?? []) if (ways > 1 && states.has(to)) return true
    if (states.size > mostInLoop) throw new TooComplex()
    const start = [...states].map(each => each * mostStates + each)
    const reached = new Set(start)
    const before = new Map<number, number[]>()
    for (const work = [...start]; work.length > 0;) {
      const pair = work.pop() ?? 0
      const [a, b] = [Math.floor(pair / mostStates), pair % mostStates]
      for (const x of follow[a]?.keys() ?? [])
        for (const y of follow[b]?.keys() ?? []) {
          spend(1)
          if (!states.has(x) || !states.has(y) || !overlap(x, y)) continue
          const next = x * mostStates + y
          const knownStep = before.get(next)
          if (knownStep) knownStep.push(pair)
          else before.set(next, [pair])
          if (!reached.has(next)) {
            reached.add(next)
            work.push(next)
          }
        }
    }
    const visitedStates = new Set(start)
    for (const work = [...start]; work.length > 0;)
      for (const pair of before.get(work.pop() ?? 0) ?? []) {
        if (Math.floor(pair / mostStates) !== pair % mostStates && reached.has(pair)) return true
        if (!visitedStates.has(pair)) {
          visitedStates.add(pair)
          work.push(pair)
        }
      }
    return false
  }
  try {
    partOf(root)
    return loopsOf(follow).some(doubles)
  } catch (error) {
    if (error instanceof TooComplex) return true
    throw error
  }
}

/** The sets of states that reach one another (Tarjan's way, without recursion). */
const loopsOf = (follow: readonly ReadonlyMap<number, number>[]): ReadonlySet<number>[] => {
  const index: number[] = []
  const low: number[] = []
  const stack: number[] = []
  const on = new Set<number>()
  const components: Set<number>[] = []
  let count = 0
  const enter = (state: number) => {
    index[state] = low[state] = count++
    stack.push(state)
    on.add(state)
    return { state, rest: (follow[state] ?? new Map<number, number>()).keys() }
  }
  const leave = (state: number) => {
    if (low[state] !== index[state]) return
    const loop = new Set<number>()
    while (!loop.has(state)) {
      const each = stack.pop() ?? state
      on.delete(each)
      loop.add(each)
    }
    if (loop.size > 1 || follow[state]?.has(state) === true) components.push(loop)
  }
  for (let root = 0; root < follow.length; root++) {
    const work = index[root] === undefined ? [enter(root)] : []
    for (let frame = work.at(-1); frame; frame = work.at(-1)) {
      const { state, rest } = frame
      const next = rest.next()
      if (next.done) {
        work.pop()
        leave(state)
        const parent = work.at(-1)?.state
        if (parent !== undefined) low[parent] = Math.min(low[parent] ?? 0, low[state] ?? 0)
      } else if (index[next.value] === undefined) work.push(enter(next.value))
      else if (on.has(next.value)) low[state] = Math.min(low[state] ?? 0, index[next.value] ?? 0)
    }
  }
  return components
}
