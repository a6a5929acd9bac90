import type { Knock } from '../knock/knock.ts'
import { pause } from '../schedule.ts'
import { ServerError } from '../transport.ts'
import type { Fresh } from '../transport.ts'
import type { Whitelist } from '../whitelist/whitelist.ts'
import type { DesiredState, Wire } from '../wire.ts'
import type { Offers } from './offers.ts'

/** How often the list and the state that names it are fetched before they must match. */
const maxFetches = 3

/** Fetches the list if it is another one. Answers the state that it belongs to, which may be newer than `first`. */
export const fetchList = async (
  needs: {
    readonly wire: Pick<Wire, 'whitelist'>
    readonly whitelist: Pick<Whitelist, 'version' | 'take'>
    readonly knock: Pick<Knock, 'followWhitelist'>
    readonly offers: Pick<Offers, 'list'>
    readonly random?: () => number
    readonly signal: AbortSignal
  },
  first: DesiredState,
  fetchState: () => Promise<DesiredState | null>,
): Promise<DesiredState> => {
  const { wire, whitelist, knock, offers, random = Math.random } = needs
  const requestList = async (spread: number): Promise<Fresh | null> => {
    await pause(random() * spread * 1000, needs.signal)
    return wire.whitelist(whitelist.version() === '' ? null : whitelist.version())
  }
  let state = first
  for (let fetches = 0; fetches < maxFetches; fetches += 1) {
    if (state.whitelist.version === whitelist.version()) return state
    const list = offers.list(state.whitelist.version) ?? (await requestList(state.whitelist.spread))
    if (list?.version === state.whitelist.version) {
      whitelist.take(list.text, list.version, state.whitelist.count)
      void knock.followWhitelist()
      return state
    }
    // The list changed in the meantime.
    state = (await fetchState()) ?? state
  }
  throw new ServerError('the whitelist and the state that names it do not match')
}
