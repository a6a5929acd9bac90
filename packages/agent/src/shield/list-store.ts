import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readJson, removeDurably, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import { parseListed } from './listed.ts'
import type { ListedSet } from './listed.ts'

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
export interface HeldList extends DesiredList {
  readonly sets: readonly ListedSet[]
}

export interface ListStore {
  lists(): readonly HeldList[]
  /** Checks a content and keeps it on the disk, not yet in use. @throws Error with a sentence if it must not be used */
  prepare(desired: DesiredList, text: string): HeldList
  /** These lists are in use from now on; the others leave the disk. */
  put(lists: readonly HeldList[]): void
}

/** What a host takes at most; the server has the same bounds for one list. */
const maxEntries = 200_000
const maxOnHost = 250_000
/** 200,000 of the longest entries. */
export const maxContentBytes = 16 * 1024 * 1024

export const contentDigest = (text: string): string => createHash('sha256').update(text).digest('hex')

export const openListStore = (stateDirectory: string): ListStore => {
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
      return contentDigest(text) === list.digest ? [{ ...list, mode, sets: parseListed(text, maxEntries) }] : []
    } catch {
      return []
    }
  }
  let lists: readonly HeldList[] = asList(asFields(readJson(index))['lists']).flatMap(readList)

  const removeOthers = (): void => {
    const used = new Set(lists.map(fileOf))
    for (const name of fs.readdirSync(directory))
      if (name.endsWith('.gz') && !used.has(join(directory, name))) removeDurably(join(directory, name))
  }

  return {
    lists: () => lists,
    prepare(desired, text) {
      if (contentDigest(text) !== desired.digest) throw new Error('the content does not match its digest')
      const sets = parseListed(text, maxEntries)
      const others = lists.filter(({ id }) => id !== desired.id).reduce((sum, list) => sum + list.entries, 0)
      if (others + desired.entries > maxOnHost)
        throw new Error(
          `the lists of this host would hold ${others + desired.entries} entries, and it takes ${maxOnHost}`,
        )
      fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
      const packed = gzipSync(text, { level: 1 })
      const path = fileOf(desired)
      fs.writeFileSync(`${path}.new`, packed, { mode: 0o600, flush: true })
      fs.renameSync(`${path}.new`, path)
      return { ...desired, sets }
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
