import { keysOf, pick } from '@stockade/contract/records.ts'
import { isRecord, recordOf } from '@stockade/contract/untrusted.ts'
import { readStored } from './stored.ts'

/* What was typed and not saved, kept in this browser for each user: it survives a reload, an ended session and a closed tab. */

const prefix = 'stockade-draft:'
const keyOf = (userId: number, name: string) => `${prefix}${userId}:${name}`
/** Nobody remembers an edit of last week, in milliseconds. */
const lasting = 7 * 24 * 60 * 60_000

/** In characters: a list from a file is not kept; the file is there to be chosen again. */
const longest = 200_000

export interface KeptDraft<T> {
  /** What was typed, and what stood there when it was first touched. */
  readonly typed: Partial<T>
  readonly was: Partial<T>
}
const none = { typed: {}, was: {} }

/* JSON has no sets: they are kept as sorted lists under a name of their own. */
const packed = (_key: string, value: unknown): unknown => (value instanceof Set ? { set: [...value].sort() } : value)
const unpacked = (_key: string, value: unknown): unknown =>
  isRecord(value) && Array.isArray(value.set) && Object.keys(value).length === 1 ? new Set(value.set) : value

/** Whether two values of fields are the same, sets in any order. */
export const same = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && JSON.stringify(a, packed) === JSON.stringify(b, packed))

const kindOf = (value: unknown): string =>
  value instanceof Set ? 'set' : isRecord(value) ? `{${formOf(value)}}` : Array.isArray(value) ? 'array' : typeof value
/** Names and kinds of the fields: a draft of another version of the form has other ones, and is ignored. */
const formOf = (is: object): string =>
  Object.entries(is)
    .map(([name, value]) => `${name} ${kindOf(value)}`)
    .sort()
    .join()
const isOfForm = <T extends object>(some: unknown, is: T): some is Partial<T> => {
  const kinds = new Map(Object.entries(is).map(([name, value]) => [name, kindOf(value)]))
  return isRecord(some) && Object.entries(some).every(([name, value]) => kinds.get(name) === kindOf(value))
}

export const readDraft = <T extends object>(userId: number, name: string, is: T, now: number): KeptDraft<T> => {
  try {
    const storedDraft: unknown = JSON.parse(globalThis.localStorage.getItem(keyOf(userId, name)) ?? 'null', unpacked)
    if (!isRecord(storedDraft) || storedDraft.form !== formOf(is)) return none
    if (typeof storedDraft.at !== 'number' || now - storedDraft.at > lasting) return none
    if (!isOfForm(storedDraft.typed, is) || !isOfForm(storedDraft.was, is)) return none
    const { typed, was } = storedDraft
    // A field that holds the saved value by now is no draft.
    const edits = keysOf<Partial<T>>(typed).filter(field => !same(typed[field], is[field]))
    return { typed: pick(typed, edits), was: pick(was, edits) }
  } catch {
    return none
  }
}

/** Keeps it; without any field there is nothing to keep. `secrets` are fields that never reach the storage. */
export const writeDraft = <T extends object>(
  userId: number,
  name: string,
  is: T,
  draft: KeptDraft<T>,
  secrets: readonly string[],
  now: number,
): void => {
  const safe = (some: Partial<T>) => Object.fromEntries(Object.entries(some).filter(([key]) => !secrets.includes(key)))
  const typed = safe(draft.typed)
  try {
    const text = JSON.stringify({ form: formOf(is), at: now, typed, was: safe(draft.was) }, packed)
    if (Object.keys(typed).length === 0 || text.length > longest)
      globalThis.localStorage.removeItem(keyOf(userId, name))
    else globalThis.localStorage.setItem(keyOf(userId, name), text)
  } catch {
    // A full or forbidden storage: then it lasts as long as the page.
  }
}

const storedKeys = (beginning: string): readonly string[] => {
  const { localStorage } = globalThis
  const keys = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? '')
  return keys.filter(key => key.startsWith(beginning))
}
const isFresh = (key: string, now: number): boolean => {
  const { at } = recordOf(readStored('localStorage', key))
  return typeof at === 'number' && now - at <= lasting
}
/** A part of a form, such as a choice of servers, has a draft of its own: `fleet ban/target`. */
const formNameOf = (key: string): string => key.split('/')[0] ?? key
/** On how many forms the user has typed what is not saved. */
export const countDrafts = (userId: number, now: number): number => {
  try {
    return new Set(
      storedKeys(keyOf(userId, ''))
        .filter(key => isFresh(key, now))
        .map(formNameOf),
    ).size
  } catch {
    return 0
  }
}

/** Forgets the draft of a form, and those of its parts. */
export const dropDrafts = (userId: number, name: string): void => {
  try {
    const key = keyOf(userId, name)
    for (const storedKey of [key, ...storedKeys(`${key}/`)]) globalThis.localStorage.removeItem(storedKey)
  } catch {
    // Then it is not there.
  }
}

/** Forgets the drafts of all users of this browser. */
export const clearDrafts = (): void => {
  try {
    for (const key of storedKeys(prefix)) globalThis.localStorage.removeItem(key)
  } catch {
    // Then there are none.
  }
}
