import type { Knock } from '../knock/knock.ts'
import { pause } from '../schedule.ts'
import { ServerError } from '../transport.ts'
import type { Whitelist } from '../whitelist/whitelist.ts'
import type { DesiredState, Wire } from '../wire.ts'

/** How often the list and the state that names it are fetched before they must match. */
const maxFetches = 3

/** Fetches the list if it is another one. Answers the state that it belongs to, which may be newer than `first`. */
export const fetchList = async (
  needs: {
    readonly wire: Pick<Wire, 'whitelist'>
    readonly whitelist: Pick<Whitelist, 'version' | 'take'>
    readonly knock: Pick<Knock, 'followWhitelist'>
    readonly random?: () => number
    readonly signal: AbortSignal
  },
  first: DesiredState,
  fetchState: () => Promise<DesiredState | null>,
): Promise<DesiredState> => {
  const { wire, whitelist, knock, random = Math.random } = needs
  let state = first
  for (let fetches = 0; fetches < maxFetches; fetches += 1) {
    if (state.whitelist.version === whitelist.version()) return state
    await pause(random() * state.whitelist.spread * 1000, needs.signal)
    const list = await wire.whitelist(whitelist.version() === '' ? null : whitelist.version())
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
