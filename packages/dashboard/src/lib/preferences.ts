import { isRecord, readOr, recordOf } from '@stockade/contract/untrusted.ts'
import { createShared } from './shared.ts'
import { readStored } from './stored.ts'

/* How somebody wants the dashboard: kept in this browser at once, and with the account by `shell/kept-preferences.tsx`. */

export interface View {
  readonly name: string
  /** The search of the list's address, without the question mark. */
  readonly search: string
}
export interface Preferences {
  readonly density: 'normal' | 'roomy' | 'dense'
  /** In which time zone times are told: the browser's, UTC, or the one that is set for the service. */
  readonly zone: 'browser' | 'utc' | 'site'
  readonly clock: '24' | '12'
  /** The page that opens first, a path from the root of the dashboard. */
  readonly start: string
  readonly theme: 'auto' | 'light' | 'dark'
  /** Language of the texts, null as the browser's own. */
  readonly language: string | null
  /** Whether single keys do something. */
  readonly keys: boolean
  /** Nothing is asked for at intervals, and no map is loaded. */
  readonly reduced: boolean
  /** Saved views of lists, by the name of the list. */
  readonly views: Readonly<Record<string, readonly View[]>>
  /** The columns of lists that were chosen, with commas, by the name of the list; the usual ones where none were. */
  readonly columns: Readonly<Record<string, string>>
}
const usual: Preferences = {
  density: 'normal',
  zone: 'browser',
  clock: '24',
  start: '/',
  theme: 'auto',
  language: null,
  keys: true,
  reduced: false,
  views: {},
  columns: {},
}
export const bounds = { views: 50, viewName: 60, viewSearch: 2000 } as const

const oneOf = <T extends string>(value: unknown, allowed: readonly T[], otherwise: T): T =>
  allowed.find(one => one === value) ?? otherwise
const yes = (value: unknown, otherwise: boolean): boolean => (typeof value === 'boolean' ? value : otherwise)
const isView = (value: unknown): value is View =>
  isRecord(value) &&
  typeof value.name === 'string' &&
  value.name !== '' &&
  value.name.length <= bounds.viewName &&
  typeof value.search === 'string' &&
  value.search.length <= bounds.viewSearch

/** What another version, or another hand, has kept: what is not understood is as usual. */
export const readPreferences = (given: unknown): Preferences => {
  const fields = recordOf(given)
  const views = recordOf(fields.views)
  const columns = recordOf(fields.columns)
  return {
    density: oneOf(fields.density, ['normal', 'roomy', 'dense'], usual.density),
    zone: oneOf(fields.zone, ['browser', 'utc', 'site'], usual.zone),
    clock: oneOf(fields.clock, ['24', '12'], usual.clock),
    start:
      typeof fields.start === 'string' && /^\/(?![/\\])[\w/-]{0,100}$/.test(fields.start) ? fields.start : usual.start,
    theme: oneOf(fields.theme, ['auto', 'light', 'dark'], usual.theme),
    language: typeof fields.language === 'string' && /^[a-z]{2}$/.test(fields.language) ? fields.language : null,
    keys: yes(fields.keys, usual.keys),
    reduced: yes(fields.reduced, usual.reduced),
    views: Object.fromEntries(
      Object.entries(views).flatMap(([list, found]) =>
        Array.isArray(found) ? [[list, found.filter(isView).slice(0, bounds.views)] as const] : [],
      ),
    ),
    columns: Object.fromEntries(
      Object.entries(columns).flatMap(([list, named]) =>
        typeof named === 'string' && /^[a-z_,]{1,300}$/.test(named) ? [[list, named] as const] : [],
      ),
    ),
  }
}

const place = 'stockade-preferences'
const owner = 'stockade-preferences-of'
/** What was changed here and the account has not heard of yet: with the next load that comes before what it keeps. */
const unsaved = 'stockade-preferences-unsaved'
const load = (): Preferences => readPreferences(readStored('localStorage', place))

const now = createShared<Preferences>(typeof window === 'undefined' ? usual : load())
let siteZone: string | undefined
const take = (next: Preferences) => {
  try {
    globalThis.localStorage.setItem(place, JSON.stringify(next))
  } catch {
    // Storage that is switched off: they last as long as the page.
  }
  now.set(next)
}

export const preferences = {
  read: now.get,
  use: now.use,
  watch: now.watch,
  change(given: Partial<Preferences>): void {
    try {
      globalThis.localStorage.setItem(unsaved, '1')
    } catch {
      // As in `take`.
    }
    take({ ...now.get(), ...given })
  },
  isUnsaved(): boolean {
    return readOr(false, () => globalThis.localStorage.getItem(unsaved) !== null)
  },
  /** The account keeps these now; what was changed meanwhile is still to be kept. */
  saved(those: Preferences): void {
    if (those !== now.get()) return
    try {
      globalThis.localStorage.removeItem(unsaved)
    } catch {
      // As in `take`.
    }
  },
  /** Takes over what the account keeps, or what another tab has changed. */
  replace(given: unknown): void {
    const next = readPreferences(given)
    if (JSON.stringify(next) !== JSON.stringify(now.get())) take(next)
  },
  /** Resets what another user of this browser left. */
  belongTo(userId: number): void {
    try {
      const before = globalThis.localStorage.getItem(owner)
      globalThis.localStorage.setItem(owner, String(userId))
      if (before === null || before === String(userId)) return
      globalThis.localStorage.removeItem(unsaved)
      take(usual)
    } catch {
      // Nothing is kept then, so nothing is anybody's.
    }
  },
  /** The time zone of the service, once it is known. */
  setSiteZone(zone: string | undefined): void {
    siteZone = zone
  },
}

if (typeof window !== 'undefined')
  addEventListener('storage', event => {
    if (event.key === place) preferences.replace(load())
  })

export const browserZone: string = Intl.DateTimeFormat().resolvedOptions().timeZone
/** The time zone that times are told in. */
export const shownZone = (): string =>
  now.get().zone === 'utc' ? 'UTC' : now.get().zone === 'site' ? (siteZone ?? browserZone) : browserZone
