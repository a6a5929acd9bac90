import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { pause } from '../schedule.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Wire } from '../wire.ts'
import type { ListReport } from './list-report.ts'
import type { DesiredList, HeldList, ListStore } from './list-store.ts'
import type { Shield } from './model.ts'
import { listChain } from './rules.ts'

/** Packets that matched a list since this host holds it. */
export interface ListPackets {
  readonly id: number
  readonly packets: number
}

export interface Lists {
  /** The server wants these lists; null from a server that knows no lists. Work goes on beside the caller. */
  want(lists: readonly DesiredList[] | null): void
  /** Null while no server ever spoke of lists. */
  report(): Promise<readonly ListReport[] | null>
  /** Whether the host holds any list. */
  isUsed(): boolean
  /** Tries again what failed, after a wait that grows. */
  tick(): Promise<void>
  /** Reads the counters. */
  count(): Promise<void>
  /** Counts that the server has not been told. */
  changed(): readonly ListPackets[]
  told(packets: readonly ListPackets[]): void
  /** Resolves when everything that is wanted was tried. */
  settled(): Promise<void>
}

/** Lists with more entries are fetched at a random moment of this many milliseconds, so that not all hosts fetch at once. */
const manyEntries = 5000
const spread = 20_000
const trialTime = 60_000
const trialRetry = 1000
const maxReason = 500
/** The wait before what failed is tried again, doubled with each failure. */
const retryFirst = 5000
const retryMost = 60_000

const isSame = (a: DesiredList, b: DesiredList): boolean => a.version === b.version && a.digest === b.digest

export const createLists = (needs: {
  store: ListStore
  shield: Pick<Shield, 'isOn' | 'followLists' | 'holdsList' | 'listed'>
  wire: Pick<Wire, 'list' | 'answers'>
  /** What is reported has changed without a new state. */
  onHeld: () => void
  steadyNow: () => number
  signal: AbortSignal
  log: Log
  random?: () => number
}): Lists => {
  const { store, shield, wire, log } = needs
  const random = needs.random ?? Math.random
  const inTurn = createSerial()
  const trouble = createOnce(log.warn)
  let wanted: readonly DesiredList[] | null = null
  const failures = new Map<number, string>()
  let working: Promise<void> = Promise.resolve()
  let retryWait = retryFirst
  let retryAt = 0
  /** The kernel refused the last change, so that the disk does not say what it holds. */
  let isUnsure = false
  const lastRead = new Map<number, number>()
  const sums = new Map<number, number>()
  const toldSums = new Map<number, number>()

  const fetchOne = async (desired: DesiredList): Promise<HeldList> => {
    if (desired.entries > manyEntries) await pause(random() * spread, needs.signal)
    const fresh = await wire.list(desired.id)
    if (fresh === null || fresh.version !== String(desired.version)) throw new Error('the list changed meanwhile')
    return store.prepare(desired, fresh.text)
  }
  /** The list as it is wanted; the one before where it cannot be had; null without either. */
  const nextOf = async (desired: DesiredList): Promise<HeldList | null> => {
    const held = store.lists().find(({ id }) => id === desired.id)
    if (held && isSame(held, desired)) {
      failures.delete(desired.id)
      return { ...held, mode: desired.mode }
    }
    try {
      const next = await fetchOne(desired)
      failures.delete(desired.id)
      return next
    } catch (error) {
      failures.set(desired.id, errorText(error).slice(0, maxReason))
      return held ? { ...held, mode: desired.mode } : null
    }
  }
  const isAsWanted = (): boolean => {
    const held = store.lists()
    return (
      failures.size === 0 &&
      !isUnsure &&
      held.length === (wanted ?? []).length &&
      (wanted ?? []).every(list =>
        held.some(
          ({ id, mode, ...rest }) => id === list.id && mode === list.mode && isSame({ id, mode, ...rest }, list),
        ),
      )
    )
  }
  /** Answers whether the server is reachable over a new connection. */
  const passTrial = async (): Promise<boolean> => {
    const deadline = needs.steadyNow() + trialTime
    while (!needs.signal.aborted && needs.steadyNow() < deadline) {
      if (await wire.answers().catch(() => false)) return true
      await pause(trialRetry, needs.signal)
    }
    return needs.signal.aborted
  }

  const work = async (): Promise<void> => {
    const desired = wanted
    if (desired === null || isAsWanted()) return
    const before = new Map(store.lists().map(list => [list.id, list]))
    const next: HeldList[] = []
    for (const list of desired) {
      const held = await nextOf(list)
      if (held) next.push(held)
    }
    // Another state came meanwhile, and its work follows.
    if (desired !== wanted) return
    try {
      isUnsure = true
      await shield.followLists(() => store.put(next))
      isUnsure = false
      const isNew = ({ id, version, mode }: HeldList) =>
        mode === 'enforce' && (before.get(id)?.version !== version || before.get(id)?.mode !== 'enforce')
      const tried = next.filter(isNew)
      if (tried.length > 0 && shield.isOn() && !(await passTrial())) {
        await shield.followLists(() => store.put(next.filter(list => !isNew(list))))
        for (const { id } of tried) failures.set(id, 'the server could not be reached while the list was in force')
      }
      trouble.over()
    } catch (error) {
      for (const { id } of desired) failures.set(id, errorText(error).slice(0, maxReason))
      trouble.tell(`shield: blocklists are not in force: ${errorText(error)}`)
    }
    if (failures.size > 0 || isUnsure) {
      retryAt = needs.steadyNow() + retryWait
      retryWait = Math.min(retryMost, retryWait * 2)
    }
    needs.onHeld()
  }
  const start = (): void => {
    working = inTurn(work).catch((error: unknown) => log.warn(`shield: blocklists: ${errorText(error)}`))
  }

  return {
    want(lists) {
      wanted = lists
      failures.clear()
      retryWait = retryFirst
      // In its turn, also when all is as wanted now: work on an earlier state may be about to replace it.
      if (lists !== null) start()
    },
    async report() {
      if (wanted === null) return null
      const lists = wanted
      // Not queued: a list that is being fetched must not delay reports about bans.
      return Promise.all(
        lists.map(async ({ id, version, mode, digest }): Promise<ListReport> => {
          const held = store.lists().find(list => list.id === id)
          const error = failures.get(id) ?? null
          if (held === undefined) return { id, version: error === null ? 0 : version, mode, digest, held: 0, error }
          const isHeld = await shield.holdsList(held)
          const report = {
            id,
            version: error === null ? held.version : version,
            mode: held.mode,
            digest: held.digest,
          }
          const missing = isHeld ? null : 'the kernel does not hold the list'
          return { ...report, held: isHeld ? held.entries : 0, error: error ?? missing }
        }),
      )
    },
    isUsed: () => store.lists().length > 0,
    async tick() {
      if ((failures.size === 0 && !isUnsure) || needs.steadyNow() < retryAt) return
      start()
      await working
    },
    async count() {
      const counted = shield.listed()
      if (counted === null) return
      for (const { id } of store.lists()) {
        const now = counted.get(listChain(id)) ?? 0
        const before = lastRead.get(id) ?? 0
        lastRead.set(id, now)
        // A smaller count: the rules were replaced.
        const added = now >= before ? now - before : now
        if (added > 0) sums.set(id, (sums.get(id) ?? 0) + added)
      }
    },
    changed: () =>
      [...sums].flatMap(([id, packets]) => (toldSums.get(id) === packets ? [] : [{ id, packets }])).slice(0, 50),
    told(packets) {
      for (const { id, packets: n } of packets) toldSums.set(id, n)
    },
    settled: () => working,
  }
}
