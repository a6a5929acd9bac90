import { createContext } from 'react'
import type { Entry } from './audit-list.ts'

/** Entries of one action: the first one, and how many it stands for. */
interface Batch {
  readonly first: Entry
  readonly entries: readonly Entry[]
}

/** Whether both come from one request for several servers: it writes the same command for each at one moment. */
const isSameRequest = (one: Entry, other: Entry): boolean =>
  one.action === 'command.create' &&
  other.action === 'command.create' &&
  one.user === other.user &&
  one.timestamp === other.timestamp &&
  one.details.type === other.details.type &&
  JSON.stringify(one.details.params) === JSON.stringify(other.details.params)

/** The entries of a page with the commands of one request together. */
export const batchesOf = (rows: readonly Entry[]): readonly Batch[] => {
  const batches: { first: Entry; entries: Entry[] }[] = []
  for (const entry of rows) {
    const last = batches.at(-1)
    if (last && isSameRequest(last.first, entry)) last.entries.push(entry)
    else batches.push({ first: entry, entries: [entry] })
  }
  return batches
}

/** For each first entry of a folded batch: how many entries it stands for, and how to show them. */
export const FoldedBatches = createContext<{
  readonly sizes: ReadonlyMap<number, number>
  readonly unfold: (id: number) => void
}>({ sizes: new Map(), unfold: () => {} })
