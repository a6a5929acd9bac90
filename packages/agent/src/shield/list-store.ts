import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readJson, removeDurably, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import { countOf, parseListed } from './listed.ts'
import { takenOf } from './list-ranges.ts'
import type { ApprovedRanges, Taken } from './list-ranges.ts'

export type ListMode = 'enforce' | 'observe'

/** A blocklist as the server describes it. */
export interface DesiredList {
  readonly id: number
  readonly version: number
  readonly mode: ListMode
  readonly entries: number
  /** SHA-256 of the content. */
  readonly digest: string
}

/** A blocklist on this host, with the keys of its entries. */
export interface HeldList extends DesiredList, Taken {}

/** How many entries of a list this host holds. */
export const heldEntries = ({ sets }: Pick<HeldList, 'sets'>): number =>
  sets.reduce((sum, set) => sum + countOf(set), 0)

export interface ListStore {
  lists(): readonly HeldList[]
  /** The same lists with what this host takes of them now, after approvals came or went. */
  listsAgain(): readonly HeldList[]
  /** Checks a content and keeps it on the disk, not yet in use. @throws Error with a sentence if it must not be used */
  prepare(desired: DesiredList, text: string): HeldList
  /** These lists are in use from now on; the others leave the disk. */
  put(lists: readonly HeldList[]): void
}

/** What a host takes of one list at most, as the server does. */
const maxEntries = 200_000
/** 200,000 of the longest entries. */
export const maxContentBytes = 16 * 1024 * 1024

export const contentDigest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** @param approved which wide ranges may be held; null: all */
export const openListStore = (stateDirectory: string, approved: () => ApprovedRanges): ListStore => {
  const directory = join(stateDirectory, 'lists')
  const index = join(directory, 'lists.json')
  const fileOf = ({ id, version }: Pick<DesiredList, 'id' | 'version'>): string =>
    join(directory, `${id}-${version}.gz`)

  /** Absent or damaged: the host fetches the list again. */
  const readList = (row: unknown): HeldList[] => {
    const fields = asFields(row)
    const mode = asText(fields['mode'])
    const list = {
      id: asInteger(fields['id'], 0),
      version: asInteger(fields['version'], 0),
      entries: asInteger(fields['entries'], 0),
      digest: asText(fields['digest']),
    }
    if (mode !== 'enforce' && mode !== 'observe') return []
    try {
      const text = gunzipSync(fs.readFileSync(fileOf(list)), { maxOutputLength: maxContentBytes }).toString('utf8')
      if (contentDigest(text) !== list.digest) return []
      return [{ ...list, mode, ...takenOf(parseListed(text, maxEntries), approved()) }]
    } catch {
      return []
    }
  }
  const markOf = (ranges: ApprovedRanges): string => (ranges === null ? 'all' : [...ranges].sort().join(' '))
  let approvedMark = markOf(approved())
  let lists: readonly HeldList[] = asList(asFields(readJson(index))['lists']).flatMap(readList)

  const removeOthers = (): void => {
    const used = new Set(lists.map(fileOf))
    for (const name of fs.readdirSync(directory))
      if (name.endsWith('.gz') && !used.has(join(directory, name))) removeDurably(join(directory, name))
  }

  return {
    lists: () => lists,
    listsAgain() {
      const mark = markOf(approved())
      if (mark === approvedMark) return lists
      approvedMark = mark
      return lists.flatMap(readList)
    },
    prepare(desired, text) {
      if (contentDigest(text) !== desired.digest) throw new Error('the content does not match its digest')
      const sets = parseListed(text, maxEntries)
      const count = heldEntries({ sets })
      if (count !== desired.entries)
        throw new Error(`the list came with ${count} entries, and the server announced ${desired.entries}`)
      fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
      const packed = gzipSync(text, { level: 1 })
      const path = fileOf(desired)
      fs.writeFileSync(`${path}.new`, packed, { mode: 0o600, flush: true })
      fs.renameSync(`${path}.new`, path)
      return { ...desired, ...takenOf(sets, approved()) }
    },
    put(next) {
      fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
      const rows = next.map(({ id, version, mode, entries, digest }) => ({ id, version, mode, entries, digest }))
      writeDurably(index, JSON.stringify({ v: 1, lists: rows }))
      lists = next
      removeOthers()
    },
  }
}
