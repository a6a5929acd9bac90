import type { Ledger } from '../bans/ledger.ts'
import type { Overrides } from '../bans/overrides.ts'
import { EngineDown } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineConfig } from '../engine/config.ts'
import { canonicalIp } from '../ip.ts'
import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Limits } from '../policy/format.ts'
import { collapse } from './addresses.ts'
import type { Addresses } from './addresses.ts'
import { unapprovedRange } from '@stockade/contract/seal.ts'
import type { Approvals } from '../seal/approvals.ts'
import { holdEverywhere } from './ignore-lists.ts'
import { createLifter } from './lifter.ts'
import { parseList } from './list.ts'
import { createNextStart } from './next-start.ts'
import type { OwnIgnores } from './next-start.ts'
import type { Store } from './store.ts'

/** fail2ban scans its ranges at each failure and each addition, so it gets only these; the agent lifts bans of the rest. */
const maxEngineRanges = 2000
/** Reading a long list back takes time: the pause is at least 50 times as long as the check. */
const checkShare = 50
const minCheckPause = 4000

/** The error of a list that was not applied yet. */
export const notApplied = 'the list has not been applied yet'

/** How much of the list is proved to be in force. */
export interface Held {
  readonly entries: number
  /** One sentence, or null. */
  readonly error: string | null
}

export interface Whitelist {
  version(): string
  /** Whether the list covers the address, or some address of the range. */
  covers(ip: string): boolean
  held(): Held
  /** What the list covers, without overlaps; null before the first list. */
  listed(): Addresses | null
  /** Accepts a new list, which is on the disk when this returns. @throws Error with a sentence, if it is refused */
  take(text: string, version: string, count: number): void
  /** Brings the list into force everywhere and reads it back. */
  apply(): Promise<Held>
  /** Restores what a reload, a start or a person removed. `touched`: something was certainly removed. */
  look(touched: boolean): Promise<void>
  /** Jails in which somebody removed entries that the agent then put back, and when. */
  restored(): ReadonlyMap<string, number>
  /** A ban was noticed. `acted`: its firewall actions have run. */
  met(jail: string, ip: string, acted: boolean): void
  stop(): void
}

interface WhitelistNeeds extends Pick<Parameters<typeof createNextStart>[0], 'mustBeShared'> {
  store: Store
  engine: Engine
  config: EngineConfig
  ledger: Pick<Ledger, 'active' | 'ended'>
  overrides: Pick<Overrides, 'drop' | 'dropCovered'>
  drain: () => Promise<void>
  /** The limits of this host; throws with the reason if it accepts no new list. */
  limits: () => Limits
  /** The approvals of this host; null if it asks for none. */
  approvals: () => Pick<Approvals, 'unapproved' | 'followList'> | null
  /** Something was restored or is held differently, without a new list. */
  onHeld: () => void
  now: () => number
  log: Log
}

/**
 * Keeps the whitelist in force: in the ignore list of each running jail, in a file for fail2ban's next start, and against
 * every ban of an address that it covers. The administrator's own `ignoreip` is never touched.
 */
