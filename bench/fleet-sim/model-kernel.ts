import { bitsOf } from '../../packages/agent/src/shield/entry.ts'
import { KernelRefused } from '../../packages/agent/src/shield/kernel.ts'
import type { Kernel, Placed } from '../../packages/agent/src/shield/kernel.ts'
import { listSetsOf, setsOf } from '../../packages/agent/src/shield/rules.ts'
import type { ListShape, Shape } from '../../packages/agent/src/shield/rules.ts'

/** A host's nftables as sets in memory. It outlives the agent; a restart of the host empties it. */
export interface ModelKernel {
  readonly kernel: Kernel
  /** Somebody runs `nft flush ruleset`, or the host restarts. */
  flush(): void
  /** Somebody deletes elements of ban sets. */
  loseBans(isLost: () => boolean): void
  /** The kernel refuses every change from now on, or takes them again. */
  refuse(isRefusing: boolean): void
  /** What rules of the table drop now: keys by set, with the end of each ban. */
  bans(): ReadonlyMap<string, number | null>
  lists(): readonly ListInKernel[]
}
export interface ListInKernel {
  readonly id: number
  readonly mode: 'enforce' | 'observe'
  /** `ipv4 24` to the keys of this length. */
  readonly keys: ReadonlyMap<string, Buffer>
}

interface Table {
  readonly sets: Map<string, Map<string, number | null>>
  readonly listSets: Map<string, Buffer[]>
  shape: Shape
}

const place = ({ set, entry }: Placed): readonly [set: string, key: string] => [set, entry.key.toString('hex')]

export const createModelKernel = (now: () => number): ModelKernel => {
  let table: Table | null = null
  let generation = 1
  /** Changes that the agent did not make. */
  let foreign = 0
  let isRefusing = false

  /** One transaction: refused as a whole, and counted as a generation. */
  const commit = async (work: (there: Table) => void): Promise<void> => {
    await Promise.resolve()
    if (isRefusing) throw new KernelRefused('the shield is full', 'ENFILE')
    if (table === null) throw new KernelRefused('no such table', 'ENOENT')
    work(table)
    generation += 1
  }
  const setNamed = ({ sets }: Table, name: string): Map<string, number | null> => {
    const set = sets.get(name)
    if (!set) throw new KernelRefused(`no such set: ${name}`, 'ENOENT')
    return set
  }
  const addTo = (there: Table, placed: Placed): void => {
    const chunks = there.listSets.get(placed.set)
    if (chunks) return void chunks.push(placed.entry.key)
    const [set, key] = place(placed)
    setNamed(there, set).set(key, placed.timeout === null ? null : now() + placed.timeout)
  }
  const takeShape = (there: Table, shape: Shape): void => {
    const ofLists = new Set(listSetsOf(shape.lists ?? []).map(({ name }) => name))
    for (const { name } of setsOf(shape))
      if (ofLists.has(name)) there.listSets.set(name, there.listSets.get(name) ?? [])
      else there.sets.set(name, there.sets.get(name) ?? new Map())
    there.shape = shape
  }
  const live = (set: Map<string, number | null>): Map<string, number | null> => {
    for (const [key, end] of set) if (end !== null && end <= now()) set.delete(key)
    return set
  }
  const left = (end: number | null): number | null => (end === null ? null : end - now())
  const joined = (there: Table, name: string): Buffer => {
    const chunks = there.listSets.get(name) ?? []
    if (chunks.length < 2) return chunks[0] ?? Buffer.alloc(0)
    const whole = Buffer.concat(chunks)
    there.listSets.set(name, [whole])
    return whole
  }

  const kernel: Kernel = {
    driver: 'netlink',
    isOwned: () => false,
    dropped: () => null,
    async replace(shape, elements) {
      const next: Table = { sets: new Map(), listSets: new Map(), shape }
      takeShape(next, shape)
      if (isRefusing) throw new KernelRefused('the shield is full', 'ENFILE')
      for (const placed of elements) addTo(next, placed)
      table ??= next
      await commit(() => (table = next))
    },
    reshape: (shape, gone) =>
      commit(there => {
        takeShape(there, shape)
        for (const name of gone?.sets ?? []) {
          there.sets.delete(name)
          there.listSets.delete(name)
        }
      }),
    addListSets: (lists: readonly ListShape[]) =>
      commit(there => {
        for (const { name } of listSetsOf(lists)) there.listSets.set(name, [])
      }),
    fill: elements =>
      commit(there => {
        const bySet = new Map<string, Buffer[]>()
        for (const { set, entry } of elements) {
          const keys = bySet.get(set)
          if (keys) keys.push(entry.key)
          else bySet.set(set, [entry.key])
        }
        for (const [set, keys] of bySet) {
          const chunks = there.listSets.get(set)
          if (!chunks) throw new KernelRefused(`no such set: ${set}`, 'ENOENT')
          chunks.push(Buffer.concat(keys))
        }
      }),
    keys: set => Promise.resolve(table === null ? Buffer.alloc(0) : joined(table, set)),
    listed: () => null,
    change: (added, removed) =>
      commit(there => {
        for (const placed of removed) {
          const [set, key] = place(placed)
          setNamed(there, set).delete(key)
        }
        for (const placed of added) addTo(there, placed)
      }),
    async find(set, key) {
      await Promise.resolve()
      const end = table === null ? undefined : live(setNamed(table, set)).get(key.toString('hex'))
      return end === undefined ? null : { expires: left(end), packets: 0 }
    },
    async elements(set) {
      await Promise.resolve()
      if (table === null) return new Map()
      return new Map([...live(setNamed(table, set))].map(([key, end]) => [key, left(end)]))
    },
    damage: () => Promise.resolve(table === null ? 'is gone' : null),
    generation: () => generation,
    foreign: () => foreign,
    async remove() {
      await Promise.resolve()
      table = null
      generation += 1
    },
  }

  return {
    kernel,
    flush() {
      table = null
      generation += 1
      foreign += 1
    },
    loseBans(isLost) {
      for (const [name, set] of table?.sets ?? [])
        if (name.startsWith('ban')) for (const key of set.keys()) if (isLost()) set.delete(key)
      generation += 1
      foreign += 1
    },
    refuse(should) {
      isRefusing = should
    },
    bans() {
      const { sets = new Map<string, Map<string, number | null>>() } = table ?? {}
      const bySet = [...sets].filter(([name]) => name.startsWith('ban'))
      return new Map(
        bySet.flatMap(([name, set]) => [...live(set)].map(([key, end]) => [`${name} ${key}`, end] as const)),
      )
    },
    lists() {
      const there = table
      if (there === null) return []
      return (there.shape.lists ?? []).map(list => ({
        id: list.id,
        mode: list.mode,
        keys: new Map(
          listSetsOf([list]).map(({ name, family }, i) => [
            `ipv${family} ${list.sets[i]?.length ?? bitsOf(family)}`,
            joined(there, name),
          ]),
        ),
      }))
    },
  }
}
