import { readOr } from '@stockade/contract/untrusted.ts'
/**
 * What the storage of the browser keeps under a name: of this tab, or of all. It may come from another version of this page, so the caller
 * checks it. Null where nothing is kept, where it is not JSON, and where the storage is switched off.
 */
export const readStored = (place: 'sessionStorage' | 'localStorage', name: string): unknown =>
  readOr(null, () => JSON.parse(globalThis[place].getItem(name) ?? 'null'))

/** The value of a JSON text; null where it is not JSON. */
export const parsed = (text: string): unknown => readOr(null, () => JSON.parse(text))
