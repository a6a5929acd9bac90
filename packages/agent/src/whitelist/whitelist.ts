import type { Ledger } from '../bans/ledger.ts'
import type { Overrides } from '../bans/overrides.ts'
import { EngineDown, EngineRefused } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import { faultsOf } from '../engine/config.ts'
import type { EngineConfig } from '../engine/config.ts'
import { whitelistFile, whitelistText, whitelistValues, writeOwnFiles } from '../engine/own-files.ts'
import { withStage } from '../engine/stage.ts'
import { readText } from '../files.ts'
import { canonicalIp, isCidr } from '../ip.ts'
import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { ListLimits } from '../policy/format.ts'
import { collapse } from './addresses.ts'
import type { Addresses } from './addresses.ts'
import type { Approvals } from '../seal/approvals.ts'
import { parseList } from './list.ts'
import type { Store } from './store.ts'

/** fail2ban walks through its ranges at each failure and each addition; the agent itself undoes bans of the rest. */
const maxEngineRanges = 2000
/** A ban's firewall action may run for a moment after the ban is known; lifted before that, it would stay in the firewall. */
const actionTime = 700
/** Reading a long list back takes time: never more than a fiftieth of it all. */
const checkShare = 50
const minCheckPause = 4000

/** What is said of a list that nothing was tried with so far. */
export const notApplied = 'the list has not been applied yet'

/** About a second of fail2ban's time. */
const maxComparisons = 4_000_000

/** The administrator's own `ignoreip` of each jail; null where there is none. */
type Owns = ReadonlyMap<string, readonly string[] | null>

/** How much of the list is proved to hold. */
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
  /** A new list, on the disk when this returns. Throws with a sentence when it is refused. */
  take(text: string, version: string, count: number): void
  /** Brings the list into force everywhere and reads it back. */
  apply(): Promise<Held>
  /** Puts right what a reload, a start or somebody's hand took away. `touched`: something was certainly taken. */
  look(touched: boolean): Promise<void>
  /** A ban was noticed; `acted`: its firewall actions have run. */
  met(jail: string, ip: string, acted: boolean): void
  stop(): void
}

/**
 * Keeps the whitelist in force: in the ignore list of each running jail, in a file for fail2ban's next start, and against
 * every ban of an address that it covers. The administrator's own `ignoreip` is never touched.
 */
