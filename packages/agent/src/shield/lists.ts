import { createOnce } from '../log.ts'
import type { Log } from '../log.ts'
import { pause } from '../schedule.ts'
import { createSerial } from '../serial.ts'
import { errorText } from '../text.ts'
import type { Wire } from '../wire.ts'
import type { BlocklistLimits } from '../policy/format.ts'
import { createListJudge } from './list-judge.ts'
import type { ListJudge } from './list-judge.ts'
import type { ListReport } from './list-report.ts'
import { heldEntries } from './list-store.ts'
import type { DesiredList, HeldList, ListStore } from './list-store.ts'
import type { Shield } from './model.ts'
import { contentOf } from './list-table.ts'
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
  /** Decides again what this host takes of the lists, after its owner or an operator changed what is allowed. */
  judgeAgain(): void
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

interface Failure {
  readonly reason: string
  /** The host does not take it: another try changes nothing before the wish or what is allowed does. */
  readonly isRefusal: boolean
}

const isHeldAs = (list: DesiredList, held: DesiredList | undefined): boolean =>
  held !== undefined && held.mode === list.mode && isSame(held, list)
/** What the host holds comes first, as it is wanted or in another version, so that nothing new takes its room. */
const inOrder = (desired: readonly DesiredList[], held: ReadonlyMap<number, HeldList>): DesiredList[] => {
  const rank = (list: DesiredList): number => (held.has(list.id) ? Number(!isHeldAs(list, held.get(list.id))) : 2)
  return [...desired].sort((a, b) => rank(a) - rank(b) || a.id - b.id)
}

const areInForce = (lists: readonly HeldList[], inForce: ReadonlyMap<number, HeldList>): boolean =>
  lists.length === inForce.size &&
  lists.every(list => {
    const heldList = inForce.get(list.id)
    return heldList?.mode === list.mode && isSame(heldList, list) && contentOf(heldList) === contentOf(list)
  })

