import type { Knock } from '../knock/knock.ts'
import type { Mover } from '../move/mover.ts'
import type { Log } from '../log.ts'
import { errorText } from '../text.ts'
import { ServerError } from '../transport.ts'
import type { Store } from '../whitelist/store.ts'
import { notApplied } from '../whitelist/whitelist.ts'
import type { Whitelist } from '../whitelist/whitelist.ts'
import type { Lists } from '../shield/lists.ts'
import type { FleetBans } from '../shield/fleet-bans.ts'
import type { DesiredState, Offer, Wire } from '../wire.ts'
import { createAcknowledging } from './acknowledging.ts'
import type { Carrier } from './carrier.ts'
import { createLoop } from './loop.ts'
import { createOffers } from './offers.ts'
import type { Loop, LoopNeeds } from './loop.ts'
import { fetchList } from './whitelist-fetch.ts'

const idleWait = 60_000
/** Before the next try with a server that is older than this agent and keeps no desired state. */
const olderServerWait = 300_000

export interface StateLoop extends Loop {
  /** The version that is reached or being worked on; null before the first. */
  version(): string | null
  /** The server wants this version; null: it does not say. `offer`: what it said of that state already. */
  want(version: string | null, offer?: Offer | null): void
  /** The report on port knocking has changed. */
  knocksChanged(): void
  /** What is in force has changed or was repaired, so the server should hear of it again. */
  again(): void
  /** Compares with the server what the host holds, and reports it. */
  verify(): void
}

interface Fetched {
  readonly state: DesiredState
  /** Port knocking or fleet bans have changed. */
  readonly isNews: boolean
}

interface StateNeeds extends LoopNeeds {
  wire: Wire
  store: Store
  whitelist: Whitelist
  knock: Pick<Knock, 'take' | 'holds' | 'report' | 'followWhitelist' | 'even'>
  fleet: Pick<FleetBans, 'take' | 'report' | 'version'>
  lists: Pick<Lists, 'want' | 'report' | 'isUsed'>
  mover: Pick<Mover, 'want' | 'report'>
  carrier: Pick<Carrier, 'load'>
  random?: () => number
  log: Log
}

/**
 * Brings the host to the state that the server wants, and reports what was reached, as read back from fail2ban. Port
 * knocking comes first and is reported at once: somebody waits for a port, while a long whitelist takes its time.
 */
