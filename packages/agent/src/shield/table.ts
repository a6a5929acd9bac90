import { fallbackText } from './fallback.ts'
import { bitsOf, setName, sizeOf, toEntry, widen } from './entry.ts'
import type { Entry } from './entry.ts'
import type { Damage, FoundBan, Kernel, Placed } from './kernel.ts'
import { contentOf, elementsOf, holdsList, shapesOf, swapLists } from './list-table.ts'
import type { HeldList } from './list-store.ts'
import { addLengths, noLengths, singleLengths, usualLengths } from './rules.ts'
import type { Lengths, ListShape, Mode, Shape } from './rules.ts'

/** What the kernel should hold now: bans with the time that each has left. */
export interface Wanted {
  readonly entry: string
  /** Milliseconds; null: without an end. */
  readonly timeout: number | null
  /** Every packet is dropped, and not only those that open connections. */
  readonly isCut?: boolean
}

/** The shield's table as the agent wants it, and the kernel's image of it. Calls are made one at a time. */
export interface ShieldTable {
  /** Replaces everything in the kernel. */
  load(): Promise<void>
  change(added: readonly Wanted[], removed: readonly string[]): Promise<void>
  /** Brings the addresses that are never dropped up to date. */
  keep(): Promise<void>
  setMode(mode: Mode): Promise<void>
  mode(): Mode
  /** The narrowest ban in the kernel that covers all of the entry; null if there is none. */
  find(entry: string): Promise<FoundBan | null>
  isKept(entry: string): Promise<boolean>
  /** The elements of all ban sets: set and key as one text, with the milliseconds that each has left. */
  elements(): Promise<ReadonlyMap<string, number | null>>
  /** Adds the bans that somebody deleted from the sets. Answers how many these were. */
  addMissing(): Promise<number>
  damage(): Promise<Damage | null>
  /** Brings the blocklists in the table up to date. */
  takeLists(): Promise<void>
  /** Whether the kernel holds exactly the entries of a list, and does with them what the list says. */
  holdsList(list: HeldList): Promise<boolean>
  /** A script for nft that makes the table without the agent, with ends by the clock `now`. */
  script(now: number): string
}