export const createWhitelist = (needs: {
  store: Store
  engine: Engine
  config: EngineConfig
  ledger: Pick<Ledger, 'active' | 'ended'>
  overrides: Pick<Overrides, 'drop' | 'dropCovered'>
  drain: () => Promise<void>
  runDirectory: string
  /** What this host takes; throws with the reason where it takes nothing new. */
  limits: () => ListLimits
  /** What an operator has to approve on this host, and has not. */
  approvals: () => Pick<Approvals, 'unapproved' | 'followList'> | null
  /** What holds has changed, or was put right, without a new list. */
  onHeld: () => void
  now: () => number
  log: Log
}): Whitelist => {
  const { engine, config, store, log } = needs
  const file = whitelistFile(config.directory)
  const trouble = createOnce(log.warn)
  const restore = (): { addresses: Addresses; count: number } | null => {
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

  let listed = restore()
  let held: Held = { entries: 0, error: notApplied }
  /** Values that we may have given to fail2ban and that are no longer wanted; null: also those of the file. */
  let retired = null as Set<string> | null
  /** How many lists came: what one retires while another is being applied is for the next time. */
  let taken = 0
  let nextLook = 0
  let persisted = ''
  let persistedMark = ''
  let owns: { mark: string; jails: Owns } | null = null
  const inTurn = createSerial()
  const waiting = new Map<string, NodeJS.Timeout>()

  const touches = (ip: string): boolean => {
    const canonical = canonicalIp(ip)
    return canonical !== null && listed !== null && listed.addresses.touches(canonical)
  }

  /** What fail2ban is told. Single addresses first: each is compared with all ranges that are there before it. */
  const wanted = (): string[] => {
    if (!listed) return []
    return [...listed.addresses.singles, ...listed.addresses.ranges.slice(0, maxEngineRanges)]
  }

  const ownIgnores = async (): Promise<Owns> => {
    const mark = config
      .mark()
      .split('\n')
      .filter(line => !line.startsWith(`${file}:`))
      .join('\n')
    if (owns?.mark !== mark) {
      const jails = await withStage(config.directory, needs.runDirectory, [{ path: file, text: null }], config.ignores)
      owns = { mark, jails }
    }
    return owns.jails
  }

  /** Brings one jail's ignore list in line. Answers what is still missing, and whether anything had to be done. */
  const hold = async (
    jail: string,
    want: ReadonlySet<string>,
    ownOf: () => Promise<Owns | null>,
  ): Promise<{ missing: string[]; mended: boolean }> => {
    const kept = await engine.ignored(jail)
    const missing = lacking(want, kept)
    const spent = kept.filter(value => retired?.has(canonicalOf(value)) === true && !want.has(canonicalOf(value)))
    // Reading the configuration takes longer than all else here: only what is taken out has to wait for it.
    const own = spent.length > 0 ? await ownOf() : null
    const keep = new Set((own?.get(jail) ?? []).map(canonicalOf))
    const surplus = own === null ? [] : spent.filter(value => !keep.has(canonicalOf(value)))
    if (missing.length + surplus.length === 0) return { missing, mended: false }
    if (surplus.length > 0) await engine.unignore(jail, surplus)
    if (missing.length > 0)
      await addAll(
        jail,
        missing,
        kept.filter(value => want.has(value) && isCidr(value)),
      )
    return { missing: lacking(want, await engine.ignored(jail)), mended: true }
  }

  /**
   * fail2ban compares each new value with every range that it has. For many values ours step aside for the fraction of
   * a second that this then takes; a ban in it would be undone.
   */
  const addAll = async (jail: string, missing: readonly string[], ranges: readonly string[]): Promise<void> => {
    if (missing.length * ranges.length < maxComparisons) return engine.ignore(jail, missing)
    await engine.unignore(jail, ranges)
    await engine.ignore(jail, [...missing, ...ranges])
  }

  const holdEverywhere = async (ownOf: () => Promise<Owns | null>) => {
    const want = new Set(wanted())
    const missing = new Map<string, string>()
    let mended = false
    for (const jail of await engine.jails()) {
      try {
        const done = await hold(jail, want, ownOf)
        for (const value of done.missing) missing.set(value, jail)
        mended ||= done.mended
      } catch (error) {
        // A jail that was stopped meanwhile bans nobody; it is looked after when it comes back.
        if (!(error instanceof EngineRefused) || (await engine.jails()).includes(jail)) throw error
      }
    }
    return { missing, mended }
  }

  /** Lifts every ban that the list covers, also that of a range with a covered address in it. */
  const liftCovered = async (): Promise<void> => {
    needs.overrides.dropCovered(touches)
    for (const [jail, ips] of await engine.banned()) {
      const covered = [...ips].filter(touches)
      const settled = covered.filter(ip => isSettled(jail, ip))
      await lift(jail, settled)
      for (const ip of covered) if (!settled.includes(ip)) liftSoon(jail, ip)
    }
  }

  const isSettled = (jail: string, ip: string): boolean => {
    const since = needs.ledger.active(jail, ip)?.time ?? null
    return since !== null && since * 1000 < needs.now() - 5000
  }

  const liftSoon = (jail: string, ip: string): void => {
    const place = `${jail}|${ip}`
    if (waiting.has(place)) return
    waiting.set(
      place,
      setTimeout(() => void liftNow(jail, ip), actionTime),
    )
  }

  const liftNow = async (jail: string, ip: string): Promise<void> => {
    const place = `${jail}|${ip}`
    clearTimeout(waiting.get(place))
    waiting.delete(place)
    await lift(jail, [ip]).catch((error: unknown) => log.debug(`a ban is not lifted yet: ${errorText(error)}`))
  }

  const lift = async (jail: string, ips: readonly string[]): Promise<void> => {
    if (ips.length === 0) return
    // Unbanning deletes rows of the table: what is in it must have been taken over before.
    await needs.drain().catch(() => undefined)
    await engine.unbanAll(jail, ips)
    for (const ip of ips) {
      needs.overrides.drop(jail, ip)
      needs.ledger.ended(jail, ip, needs.now())
    }
    log.info(`lifted ${ips.length === 1 ? `the ban of ${ips[0] ?? ''}` : `${ips.length} bans`} in ${jail}: whitelisted`)
  }

  /** Changes when somebody touches our file. */
  const fileMark = (): string =>
    config
      .mark()
      .split('\n')
      .find(line => line.startsWith(`${file}:`)) ?? ''

  /** Writes the list for fail2ban's next start, after fail2ban's own classes have read it. */
  const persist = async (own: Owns): Promise<void> => {
    const enabled = (await config.jails()).filter(jail => jail.enabled)
    const jails = enabled.map(({ name }) => ({ name, hasOwn: (own.get(name) ?? null) !== null }))
    const key = (): string => `${store.version()} ${JSON.stringify(jails)} ${fileMark()}`
    persistedMark = config.mark()
    if (key() === persisted) return
    const text = whitelistText(wanted(), jails)
    const before = readText(file)
    if (before !== text) {
      const faults = await withStage(config.directory, needs.runDirectory, [{ path: file, text }], async copy =>
        faultsOf(await config.check(null, copy, false)),
      )
      if (faults.length > 0) {
        const old = faultsOf(await config.check(null, config.directory, false))
        const fresh = faults.filter(fault => !old.includes(fault))
        if (fresh.length > 0) throw new Error(`the file for fail2ban's next start would be faulty: ${fresh.join('; ')}`)
      }
      writeOwnFiles([{ path: file, text }])
      await showHidden(before, jails, own)
    }
    persisted = key()
    persistedMark = config.mark()
  }

  /** An `ignoreip` that the administrator wrote where there was none was hidden by our old file: it holds from now. */
  const showHidden = async (
    before: string | null,
    jails: readonly { readonly name: string; readonly hasOwn: boolean }[],
    own: Owns,
  ): Promise<void> => {
    if (before === null) return
    const running = await engine.jails().catch((): string[] => [])
    for (const { name, hasOwn } of jails) {
      const words: readonly string[] = own.get(name) ?? []
      const values = words.filter(value => !value.includes('/') || canonicalIp(value) !== null)
      if (!hasOwn || values.length === 0 || !running.includes(name)) continue
      if (before.includes(`\n[${name}]\nignoreip = %(stockade_whitelist)s\n`)) await engine.ignore(name, values)
    }
  }

  const applyNow = async (): Promise<{ held: Held; mended: boolean }> => {
    if (listed === null) return { held, mended: false }
    // What is not known to be ours is not taken out; what is missing is put in all the same.
    let unread: unknown = null
    const ownOf = (): Promise<Owns | null> =>
      ownIgnores().catch((error: unknown) => {
        unread = error
        return null
      })
    if (retired === null) retired = new Set(whitelistValues(readText(file) ?? ''))
    const turn = taken
    let done: { held: Held; mended: boolean }
    let engineSays: unknown = null
    const started = performance.now()
    try {
      const { missing, mended } = await holdEverywhere(ownOf)
      await liftCovered()
      done = { held: heldOf(missing), mended }
    } catch (error) {
      engineSays = error
      const why =
        error instanceof EngineDown ? 'fail2ban does not run: the list will hold when it is back' : errorText(error)
      done = { held: { entries: 0, error: why }, mended: false }
    }
    nextLook = performance.now() + Math.max(minCheckPause, (performance.now() - started) * checkShare)
    try {
      const own = await ownOf()
      if (own === null) throw new Error(`fail2ban's configuration cannot be read: ${errorText(unread)}`)
      await persist(own)
      if (engineSays === null && turn === taken) retired = new Set()
    } catch (error) {
      done = { ...done, held: { ...done.held, error: done.held.error ?? errorText(error) } }
      persistedMark = config.mark()
    }
    if (done.held.error === null) trouble.over()
    else trouble.tell(`whitelist: ${done.held.error}`)
    return done
  }

  const heldOf = (missing: ReadonlyMap<string, string>): Held => {
    if (!listed) return { entries: 0, error: null }
    const [first] = missing
    if (!first) return { entries: listed.count, error: null }
    const open = collapse([...missing.keys()])
    const entries = parseList(store.text() ?? '', 0, null).filter(entry => !open.touches(entry)).length
    const [value, jail] = first
    return {
      entries,
      error: `fail2ban does not keep ${missing.size} entries in its ignore list (${value} in jail ${jail})`,
    }
  }

  const apply = async (): Promise<{ held: Held; mended: boolean; changed: boolean }> => {
    const done = await applyNow().catch((error: unknown) => ({
      held: { entries: 0, error: errorText(error) },
      mended: false,
    }))
    const changed = done.held.entries !== held.entries || done.held.error !== held.error
    held = done.held
    return { ...done, changed }
  }

  return {
    version: (): string => store.version(),
    covers: touches,
    held: (): Held => held,
    listed: (): Addresses | null => listed?.addresses ?? null,
    take(text: string, version: string, count: number): void {
      const entries = parseList(text, count, needs.limits())
      const wide = needs.approvals()?.unapproved(entries, () => new Set(parseList(store.text() ?? '', 0, null))) ?? null
      if (wide !== null)
        throw new Error(
          `${wide} in the whitelist is a wide range that no operator approved on this host: the list is refused as a whole`,
        )
      needs.approvals()?.followList(entries)
      store.putList(text, version)
      if (retired === null) retired = new Set(whitelistValues(readText(file) ?? ''))
      taken += 1
      const before = wanted()
      listed = { addresses: collapse(entries), count: entries.length }
      const now = new Set(wanted())
      for (const value of before) if (!now.has(value)) retired.add(value)
    },
    apply: (): Promise<Held> => inTurn(async () => (await apply()).held),
    async look(touched: boolean): Promise<void> {
      const due = touched || performance.now() >= nextLook || config.mark() !== persistedMark
      if (listed === null || !due) return
      await inTurn(async () => {
        const { mended, changed } = await apply()
        if (touched || mended || changed) needs.onHeld()
      })
    },
    met(jail: string, ip: string, acted: boolean): void {
      if (!touches(ip)) return
      if (acted) void liftNow(jail, ip)
      else liftSoon(jail, ip)
    },
    stop(): void {
      for (const timer of waiting.values()) clearTimeout(timer)
      waiting.clear()
    },
  }
}

const canonicalOf = (value: string): string => canonicalIp(value) ?? value

/** What of the wanted is not among the values that fail2ban has. */
const lacking = (want: ReadonlySet<string>, values: readonly string[]): string[] => {
  const has = new Set(values.map(value => (want.has(value) ? value : canonicalOf(value))))
  return [...want].filter(value => !has.has(value))
}
