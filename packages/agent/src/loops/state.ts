import type { Log } from '../log.ts'
import { createBackoff, createNap } from '../schedule.ts'
import { ServerError } from '../transport.ts'
import type { Store } from '../whitelist/store.ts'
import type { Whitelist } from '../whitelist/whitelist.ts'
import type { DesiredState, Wire } from '../wire.ts'
import { errorText } from '../text.ts'
import type { Link } from './link.ts'

const TRIES = 3
const OLDER_SERVER_WAIT = 300_000

/** Brings the host to the state that the server wants, and tells what was reached, read back from fail2ban. */
export function createStateLoop(needs: {
  wire: Wire
  link: Link
  store: Store
  whitelist: Whitelist
  signal: AbortSignal
  random?: () => number
  log: Log
}) {
  const { wire, store, whitelist } = needs
  const random = needs.random ?? Math.random
  const nap = createNap()
  needs.link.onBack(nap.wake)
  /** What the server wants, as far as it said. */
  let wanted = store.state()
  /** What was reached last, and whether the server is to hear of it. */
  let tellAgain = false

  async function reach(): Promise<void> {
    const known = store.state()
    const asked = wanted
    if (asked === null || asked === known) return
    const state = await wire.state(known)
    if (state === null) {
      if (wanted === asked) wanted = known
      return
    }
    try {
      const newest = await bringList(state)
      await whitelist.apply()
      store.putState(newest.version)
      if (wanted === asked) wanted = newest.version
      tellAgain = true
    } catch (error) {
      if (error instanceof ServerError) throw error
      const { entries } = whitelist.held()
      await wire.acknowledge({
        version: state.version,
        whitelistVersion: whitelist.version(),
        entries,
        error: errorText(error),
      })
      throw error
    }
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
        return state
      }
      // It changed meanwhile.
      state = (await wire.state(null)) ?? state
    }
    throw new ServerError('the whitelist and the state that names it do not fit together', 0, null, false)
  }

  async function acknowledge(): Promise<void> {
    const version = store.state()
    if (!tellAgain || version === null) return
    tellAgain = false
    try {
      const { entries, error } = whitelist.held()
      await wire.acknowledge({ version, whitelistVersion: whitelist.version(), entries, error })
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
      nap.wake()
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