export const createTable = (needs: {
  kernel: Kernel
  wanted: () => readonly Wanted[]
  /** The addresses and ranges that are never dropped. */
  kept: () => readonly string[]
  mode: Mode
  /** The blocklists of this host. */
  lists?: () => readonly HeldList[]
}): ShieldTable => {
  const { kernel } = needs
  const wantedLists = needs.lists ?? (() => [])
  /** Texts only: a whitelist may have 100,000 entries. */
  let keptNames: ReadonlySet<string> = new Set()
  let shape: Shape = { mode: needs.mode, bans: usualLengths, kept: singleLengths, cut: noLengths }

  /** Lists that were read back, to which nobody else did anything since: 100,000 entries take 0.1 s of the event loop. */
  const proofs = new Map<number, { readonly foreign: number; readonly shape: ListShape }>()

  /** Adds what the entries need. Sets that are no longer in use stay until the next load. */
  const fitShape = async (bans: Iterable<Entry>, keptEntries: Iterable<Entry>, cut: Iterable<Entry>): Promise<void> => {
    const next = {
      ...shape,
      bans: addLengths(shape.bans, bans),
      kept: addLengths(shape.kept, keptEntries),
      cut: addLengths(shape.cut, cut),
    }
    if (JSON.stringify(next) === JSON.stringify(shape)) return
    await kernel.reshape(next)
    shape = next
  }

  const find = async (kind: 'ban' | 'keep', lengths: Lengths, text: string): Promise<FoundBan | null> => {
    const entry = toEntry(text)
    for (const length of lengths[entry.family]) {
      const key = widen(entry, length)
      const element = key === null ? null : await kernel.find(setName(kind, entry.family, length), key)
      if (element !== null) return element
    }
    return null
  }

  const elements = async (): Promise<ReadonlyMap<string, number | null>> => {
    const present = new Map<string, number | null>()
    for (const family of [4, 6] as const)
      for (const length of shape.bans[family]) {
        const set = setName('ban', family, length)
        for (const [key, expires] of await kernel.elements(set)) present.set(`${set} ${key}`, expires)
      }
    return present
  }

  return {
    elements,
    async load() {
      const bans = needs.wanted()
      const nextKept = new Set(needs.kept())
      const next = {
        ...shape,
        bans: addLengths(
          usualLengths,
          lazily(bans, ({ entry }) => sizeOf(entry)),
        ),
        kept: addLengths(singleLengths, lazily(nextKept, sizeOf)),
        cut: addLengths(
          noLengths,
          cutOf(bans).map(({ entry }) => entry),
        ),
        lists: shapesOf(wantedLists(), []),
      }
      const lists = next.lists.map(list => {
        const desiredList = wantedLists().find(({ id }) => id === list.id)
        return desiredList ? elementsOf(list, desiredList) : []
      })
      const placed = [lazily(bans, placedBan), cutOf(bans), lazily(nextKept, placedKept), ...lists]
      const refusal = await kernel.replace(next, joined(...placed)).catch((error: unknown) => error)
      shape = next
      if (refusal !== undefined) {
        if (next.lists.length === 0) throw refusal
        // Lists are given up before bans.
        shape = { ...next, lists: [] }
        await kernel.replace(shape, joined(...placed.slice(0, 3)))
      }
      keptNames = nextKept
    },
    async change(added, removed) {
      const bans = added.map(placedBan)
      const cut = cutOf(added)
      await fitShape(
        bans.map(({ entry }) => entry),
        [],
        cut.map(({ entry }) => entry),
      )
      const gone = removed
        .map(entry => placedBan({ entry, timeout: null }))
        .filter(({ entry }) => shape.bans[entry.family].includes(entry.length))
      const spared = [...gone, ...bans.filter((_, i) => added[i]?.isCut !== true)]
        .filter(({ entry }) => shape.cut[entry.family].includes(entry.length))
        .map(({ entry }) => placedCut(entry, null))
      await kernel.change([...bans, ...cut], [...gone, ...spared])
    },
    async keep() {
      const next = new Set(needs.kept())
      const added = [...next].filter(text => !keptNames.has(text))
      const removed = [...keptNames].filter(text => !next.has(text))
      if (added.length + removed.length === 0) return
      await fitShape([], lazily(added, toEntry), [])
      for (const some of portions(added)) await kernel.change(some.map(placedKept), [])
      for (const some of portions(removed)) await kernel.change([], some.map(placedKept))
      keptNames = next
    },
    async setMode(mode) {
      if (mode === shape.mode) return
      await kernel.reshape({ ...shape, mode })
      shape = { ...shape, mode }
    },
    mode: () => shape.mode,
    async takeLists() {
      shape = await swapLists(kernel, shape, wantedLists())
    },
    async holdsList(list) {
      const listShape = shape.lists?.find(({ id }) => id === list.id)
      if (listShape?.content !== contentOf(list) || listShape.mode !== list.mode) return false
      // Read before the elements, so that a change meanwhile is seen by the next look.
      const foreign = kernel.foreign()
      const proof = proofs.get(list.id)
      if (foreign !== null && proof?.foreign === foreign && proof.shape === listShape) return true
      const isHeld = await holdsList(kernel, listShape, list)
      if (isHeld && foreign !== null) proofs.set(list.id, { foreign, shape: listShape })
      else proofs.delete(list.id)
      return isHeld
    },
    find: entry => find('ban', shape.bans, entry),
    isKept: async entry => (await find('keep', shape.kept, entry)) !== null,
    async addMissing() {
      const present = await elements()
      const missing = needs
        .wanted()
        .filter(({ timeout }) => timeout === null || timeout > endBlur)
        .map(placedBan)
        .filter(({ set, entry }) => !present.has(`${set} ${entry.key.toString('hex')}`))
      if (missing.length > 0) await kernel.change(missing, [])
      return missing.length
    },
    damage: kernel.damage,
    script: now =>
      fallbackText(shape, {
        bans: [...needs.wanted().map(placedBan), ...cutOf(needs.wanted())],
        kept: lazily(keptNames, placedKept),
        now,
      }),
  }
}

const placedBan = ({ entry: text, timeout }: Wanted): Placed => {
  const entry = toEntry(text)
  return { set: setName('ban', entry.family, entry.length), entry, timeout }
}

const placedCut = (entry: Entry, timeout: number | null): Placed => ({
  set: setName('cut', entry.family, entry.length),
  entry,
  timeout,
})

/** The second elements of the bans that cut open connections. */
const cutOf = (bans: readonly Wanted[]): Placed[] =>
  bans.flatMap(({ entry, timeout, isCut }) => (isCut === true ? [placedCut(toEntry(entry), timeout)] : []))

const placedKept = (text: string): Placed => {
  const entry = toEntry(text)
  return { set: setName('keep', entry.family, entry.length), entry, timeout: null }
}

/** The elements are made one at a time, so that a long list does not fill the memory. */
const lazily = <T, U>(items: Iterable<T>, make: (item: T) => U): Iterable<U> => ({
  *[Symbol.iterator]() {
    for (const item of items) yield make(item)
  },
})

const joined = <T>(...parts: readonly Iterable<T>[]): Iterable<T> => ({
  *[Symbol.iterator]() {
    for (const part of parts) yield* part
  },
})

/** A transaction of this many elements takes the event loop about 20 ms. */
const portionSize = 5000

const portions = (texts: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(texts.length / portionSize) }, (_, i) =>
    texts.slice(i * portionSize, (i + 1) * portionSize),
  )

/** The place of an entry among the elements. */
export const placeOf = (text: string): string => {
  const { set, entry } = placedBan({ entry: text, timeout: null })
  return `${set} ${entry.key.toString('hex')}`
}

/** The kernel may end an element this much before the agent counts its end. */
const endBlur = 2000

/** Whether the first entry covers all of the second. */
export const coversEntry = (wide: string, narrow: string): boolean => {
  const outer = toEntry(wide)
  const inner = toEntry(narrow)
  return (
    outer.family === inner.family &&
    widen(inner, Math.min(outer.length, bitsOf(outer.family)))?.equals(outer.key) === true
  )
}