export const createStateLoop = (needs: StateNeeds): StateLoop => {
  const { wire, store, whitelist, knock, fleet, lists, mover, log } = needs
  /** What the server wants, as far as it said. */
  let desired = store.state()
  let mustReport = false
  /** The list that was in force everywhere when that was last checked; the one on the disk may be newer. */
  let appliedList = whitelist.version()
  /** The list of the wanted state is not in force yet, or bringing it there has failed. */
  let isListDue = false
  let isApplying = false
  /** The state whose port knocking was taken over. */
  let knockVersion = knock.holds(desired) ? desired : null
  /** The last run may have died between an opening and its note, so the first state is fetched in any case. */
  let isUnsure = knockVersion !== null || (desired !== null && (fleet.version() > 0 || lists.isUsed()))
  /** Why the fleet bans of the last state were not taken over. Everything else goes on meanwhile. */
  let fleetError: unknown = null
  let isOvertaking = false
  const offers = createOffers()
  const acknowledge = createAcknowledging({ ...needs, onLost: () => reportAgain() })
  const takeFleet = async (state: DesiredState): Promise<boolean> => {
    try {
      fleetError = null
      return await fleet.take(state.fleetBans)
    } catch (error) {
      fleetError = error
      isUnsure = true
      return false
    }
  }

  /** Fetches the state and takes over its port knocking and its fleet bans. Null when it still is the `known` one. */
  const fetchState = async (known: string | null): Promise<Fetched | null> => {
    const askedAt = knock.even()
    const state = offers.state(desired) ?? (await wire.state(knock.holds(known) ? known : null))
    if (state === null) return null
    const isNewKnock = await knock.take(state.portknock, state.version, askedAt)
    knockVersion = state.version
    // Beside this loop: a long list must not hold up a ban.
    lists.want(state.lists)
    mover.want(state.move)
    const isNewFleet = await takeFleet(state)
    return { state, isNews: isNewKnock || isNewFleet }
  }

  // oxlint-disable-next-line complexity -- each condition guards one way to miss a version
  const reachState = async (): Promise<void> => {
    const storedState = store.state()
    const target = desired
    if (target === null || (target === storedState && !isUnsure)) return
    const fetched = await fetchState(isUnsure ? null : storedState)
    if (fleetError === null) isUnsure = false
    if (fetched === null || fetched.state.version === storedState) {
      if (desired === target) desired = storedState
      if (fetched !== null) mustReport = true
      return
    }
    const { state, isNews } = fetched
    // The list is looked after all the time, so it needs no attention where only the rest changed.
    const isListHeld =
      storedState !== null && state.whitelist.version === whitelist.version() && whitelist.held().error !== notApplied
    if (isListDue || !isListHeld || !isNews) {
      isListDue = true
      if (isNews) void reportEarly()
      await reachList(state)
      isListDue = false
    } else store.putState(state.version)
    if (desired === target) desired = store.state()
    mustReport = true
  }

  const reachList = async (state: DesiredState): Promise<void> => {
    isApplying = true
    try {
      const newest = await fetchList({ ...needs, offers }, state, async () => (await fetchState(null))?.state ?? null)
      await whitelist.apply()
      appliedList = whitelist.version()
      store.putState(newest.version)
    } catch (error) {
      if (!(error instanceof ServerError)) {
        const { entries } = whitelist.held()
        await acknowledge(state.version, whitelist.version(), { entries, error: errorText(error) })
      }
      throw error
    } finally {
      isApplying = false
    }
  }

  /** Reports all but the list while that is being applied; of the list only what was reported before. */
  const reportEarly = async (): Promise<void> => {
    const report = knock.report()
    const hasKnocks = report !== undefined && report.sequences.length + report.openings.length > 0
    if (knockVersion === null || !(hasKnocks || fleet.version() > 0)) return
    const { entries, error } = whitelist.held()
    const isUnknown = error === notApplied
    await acknowledge(knockVersion, isUnknown ? '' : appliedList, { entries, error: isUnknown ? null : error }).catch(
      (error: unknown) => {
        log.debug(`what is in force is reported later: ${errorText(error)}`)
        mustReport = true
      },
    )
  }

  /** Takes over the port knocking of newer states while a list is being applied. */
  const overtakeList = async (): Promise<void> => {
    if (isOvertaking) return
    isOvertaking = true
    try {
      for (let target = desired; isApplying && target !== null && target !== knockVersion; target = desired) {
        if ((await fetchState(knockVersion)) === null) break
        await reportEarly()
      }
    } catch (error) {
      log.debug(`newer states of port knocking have to wait: ${errorText(error)}`)
    } finally {
      isOvertaking = false
    }
  }

  const reportState = async (): Promise<void> => {
    const version = store.state()
    if (!mustReport || version === null) return
    mustReport = false
    try {
      await acknowledge(version, whitelist.version())
    } catch (error) {
      mustReport = true
      throw error
    }
  }

  const loop = createLoop({
    ...needs,
    speaker: 'other',
    async turn() {
      await reachState()
      await reportState()
      if (fleetError !== null) throw fleetError
      const version = store.state()
      // Before the first state there is nothing to report on, and a turn that only looks must not follow another one at once.
      return desired === version && (!mustReport || version === null) ? idleWait : 0
    },
    onFailure(error) {
      if (!(error instanceof ServerError)) log.warn(`the desired state is not reached: ${errorText(error)}`)
      else if (error.status !== 404) needs.link.bad(error, 'other')
      else {
        log.debug('the server does not keep a desired state')
        desired = store.state()
        return olderServerWait
      }
      return undefined
    },
  })

  const reportAgain = (): void => {
    mustReport = true
    loop.wake()
  }

  return {
    ...loop,
    version: () => desired,
    want(version, offer = null) {
      if (version === null || version === desired) return
      offers.put(offer)
      desired = version
      if (isApplying) void overtakeList()
      loop.wake()
    },
    knocksChanged() {
      if (isApplying) void reportEarly()
      else reportAgain()
    },
    again: reportAgain,
    verify() {
      isUnsure = true
      loop.wake()
    },
  }
}
