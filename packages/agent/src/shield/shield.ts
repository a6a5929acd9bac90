import { createSteps } from '../clock.ts'
import { removeDurably, writeDurably } from '../files.ts'
import type { Log } from '../log.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import { createBatches } from './batches.ts'
import { createDrift } from './drift.ts'
import type { Kernel } from './kernel.ts'
import type { Shield } from './model.ts'
import { needsTrial, refuseMore } from './refusals.ts'
import type { Mode } from './rules.ts'
import { createServerTime } from './server-time.ts'
import { readShieldFile, writeShieldFile } from './store.ts'
import type { ShieldBan } from './store.ts'
import type { HeldList } from './list-store.ts'
import { laterEnd } from './fleet-store.ts'
import { coversEntry, createTable, placeOf } from './table.ts'
import type { ShieldTable, Wanted } from './table.ts'
import { createWatch } from './watch.ts'

export type { MovedBan, Shield, ShieldReport } from './model.ts'
export type { ShieldBan } from './store.ts'

/** A ban on trial ends by itself after this time. */
const trialTime = 60_000
const trialRetry = 1000
/** The kernel ends the ban of a test by itself, in case the agent dies meanwhile. */
const testTime = 60_000
const slowLookEvery = 60_000
/** A first start may only have met another program; a kernel without nftables does not change. */
const firstRetry = 1000
const slowestRetry = 600_000
/** As the interface bounds it. */
const maxReason = 300
/** How much earlier than ordered the kernel may end a ban: its clock and the server's differ a little. */
const endTolerance = 5000
/** A transaction of this many elements takes the event loop about 20 ms. */
const portion = 5000
/** The kernel refuses times of some thousand years. */
const maxTimeout = 3650 * 86_400_000

