import { createSteps } from '../clock.ts'
import type { Log } from '../log.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import { createDisk } from './disk.ts'
import { createDrift } from './drift.ts'
import { createFollowing } from './following.ts'
import type { Kernel } from './kernel.ts'
import type { Shield } from './model.ts'
import { createOrders } from './orders.ts'
import { createReading } from './reading.ts'
import type { Mode } from './rules.ts'
import { createServerTime } from './server-time.ts'
import { readShieldFile } from './store.ts'
import type { ShieldBan } from './store.ts'
import type { HeldList } from './list-store.ts'
import { createTable } from './table.ts'
import { createWanted } from './wanted.ts'
import { createWatch } from './watch.ts'

export type { MovedBan, Shield, ShieldReport } from './model.ts'
export type { ShieldBan } from './store.ts'

const slowLookEvery = 60_000
/** A first start may only have met another program; a kernel without nftables does not change. */
const firstRetry = 1000
const slowestRetry = 600_000
/** As the interface bounds it. */
const maxReason = 300
interface ShieldNeeds {
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
}

/** The files, the table in the kernel and the clocks that belong together. */
const openParts = (needs: ShieldNeeds, isSupported: () => boolean) => {
  const { kernel, now, steadyNow, log } = needs
  const saved = readShieldFile(needs.file)
  const bans = new Map(saved.bans.filter(({ isOnTrial }) => !isOnTrial).map(ban => [ban.entry, ban]))
  const clocks = { now, steadyNow: needs.bootNow, clockOffset: needs.clockOffset }
  const serverNow = createServerTime(clocks, saved)
  const desired = createWanted({ bans, beside: needs.beside, serverNow })
  const modeNow = (): Mode => (needs.trackedConnections() > 0 ? 'stateful' : 'stateless')
  const table = createTable({
    kernel,
    wanted: desired.all,
    kept: needs.kept,
    mode: modeNow(),
    ...(needs.lists ? { lists: needs.lists } : {}),
  })
  const disk = createDisk({ ...needs, saved, bans, serverNow, isSupported, script: () => table.script(now()) })
  const watch = createWatch({
    kernel,
    table,
    drift: createDrift({ serverNow, steadyNow }),
    banCount: () => bans.size,
    isTracking: () => modeNow() === 'stateful',
    now,
    steadyNow,
    log,
  })
  return {
    bans,
    kernel,
    table,
    disk,
    wanted: desired,
    watch,
    serverNow,
    steps: createSteps(clocks),
    inTurn: createSerial(),
  }
}

export const createShield = (needs: ShieldNeeds): Shield => {
  const { kernel, now, log } = needs
  let reason: string | null = 'it was not tried yet'
  let isSupported = false
  let isStopped = false
  let slowLookAt = 0
  let retryDelay = firstRetry

  const parts = openParts(needs, () => isSupported)
  const { bans, disk, inTurn, steps, table, watch } = parts
  const isOn = (): boolean => isSupported && disk.offUntil === undefined
  const orders = createOrders({
    ...needs,
    ...parts,
    isOn,
    isStopped: () => isStopped,
    whyOff: () => (isSupported ? 'switched off on this host' : `not supported: ${reason}`),
  })

  const start = async (): Promise<void> => {
    try {
      if (disk.offUntil === undefined) await watch.load()
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
    orders.endExpired()
    log.info(
      `shield: ${disk.offUntil === undefined ? `in force with ${bans.size} bans` : 'switched off'}, ${kernel.driver}, ${table.mode()}`,
    )
  }

  const setOff = (until: number | null | undefined): Promise<void> =>
    inTurn(async () => {
      disk.offUntil = until
      disk.save()
      if (!isSupported) return
      if (until === undefined) await watch.load()
      else await kernel.remove()
      disk.saveFallback()
      log.warn(`shield: switched ${until === undefined ? 'on' : 'off'}`)
    })

  const reading = createReading({ ...parts, isOn })

  return {
    ...createFollowing({ ...parts, isOn }),
    ...reading,
    ...orders.calls,
    testBan: {
      ...reading.testBan,
      whyNot: () => (isOn() ? null : isSupported ? 'the shield is switched off' : reason),
    },
    start: () => inTurn(start),
    report: () => ({
      supported: isSupported,
      mode: isSupported ? table.mode() : null,
      owned: isSupported && kernel.isOwned(),
      driver: isSupported ? kernel.driver : null,
      reason,
    }),
    health() {
      const isOff = disk.offUntil !== undefined
      const { damage, repairs, lastRepairAt } = watch.state()
      const detail = isSupported ? (isOff ? 'the shield is switched off' : damage) : reason
      return { isWhole: isSupported && !isOff && damage === null, detail, repairs, lastRepairAt }
    },
    isOn,
    offUntil: () => disk.offUntil,
    hasMoved: () => disk.hasMoved,
    markMoved() {
      disk.hasMoved = true
      disk.save()
    },
    async followKept() {
      if (!isOn()) return
      await watch.guarded(() =>
        inTurn(async () => {
          await table.keep()
          disk.isFallbackOld = true
        }),
      )
      await watch.guarded(orders.liftWhitelisted)
    },
    look: () => watch.guarded(() => inTurn(async () => (isOn() && !isStopped ? watch.look() : undefined))),
    async tick() {
      orders.endExpired()
      const step = steps.take()
      if (typeof disk.offUntil === 'number') disk.offUntil += step
      if (typeof disk.offUntil === 'number' && disk.offUntil <= now()) await watch.guarded(() => setOff(undefined))
      if (needs.steadyNow() < slowLookAt) return
      slowLookAt = needs.steadyNow() + (isSupported ? slowLookEvery : retryDelay)
      if (disk.isUnsaved) disk.save()
      if (!isSupported) {
        retryDelay = Math.min(slowestRetry, retryDelay * 2)
        await inTurn(start)
      } else if (isOn()) await watch.guarded(() => inTurn(async () => (isStopped ? undefined : watch.lookSlowly())))
      disk.saveFallback()
    },
    turnOff: until => setOff(until),
    turnOn: () => setOff(undefined),
    stop() {
      isStopped = true
      if (disk.isUnsaved) disk.save()
      disk.saveFallback()
    },
  }
}
