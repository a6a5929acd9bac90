import { noKnockState, parseKnock } from './model.ts'
import type { KnockState } from './model.ts'

/** The last state that the server sent, from the file of the last run on. */
export const createWanted = (saved: { readonly version: string; readonly wanted: unknown }) => {
  let version = saved.version
  let state: KnockState = version === '' ? noKnockState : parseKnock(saved.wanted)
  let text = JSON.stringify(saved.wanted ?? null)
  return {
    version: () => version,
    isKnown: () => version !== '',
    state: () => state,
    /** As the server sent it. */
    content: (): unknown => JSON.parse(text),
    /** Whether it differs from the last one. */
    take(value: unknown, newVersion: string): boolean {
      const before = text
      text = JSON.stringify(value ?? null)
      state = parseKnock(value)
      version = newVersion
      return text !== before
    },
  }
}