export const createShield = (needs: {
  file: string
  /** The table for a start of the host at which Node.js is missing. */
  fallbackFile: string
  /** The driver of this host. */
  kernel: Kernel
  /** Entries that another origin bans, with their ends in the server's time; null: without an end. */
  beside: () => ReadonlyMap<string, number | null>
  /** The blocklists of this host. */
  lists?: () => readonly HeldList[]
  /** What the table must never drop. */
  kept: () => readonly string[]
  /** Whether the whitelist covers an address or some address of the range. */
  isWhitelisted: (entry: string) => boolean
  /** How many connections the kernel tracks; 0 while it tracks none. */
  trackedConnections: () => number
  /** Whether the server answers a request over a new connection. */
  answers: () => Promise<boolean>
  /** The server's clock minus ours, milliseconds; null before it has answered. */
  clockOffset: () => number | null
  /** Whether a ban of that entry and second was reported. */
  isReported: (entry: string, bannedAt: number) => boolean
  /** These bans are in force. Called again after a restart. */
  onBanned: (bans: readonly ShieldBan[]) => void
  /** A ban is over, at that time on the host's clock. Called again after a restart. */
  onEnded: (ban: ShieldBan, at: number) => void
  now: () => number
  /** As the kernel's timers: it stands still while the host is suspended, and `bootNow` goes on. Nobody sets either of them. */
  steadyNow: () => number
  bootNow: () => number
  log: Log
}): Shield => {
  const { kernel, now, log } = needs
  const inTurn = createSerial()
  const saved = readShieldFile(needs.file)
  const bans = new Map(saved.bans.filter(({ isOnTrial }) => !isOnTrial).map(ban => [ban.entry, ban]))
  let { offUntil, hasMoved } = saved
  let reason: string | null = 'it was not tried yet'
  let isSupported = false
  let isUnsaved = false
  let isFallbackOld = true
  let isStopped = false
  let slowLookAt = 0
  let retryDelay = firstRetry

  const clocks = { now, steadyNow: needs.bootNow, clockOffset: needs.clockOffset }
  const serverNow = createServerTime(clocks, saved)
  const steps = createSteps(clocks)
  const drift = createDrift({ serverNow, steadyNow: needs.steadyNow })
  const timeLeft = ({ until, isOnTrial }: Pick<ShieldBan, 'until' | 'isOnTrial'>): number | null => {
    if (isOnTrial) return trialTime
    return until === null ? null : Math.min(maxTimeout, Math.max(1, Math.round(until - serverNow())))
  }
  /** Of two origins that ban an entry the later end counts. */
  const wantedOf = (ban: ShieldBan): Wanted => {
    const other = ban.isOnTrial ? undefined : needs.beside().get(ban.entry)
    return {
      entry: ban.entry,
      timeout: timeLeft(other === undefined ? ban : { ...ban, until: laterEnd(ban.until, other) }),
      isCut: ban.isCut,
    }
  }
  const wantedBeside = (entry: string): Wanted[] => {
    const until = needs.beside().get(entry)
    return until === undefined || (until !== null && until <= serverNow())
      ? []
      : [{ entry, timeout: timeLeft({ until, isOnTrial: false }) }]
  }
  /** What the kernel should hold of an entry; empty: nothing. */
  const wantedNow = (entry: string): Wanted[] => {
    const ban = bans.get(entry)
    return ban === undefined || isOver(ban) ? wantedBeside(entry) : [wantedOf(ban)]
  }
  const isOver = ({ until }: ShieldBan): boolean => until !== null && until <= serverNow()

  const modeNow = (): Mode => (needs.trackedConnections() > 0 ? 'stateful' : 'stateless')
  const table: ShieldTable = createTable({
    kernel,
    wanted: () => [...new Set([...bans.keys(), ...needs.beside().keys()])].flatMap(wantedNow),
    kept: needs.kept,
    mode: modeNow(),
    ...(needs.lists ? { lists: needs.lists } : {}),
  })
  const isOn = (): boolean => isSupported && offUntil === undefined

  const save = (): void => {
    const savedAt = serverNow()
    const file = { savedAt, offset: savedAt - now(), offUntil, bans: [...bans.values()], hasMoved }
    writeShieldFile(needs.file, file)
    isUnsaved = false
    isFallbackOld = true
  }
  const saveFallback = (): void => {
    if (!isFallbackOld || !isSupported) return
    if (isOn()) writeDurably(needs.fallbackFile, table.script(now()))
    else removeDurably(needs.fallbackFile)
    isFallbackOld = false
  }
  /** A ban, or the entry of a ban to lift. */
  type Change = ShieldBan | string
  /** The disk first, then the kernel, then the proof. @throws Error, with everything as it was before */
  const apply = async (changes: readonly Change[]): Promise<void> => {
    const entries = changes.map(change => (typeof change === 'string' ? change : change.entry))
    const before = entries.map(entry => [entry, bans.get(entry)] as const)
    const added = changes.filter(change => typeof change !== 'string')
    try {
      for (const change of changes) {
        if (typeof change === 'string') bans.delete(change)
        else bans.set(change.entry, change)
      }
      save()
      if (!isOn()) return
      await table.change(
        entries.flatMap(wantedNow),
        entries.filter(entry => wantedNow(entry).length === 0),
      )
      for (const { entry } of added)
        if ((await table.find(entry)) === null)
          throw new Error(`the kernel took the ban of ${entry}, but does not hold it`)
      needs.onBanned(added.filter(({ isOnTrial }) => !isOnTrial))
    } catch (error) {
      for (const [entry, ban] of before) {
        if (ban === undefined) bans.delete(entry)
        else bans.set(entry, ban)
      }
      save()
      throw error
    }
  }
  const submit = createBatches<Change>(inTurn, apply)

  /** @throws Error if the host cannot reach the server with the ban in force; the ban is lifted then */
  const passTrial = async (entry: string): Promise<void> => {
    const deadline = needs.steadyNow() + trialTime
    while (!isStopped && needs.steadyNow() < deadline) {
      if (await needs.answers().catch(() => false)) return
      await new Promise(resolve => setTimeout(resolve, trialRetry))
    }
    await submit(entry)
    throw new Error(`the server could not be reached while ${entry} was banned, so the ban was lifted`)
  }

  const endExpired = (): void => {
    const offset = serverNow() - now()
    for (const ban of [...bans.values()].filter(isOver)) {
      bans.delete(ban.entry)
      isUnsaved = true
      needs.onEnded(ban, (ban.until ?? 0) - offset)
    }
  }

  const lift = async (entry: string): Promise<boolean> => {
    const ban = bans.get(entry)
    if (ban === undefined) return false
    await submit(entry)
    needs.onEnded(ban, now())
    return true
  }

  const liftWhitelisted = async (): Promise<void> => {
    for (const { entry } of [...bans.values()].filter(ban => needs.isWhitelisted(ban.entry))) {
      await lift(entry)
      log.info(`shield: lifted the ban of ${entry}: whitelisted`)
    }
  }

  const watch = createWatch({
    kernel,
    table,
    drift,
    banCount: () => bans.size,
    isTracking: () => modeNow() === 'stateful',
    now,
    steadyNow: needs.steadyNow,
    log,
  })

  const start = async (): Promise<void> => {
    try {
      if (offUntil === undefined) await watch.load()
      else await kernel.remove()
      isSupported = true
      reason = null
    } catch (error) {
      isSupported = false
      reason = errorText(error).slice(0, maxReason)
      log.info(`shield: not supported on this host: ${reason}`)
      return
    }
    needs.onBanned([...bans.values()])
    endExpired()
    log.info(
      `shield: ${offUntil === undefined ? `in force with ${bans.size} bans` : 'switched off'}, ${kernel.driver}, ${table.mode()}`,
    )
  }

  const setOff = (until: number | null | undefined): Promise<void> =>
    inTurn(async () => {
      offUntil = until
      save()
      if (!isSupported) return
      if (until === undefined) await watch.load()
      else await kernel.remove()
      saveFallback()
      log.warn(`shield: switched ${until === undefined ? 'on' : 'off'}`)
    })

  return {
    start: () => inTurn(start),
    report: () => ({
      supported: isSupported,
      mode: isSupported ? table.mode() : null,
      owned: isSupported && kernel.isOwned(),
      driver: isSupported ? kernel.driver : null,
      reason,
    }),
    health() {
      const isOff = offUntil !== undefined
      const { damage, repairs, lastRepairAt } = watch.state()
      const detail = isSupported ? (isOff ? 'the shield is switched off' : damage) : reason
      return { isWhole: isSupported && !isOff && damage === null, detail, repairs, lastRepairAt }
    },
    isOn,
    offUntil: () => offUntil,
    holds: entry =>
      isOn()
        ? inTurn(async () => !(await table.isKept(entry)) && (await table.find(entry)) !== null)
        : Promise.resolve(false),
    async ban({ entry, duration, commandId, isCut }) {
      if (!isOn())
        throw new Error(`the shield is ${isSupported ? 'switched off on this host' : `not supported: ${reason}`}`)
      const until = duration < 0 ? null : serverNow() + duration * 1000
      const before = bans.get(entry)
      if (before === undefined) refuseMore(bans.size)
      let bannedAt = before?.bannedAt ?? Math.floor(now() / 1000)
      // The time is part of the id of the report.
      while (before === undefined && needs.isReported(entry, bannedAt)) bannedAt += 1
      const ban: ShieldBan = { entry, until, bannedAt, duration, commandId, isOnTrial: false, isCut }
      if (needsTrial(entry) && before === undefined) {
        await submit({ ...ban, isOnTrial: true })
        await passTrial(entry)
      }
      await submit(ban)
      return before !== undefined
    },
    async adopt(moved) {
      const offset = serverNow() - now()
      await Promise.all(
        moved
          .filter(({ entry }) => !bans.has(entry))
          .map(ban =>
            submit({
              ...ban,
              until: ban.until === null ? null : ban.until + offset,
              commandId: null,
              isOnTrial: false,
              isCut: false,
            }),
          ),
      )
    },
    hasMoved: () => hasMoved,
    markMoved() {
      hasMoved = true
      save()
    },
    lift,
    async release(entry) {
      const found = [...bans.keys()].filter(banned => coversEntry(banned, entry))
      for (const banned of found) await lift(banned)
      return found
    },
    follow: (change, onTrial = []) =>
      inTurn(async () => {
        const entries = change()
        if (!isOn() || entries.length + onTrial.length === 0) return
        isFallbackOld = true
        const tried = onTrial.map(entry => ({ entry, timeout: trialTime }))
        for (let at = 0; at < entries.length; at += portion) {
          const some = entries.slice(at, at + portion)
          await table.change(
            some.flatMap(wantedNow),
            some.filter(entry => wantedNow(entry).length === 0),
          )
        }
        if (tried.length > 0) await table.change(tried, [])
      }),
    followLists: change =>
      inTurn(async () => {
        change()
        if (!isOn()) return
        isFallbackOld = true
        await table.takeLists()
      }),
    holdsList: list => inTurn(async () => isOn() && table.holdsList(list)),
    listed: () => (isOn() ? kernel.listed() : null),
    endsInKernel: wanted =>
      inTurn(async () => {
        const elements = await table.elements()
        const now = serverNow()
        const isHeld = (entry: string, until: number | null): boolean => {
          if (until !== null && until <= now + endTolerance) return true
          const left = elements.get(placeOf(entry))
          if (left === undefined || left === null) return left === null
          return left >= Math.min(maxTimeout, until === null ? Infinity : until - now) - endTolerance
        }
        return new Map([...wanted].filter(([entry, until]) => isHeld(entry, until)))
      }),
    bans: () => [...bans.values()],
    has: entry => bans.has(entry),
    coveredBy: entry => [...bans.keys()].find(banned => banned !== entry && coversEntry(banned, entry)) ?? null,
    async followKept() {
      if (!isOn()) return
      await watch.guarded(() =>
        inTurn(async () => {
          await table.keep()
          isFallbackOld = true
        }),
      )
      await watch.guarded(liftWhitelisted)
    },
    look: () => watch.guarded(() => inTurn(async () => (isOn() ? watch.look() : undefined))),
    async tick() {
      endExpired()
      const step = steps.take()
      if (typeof offUntil === 'number') offUntil += step
      if (typeof offUntil === 'number' && offUntil <= now()) await watch.guarded(() => setOff(undefined))
      if (needs.steadyNow() < slowLookAt) return
      slowLookAt = needs.steadyNow() + (isSupported ? slowLookEvery : retryDelay)
      if (isUnsaved) save()
      if (!isSupported) {
        retryDelay = Math.min(slowestRetry, retryDelay * 2)
        await inTurn(start)
      } else if (isOn()) await watch.guarded(() => inTurn(watch.lookSlowly))
      saveFallback()
    },
    testBan: {
      whyNot: () => (isOn() ? null : isSupported ? 'the shield is switched off' : reason),
      isKept: entry => inTurn(() => table.isKept(entry)),
      hold: entry => inTurn(() => table.change([{ entry, timeout: testTime }], [])),
      stopped: entry =>
        inTurn(async () => {
          const found = await table.find(entry)
          if (found === null) throw new Error(`the kernel does not hold the ban of ${entry}`)
          return found.packets
        }),
      release: entry => inTurn(() => table.change([], [entry])),
    },
    allDropped: () => (isOn() ? kernel.dropped() : null),
    droppedFrom: entry => inTurn(async () => (isOn() ? ((await table.find(entry))?.packets ?? null) : null)),
    turnOff: until => setOff(until),
    turnOn: () => setOff(undefined),
    stop() {
      isStopped = true
      if (isUnsaved) save()
      saveFallback()
    },
  }
}
