import type { Log } from '../log.ts'
import { createBackoff, createNap } from '../schedule.ts'
import { ServerError } from '../transport.ts'
import type { Store } from '../whitelist/store.ts'
import type { Knock } from '../knock/knock.ts'
import { NOT_YET, type Whitelist } from '../whitelist/whitelist.ts'
import type { DesiredState, Wire } from '../wire.ts'
import { errorText } from '../text.ts'
import type { Link } from './link.ts'

const TRIES = 3
const OLDER_SERVER_WAIT = 300_000

/**
 * Brings the host to the state that the server wants, and tells what was reached, read back from fail2ban. Knocks come
 * first and are told of at once: somebody waits for a port to open, while a long whitelist takes its time.
 */
export function createStateLoop(needs: {
  wire: Wire
  link: Link
  store: Store
  whitelist: Whitelist
  knock: Pick<Knock, 'take' | 'holds' | 'report' | 'followWhitelist' | 'even'>
  signal: AbortSignal
  random?: () => number
  log: Log
}) {
  const { wire, store, whitelist, knock } = needs
  const random = needs.random ?? Math.random
  const nap = createNap()
  needs.link.onBack(nap.wake)
  /** What the server wants, as far as it said. */
  let wanted = store.state()
  /** What was reached last, and whether the server is to hear of it. */
  let tellAgain = false

  /** The list that was in force everywhere when that was last looked at; the one on the disk may be newer. */
  let applied = whitelist.version()
  /** A list is being fetched or applied, or that has failed. */
  let listDue = false
  let working = false
  /** The state whose knocks were taken over. */
  let learned = knock.holds(wanted) ? wanted : null
  let hurry: Promise<void> | null = null
  /** The end of the last run may have come between an opening and its note: the server knows better. */
  let unsure = learned !== null

  /** The state with its knocks taken over, and whether they are others; null when it still is the `known` one. */
  async function learn(known: string | null): Promise<{ state: DesiredState; news: boolean } | null> {
    const askedAt = knock.even()
    const state = await wire.state(knock.holds(known) ? known : null)
    if (state === null) return null
    const news = await knock.take(state.portknock, state.version, askedAt)
    learned = state.version
    return { state, news }
  }

  async function reach(): Promise<void> {
    const known = store.state()
    const asked = wanted
    if (asked === null || (asked === known && !unsure)) return
    const found = await learn(unsure ? null : known)
    unsure = false
    if (found !== null && found.state.version === known) {
      if (wanted === asked) wanted = known
      tellAgain = true
      return
    }
    if (found === null) {
      if (wanted === asked) wanted = known
      return
    }
    const { state, news } = found
    // Where only knocks changed the list needs no attention: it is looked after all the time.
    const listHolds =
      known !== null && state.whitelist.version === whitelist.version() && whitelist.held().error !== NOT_YET
    if (listDue || !listHolds || !news) {
      listDue = true
      if (news) void tellKnocks()
      await reachList(state)
      listDue = false
    } else store.putState(state.version)
    if (wanted === asked) wanted = store.state()
    tellAgain = true
  }

  async function reachList(state: DesiredState): Promise<void> {
    working = true
    try {
      const newest = await bringList(state)
      await whitelist.apply()
      applied = whitelist.version()
      store.putState(newest.version)
    } catch (error) {
      if (error instanceof ServerError) throw error
      const { entries } = whitelist.held()
      await wire.acknowledge({
        version: state.version,
        whitelistVersion: whitelist.version(),
        entries,
        error: errorText(error),
        portknock: knock.report(),
      })
      throw error
    } finally {
      working = false
    }
  }

  /** What became of the knocks, before the list is done; nothing is said of the list that was not said before. */
  async function tellKnocks(): Promise<void> {
    const portknock = knock.report()
    if (learned === null || !portknock || portknock.sequences.length + portknock.openings.length === 0) return
    const { entries, error } = whitelist.held()
    const unknown = error === NOT_YET
    await wire
      .acknowledge({
        version: learned,
        whitelistVersion: unknown ? '' : applied,
        entries,
        error: unknown ? null : error,
        portknock,
      })
      .catch((error: unknown) => {
        needs.log.debug(`what became of the knocks is told again: ${errorText(error)}`)
        tellAgain = true
      })
  }

  /** While a list is worked on, the knocks of newer states don't wait for it. */
  function hurryKnocks(): void {
    hurry ??= (async () => {
      try {
        for (let asked = wanted; working && asked !== null && asked !== learned; asked = wanted) {
          if ((await learn(learned)) === null) break
          await tellKnocks()
        }
      } catch (error) {
        needs.log.debug(`newer knocks have to wait: ${errorText(error)}`)
      } finally {
        hurry = null
      }
    })()
  }

  /** Fetches the list when it is another one. Answers the state that it belongs to, which may be a newer one. */
  async function bringList(first: DesiredState): Promise<DesiredState> {
    let state = first
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (state.whitelist.version === whitelist.version()) return state
      await pause(random() * state.whitelist.spread * 1000, needs.signal)
      const list = await wire.whitelist(whitelist.version() === '' ? null : whitelist.version())
      if (list?.version === state.whitelist.version) {
        whitelist.take(list.text, list.version, state.whitelist.count)
        void knock.followWhitelist()
        return state
      }
      // It changed meanwhile.
      state = (await learn(null))?.state ?? state
    }
    throw new ServerError('the whitelist and the state that names it do not fit together', 0, null, false)
  }

  async function acknowledge(): Promise<void> {
    const version = store.state()
    if (!tellAgain || version === null) return
    tellAgain = false
    try {
      const { entries, error } = whitelist.held()
      await wire.acknowledge({
        version,
        whitelistVersion: whitelist.version(),
        entries,
        error,
        portknock: knock.report(),
      })
    } catch (error) {
      tellAgain = true
      throw error
    }
  }

  return {
    async run(): Promise<void> {
      const backoff = createBackoff({ interval: () => 4000, cap: 60_000, random })
      while (!needs.signal.aborted) {
        if (needs.link.muted()) {
          await nap.sleep(5000)
          continue
        }
        try {
          await reach()
          await acknowledge()
          backoff.reset()
          if (wanted === store.state() && !tellAgain) await nap.sleep(60_000)
        } catch (error) {
          if (needs.signal.aborted) return
          const failure = error instanceof ServerError ? error : null
          if (failure?.status === 404) {
            // A server that is older than this agent keeps no state.
            needs.log.debug('the server does not keep a desired state')
            wanted = store.state()
            await nap.sleep(OLDER_SERVER_WAIT)
            continue
          }
          if (failure) needs.link.bad(failure, 'other')
          else needs.log.warn(`the desired state is not reached: ${errorText(error)}`)
          await nap.sleep(backoff.next(failure?.retryAfter ?? null))
        }
      }
    },
    /** The version that is reached or being worked on; null before the first. */
    version: (): string | null => wanted,
    /** The server wants this version; null: it does not say. */
    want(version: string | null): void {
      if (version === null || version === wanted) return
      wanted = version
      if (working) hurryKnocks()
      nap.wake()
    },
    /** What became of the knocks has changed. */
    knocksChanged(): void {
      if (working) void tellKnocks()
      else {
        tellAgain = true
        nap.wake()
      }
    },
    /** What holds was put right or has changed. */
    again(): void {
      tellAgain = true
      nap.wake()
    },
    wake: (): void => nap.wake(),
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return Promise.resolve()
  return new Promise(resolve => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
