import { join } from 'node:path'
import { readJson, readText, writeDurably } from '../files.ts'
import { asFields, asText } from '../json.ts'

export interface Store {
  /** The list as it came; null before the first. */
  text(): string | null
  /** Its version; "" while there is none. */
  version(): string
  /** The desired state that was reached last; null before the first. */
  state(): string | null
  putList(text: string, newVersion: string): void
  putState(newState: string): void
}

/** What the host was last told to hold. It stays in force while the server is unreachable. */
export const createStore = (stateDirectory: string): Store => {
  const textFile = join(stateDirectory, 'whitelist.txt')
  const tagFile = join(stateDirectory, 'whitelist.json')
  const fields = asFields(readJson(tagFile))
  let state = asText(fields['state'])
  let version = asText(fields['whitelist_version'])

  const saveTags = (): void => writeDurably(tagFile, JSON.stringify({ v: 1, state, whitelist_version: version }))

  return {
    text: (): string | null => readText(textFile),
    version: (): string => version,
    state: (): string | null => (state === '' ? null : state),
    putList(text: string, newVersion: string): void {
      // Between the two writes the version is unknown: the list is in force and is fetched again.
      version = ''
      saveTags()
      writeDurably(textFile, text)
      version = newVersion
      saveTags()
    },
    putState(newState: string): void {
      if (newState === state) return
      state = newState
      saveTags()
    },
  }
}
