const key = 'stockade.recent'
const most = 8

/** What was opened lately by its name, newest first; of this browser. */
export const readRecent = (): readonly string[] => {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept.filter(text => typeof text === 'string').slice(0, most) : []
  } catch {
    // Storage that is switched off, or holds what another version wrote: nothing is recent.
    return []
  }
}
export const addRecent = (text: string): void => {
  try {
    localStorage.setItem(key, JSON.stringify([text, ...readRecent().filter(other => other !== text)].slice(0, most)))
  } catch {
    // Then it is not remembered.
  }
}
