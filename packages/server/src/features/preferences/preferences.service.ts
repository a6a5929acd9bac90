import { bounds } from '@stockade/contract'
import type { Clock } from '../../core/clock.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { findPreferences, savePreferences } from './preferences.store.ts'

type Preferences = Readonly<Record<string, unknown>>

/** What the dashboard keeps for a user: theme, columns, saved views. The server gives back what it was given. */
export interface PreferencesService {
  read(userId: number): Promise<Preferences>
  /** @throws Problem 400 when they are larger than 64 KiB or nested too deep. */
  replace(userId: number, preferences: Preferences): Promise<Preferences>
}

/** Deeper than any view; far from what would exhaust a stack. */
const deepest = 32
const fitsInDepth = (value: unknown, left: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (left > 0 && Object.values(value).every(part => fitsInDepth(part, left - 1)))

export const createPreferences = (db: Database, clock: Clock): PreferencesService => ({
  async read(userId) {
    const text = await findPreferences(db.read, userId)
    return text === null ? {} : parseJson(text)
  },
  async replace(userId, preferences) {
    if (!fitsInDepth(preferences, deepest))
      throw invalid('preferences', `preferences may be nested at most ${deepest} levels deep.`)
    const text = jsonText(preferences)
    if (Buffer.byteLength(text) > bounds.preferences)
      throw invalid('preferences', `preferences may have at most ${bounds.preferences} bytes as JSON.`)
    // Habits are no operator's change: a column hidden, a theme chosen would bury what the audit log is for.
    await savePreferences(db.write, userId, text, clock())
    return parseJson(text)
  },
})