export const createWhitelist = (needs: WhitelistNeeds): Whitelist => {
  const { engine, store, log } = needs
  const trouble = createOnce(log.warn)
  const inTurn = createSerial()
  const nextStart = createNextStart(needs)
  const covers = (ip: string): boolean => {
    const canonical = canonicalIp(ip)
    return canonical !== null && list !== null && list.addresses.touches(canonical)
  }
  const lifter = createLifter({ ...needs, covers })

  let list = readStored(store, log)
  let heldList: Held = { entries: 0, error: notApplied }
  /** Values that the agent may have added and that are no longer wanted; null: also those of the file. */
  let retired: Set<string> | null = null
  /** Raised with each list. Values that a list retires while an older one is applied are for the next time. */
  let listNumber = 0
  let nextCheckAt = 0
  const restored = new Map<string, number>()

  /** What fail2ban gets. Single addresses first: each is compared with all ranges that are there before it. */
  const desiredEntries = (): string[] =>
    list ? [...list.addresses.singles, ...list.addresses.ranges.slice(0, maxEngineRanges)] : []
  const retiredValues = (): Set<string> => (retired ??= new Set(nextStart.values()))

  /** Applies the list in the running fail2ban. */
  const applyNow = async (readOwn: () => Promise<OwnIgnores | null>): Promise<Outcome> => {
    const startedAt = performance.now()
    try {
      const values = retiredValues()
      const outcome = await holdEverywhere(engine, new Set(desiredEntries()), value => values.has(value), readOwn)
      await lifter.liftCovered()
      const { isMended, lackingJails } = outcome
      return { held: heldOf(outcome.missing), isMended, lackingJails, isComplete: true }
    } catch (error) {
      const reason =
        error instanceof EngineDown ? 'fail2ban does not run: the list will hold when it is back' : errorText(error)
      return { held: { entries: 0, error: reason }, isMended: false, lackingJails: [], isComplete: false }
    } finally {
      nextCheckAt = performance.now() + Math.max(minCheckPause, (performance.now() - startedAt) * checkShare)
    }
  }

  const applyEverywhere = async (): Promise<Outcome> => {
    if (list === null) return { held: heldList, isMended: false, lackingJails: [], isComplete: true }
    // Without the administrator's values nothing is removed; what is missing is added all the same.
    let readError: unknown = null
    const readOwn = (): Promise<OwnIgnores | null> =>
      nextStart.ownIgnores().catch((error: unknown) => {
        readError = error
        return null
      })
    const appliedNumber = listNumber
    let outcome = await applyNow(readOwn)
    try {
      const own = await readOwn()
      if (own === null) throw new Error(`fail2ban's configuration cannot be read: ${errorText(readError)}`)
      await nextStart.write(store.version(), desiredEntries(), own)
      if (outcome.isComplete && appliedNumber === listNumber) retired = new Set()
    } catch (error) {
      outcome = { ...outcome, held: { ...outcome.held, error: outcome.held.error ?? errorText(error) } }
      nextStart.settle()
    }
    if (outcome.held.error === null) trouble.over()
    else trouble.tell(`whitelist: ${outcome.held.error}`)
    return outcome
  }

  const heldOf = (missing: ReadonlyMap<string, string>): Held => {
    if (!list) return { entries: 0, error: null }
    const [first] = missing
    if (!first) return { entries: list.count, error: null }
    const open = collapse([...missing.keys()])
    const entries = parseList(store.text() ?? '', 0, null).filter(entry => !open.touches(entry)).length
    const [value, jail] = first
    return {
      entries,
      error: `fail2ban does not keep ${missing.size} entries in its ignore list (${value} in jail ${jail})`,
    }
  }

  /** Answers whether anything was put right or is reported differently from before. `isExpected`: jails may lack entries. */
  const apply = async (isExpected: boolean): Promise<boolean> => {
    const outcome = await applyEverywhere().catch((error: unknown): Outcome => ({
      held: { entries: 0, error: errorText(error) },
      isMended: false,
      lackingJails: [],
      isComplete: false,
    }))
    for (const jail of isExpected || heldList.error !== null ? [] : outcome.lackingJails) {
      restored.set(jail, needs.now())
      log.warn(`somebody removed entries of the whitelist from jail ${jail}: the agent put them back`)
    }
    const isChanged = outcome.held.entries !== heldList.entries || outcome.held.error !== heldList.error
    heldList = outcome.held
    return outcome.isMended || isChanged
  }

  return {
    version: store.version,
    covers,
    held: () => heldList,
    restored: () => restored,
    listed: () => list?.addresses ?? null,
    take(text, version, count) {
      const entries = parseList(text, count, needs.limits())
      const stored = (): ReadonlySet<string> => new Set(parseList(store.text() ?? '', 0, null))
      const wide = needs.approvals()?.unapproved(entries, stored) ?? null
      if (wide !== null) throw new Error(unapprovedRange(wide))
      needs.approvals()?.followList(entries)
      store.putList(text, version)
      listNumber += 1
      const values = retiredValues()
      const before = desiredEntries()
      list = { addresses: collapse(entries), count: entries.length }
      const now = new Set(desiredEntries())
      for (const value of before) if (!now.has(value)) values.add(value)
    },
    apply: () =>
      inTurn(async () => {
        await apply(true)
        return heldList
      }),
    async look(touched) {
      if (list === null) return
      if (!touched && performance.now() < nextCheckAt && !nextStart.isTouched()) return
      await inTurn(async () => {
        if ((await apply(touched)) || touched) needs.onHeld()
      })
    },
    met(jail, ip, acted) {
      if (!covers(ip)) return
      if (acted) void lifter.liftNow(jail, ip)
      else lifter.liftSoon(jail, ip)
    },
    stop: lifter.stop,
  }
}

interface StoredList {
  readonly addresses: Addresses
  readonly count: number
}

interface Outcome {
  readonly held: Held
  /** Whether anything had to be put right. */
  readonly isMended: boolean
  readonly lackingJails: readonly string[]
  /** Whether every running jail was reached. */
  readonly isComplete: boolean
}

const readStored = (store: Store, log: Log): StoredList | null => {
  const text = store.text()
  if (text === null) return null
  try {
    const entries = parseList(text, 0, null)
    return { addresses: collapse(entries), count: entries.length }
  } catch (error) {
    log.warn(`the whitelist of the last run is not readable: ${errorText(error)}`)
    return null
  }
}
