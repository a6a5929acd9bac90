import type { Entry } from './audit-list.ts'

/** Entries of one action: the first one, and all that it stands for. */
interface Batch {
  readonly first: Entry
  readonly entries: readonly Entry[]
}
/** A row of the list: an entry, how many others it stands for, and whether it is one of those. */
export interface Line {
  readonly entry: Entry
  readonly size: number
  readonly isPart: boolean
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

/** One row for a batch; the others follow it while it is unfolded, or while one of them is `open`. */
export const linesOf = (
  rows: readonly Entry[],
  unfolded: ReadonlySet<number>,
  open: number | undefined,
): readonly Line[] =>
  batchesOf(rows).flatMap(({ first, entries }): Line[] => {
    const isWhole = entries.some(({ id }) => unfolded.has(id) || (id === open && id !== first.id))
    const parts = isWhole ? entries.slice(1) : []
    return [
      { entry: first, size: entries.length, isPart: false },
      ...parts.map(entry => ({ entry, size: 1, isPart: true })),
    ]
  })
