import type { Entry } from './entry.ts'
import type { ListShape, Shape } from './rules.ts'

/** An element of a set of the shield. */
export interface Placed {
  readonly set: string
  readonly entry: Entry
  /** Milliseconds until the kernel ends it; null: it stays. */
  readonly timeout: number | null
}

export interface FoundBan {
  /** Milliseconds until the kernel ends it; null: it stays. */
  readonly expires: number | null
  /** How many packets it stopped or would have stopped; null when the driver does not know. */
  readonly packets: number | null
}

/** The kernel does not take a change. `code` is an errno name, or empty. */
export class KernelRefused extends Error {
  readonly code: string
  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

/** Sets and chains that no rule of the new shape uses. */
export interface Gone {
  readonly sets: readonly string[]
  readonly chains: readonly string[]
}

/** What somebody else did to the table. */
export type Damage = 'is gone' | 'was changed by somebody'

/** The shield's table in the kernel. Every method throws KernelRefused if the kernel refuses. */
export interface Kernel {
  readonly driver: 'netlink' | 'nft'
  /** Whether no other process can change the table. */
  isOwned(): boolean
  /** Replaces the table with all its elements in one transaction. */
  replace(shape: Shape, elements: Iterable<Placed>): Promise<void>
  /** Adds sets, replaces the rules and deletes what is gone, in one transaction. The elements of other sets stay. */
  reshape(shape: Shape, gone?: Gone): Promise<void>
  /** Adds the sets of lists that no rule uses yet. Sets of these names that were left over are emptied. */
  addListSets(lists: readonly ListShape[]): Promise<void>
  /** Adds elements without an end to sets that no rule uses yet. */
  fill(elements: readonly Placed[]): Promise<void>
  /** All keys of a set, one after the other, in no order. */
  keys(set: string): Promise<Buffer>
  /** Packets that each list matched since the rules were replaced, by its chain; null when the driver cannot ask cheaply. */
  listed(): ReadonlyMap<string, number> | null
  /** One transaction. An element to add that is there gets the new timeout; one to remove may be absent. */
  change(added: readonly Placed[], removed: readonly Placed[]): Promise<void>
  /** Reads one element back; null if it is absent. */
  find(set: string, key: Buffer): Promise<FoundBan | null>
  /** All elements of a set: keys as hexadecimal text, with the milliseconds until the kernel ends each; null: it stays. */
  elements(set: string): Promise<Map<string, number | null>>
  /** All packets that the table dropped since it was made; null when the driver cannot ask cheaply. */
  dropped(): number | null
  /** Null while the table is as it was made. */
  damage(): Promise<Damage | null>
  /** Changes with each transaction of anybody; null when the driver cannot ask. */
  generation(): number | null
  /** Changes with each transaction that this driver did not make itself; null when it cannot ask. */
  foreign(): number | null
  remove(): Promise<void>
}