export const createLists = (needs: {
  store: ListStore
  /** What the owner allows; null: no list. @throws Error if that cannot be read */
  limits: () => BlocklistLimits | null
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
  let desiredLists: readonly DesiredList[] | null = null
  const failures = new Map<number, Failure>()
  const fail = (id: number, reason: string, isRefusal = false): void =>
    void failures.set(id, { reason: reason.slice(0, maxReason), isRefusal })
  const hasFailed = (): boolean => [...failures.values()].some(({ isRefusal }) => !isRefusal)
  let mustJudge = false
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
  /** The list as it is wanted, not yet judged; null where it cannot be had. */
  const candidateOf = async (desired: DesiredList, held: HeldList | undefined): Promise<HeldList | null> => {
    if (held && isSame(held, desired)) return { ...held, mode: desired.mode }
    if (failures.get(desired.id)?.isRefusal === true) return null
    try {
      return await fetchOne(desired)
    } catch (error) {
      fail(desired.id, errorText(error))
      return null
    }
  }
  /** The list as it is wanted; the one before where that cannot be had or is not taken; null without either. */
  const nextOf = async (
    desired: DesiredList,
    held: HeldList | undefined,
    judge: ListJudge,
  ): Promise<HeldList | null> => {
    const candidate = await candidateOf(desired, held)
    const reason = candidate && judge.take(candidate, isHeldAs(candidate, held))
    if (candidate && reason === null) {
      failures.delete(desired.id)
      return candidate
    }
    if (reason !== null) fail(desired.id, reason, true)
    if (held === undefined || (candidate && isHeldAs(candidate, held))) return null
    // Where the new version cannot be had, the wish to only count, or to drop, is followed all the same.
    const before = [...(candidate === null ? [{ ...held, mode: desired.mode }] : []), held]
    return before.find(list => judge.take(list, isHeldAs(list, held)) === null) ?? null
  }
  const takenOf = async (desired: readonly DesiredList[], held: ReadonlyMap<number, HeldList>): Promise<HeldList[]> => {
    const judge = createListJudge(needs.limits)
    const takenLists: HeldList[] = []
    for (const list of inOrder(desired, held)) {
      const next = await nextOf(list, held.get(list.id), judge)
      if (next) takenLists.push(next)
    }
    return takenLists
  }
  const isAsWanted = (): boolean => {
    const heldLists = store.lists()
    const isSettled = (list: DesiredList): boolean =>
      failures.has(list.id) ||
      isHeldAs(
        list,
        heldLists.find(({ id }) => id === list.id),
      )
    return (
      !hasFailed() &&
      !isUnsure &&
      !mustJudge &&
      heldLists.every(({ id }) => desiredLists?.some(list => list.id === id)) &&
      (desiredLists ?? []).every(isSettled)
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

  /** Brings lists into the kernel. Those that are new there stay only if the server is reached with them. */
  const bring = async (next: readonly HeldList[], inForce: ReadonlyMap<number, HeldList>): Promise<void> => {
    isUnsure = true
    await shield.followLists(() => store.put(next))
    isUnsure = false
    const isNew = (list: HeldList): boolean => {
      const old = inForce.get(list.id)
      return list.mode === 'enforce' && (old?.mode !== 'enforce' || contentOf(old) !== contentOf(list))
    }
    const tried = next.filter(isNew)
    if (tried.length > 0 && shield.isOn() && !(await passTrial())) {
      await shield.followLists(() => store.put(next.filter(list => !isNew(list))))
      for (const { id } of tried) fail(id, 'the server could not be reached while the list was in force')
    }
  }

  const work = async (): Promise<void> => {
    const askedLists = desiredLists
    // Before the server has said anything, what is held is judged by itself.
    const desired = askedLists ?? (mustJudge ? store.lists() : null)
    if (desired === null || isAsWanted()) return
    mustJudge = false
    const inForce = new Map(store.lists().map(list => [list.id, list]))
    const before = new Map(store.listsAgain().map(list => [list.id, list]))
    const next = await takenOf(desired, before)
    // Another state came meanwhile, and its work follows.
    if (askedLists !== desiredLists || (failures.size === 0 && !isUnsure && areInForce(next, inForce))) return
    try {
      await bring(next, inForce)
      trouble.over()
    } catch (error) {
      for (const { id } of desired) fail(id, errorText(error))
      trouble.tell(`shield: blocklists are not in force: ${errorText(error)}`)
    }
    if (hasFailed() || isUnsure) {
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
      // What was refused is not fetched again because something else of the state has changed.
      const isNews = JSON.stringify(lists) !== JSON.stringify(desiredLists)
      for (const [id, { isRefusal }] of [...failures]) if (isNews || !isRefusal) failures.delete(id)
      desiredLists = lists
      retryWait = retryFirst
      // In its turn, also when all is as wanted now: work on an earlier state may be about to replace it.
      if (lists !== null) start()
    },
    async report() {
      if (desiredLists === null) return null
      const lists = desiredLists
      // Not queued: a list that is being fetched must not delay reports about bans.
      return Promise.all(
        lists.map(async ({ id, version, mode, digest }): Promise<ListReport> => {
          const heldList = store.lists().find(list => list.id === id)
          const error = failures.get(id)?.reason ?? null
          if (heldList === undefined) return { id, version: error === null ? 0 : version, mode, digest, held: 0, error }
          const isHeld = await shield.holdsList(heldList)
          const report = {
            id,
            version: error === null ? heldList.version : version,
            mode: heldList.mode,
            digest: heldList.digest,
          }
          const missing = isHeld ? heldList.leftOut : 'the kernel does not hold the list'
          return { ...report, held: isHeld ? heldEntries(heldList) : 0, error: error ?? missing }
        }),
      )
    },
    judgeAgain() {
      failures.clear()
      mustJudge = true
      start()
    },
    isUsed: () => store.lists().length > 0,
    async tick() {
      if ((!hasFailed() && !isUnsure) || needs.steadyNow() < retryAt) return
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
