import { networkOf } from '@stockade/contract/spans.ts'
import { buildContent, unpackLines } from './content.ts'
import { indexOf } from './list-index.ts'
import type { ListIndex } from './list-index.ts'

interface PrefixSearch {
  readonly packed: Uint8Array
  readonly text: string
  readonly from: number
  readonly to: number
}
interface FoundEntries {
  readonly entries: string[]
  readonly total: number
}

/** What a thread does with the content of a list. */
export const listJobs = {
  build: buildContent,
  index: (packed: Uint8Array): ListIndex => indexOf(unpackLines(packed).map(networkOf)),
  /** The entries that begin with a text. */
  search({ packed, text, from, to }: PrefixSearch): FoundEntries {
    const matches = unpackLines(packed).filter(entry => entry.startsWith(text))
    return { entries: matches.slice(from, to), total: matches.length }
  },
}
export type ListJobs = typeof listJobs
