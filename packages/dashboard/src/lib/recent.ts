import { readStored } from './stored.ts'

const key = 'stockade.recent'
const most = 8

/** What was opened lately by its name, newest first; of this browser. */
export const readRecent = (): readonly string[] => {
  const storedItems = readStored('localStorage', key)
  return Array.isArray(storedItems) ? storedItems.filter(text => typeof text === 'string').slice(0, most) : []
}
export const addRecent = (text: string): void => {
  try {
    localStorage.setItem(key, JSON.stringify([text, ...readRecent().filter(other => other !== text)].slice(0, most)))
  } catch {
    // Then it is not remembered.
  }
}
