import type { DesiredState, Offer } from '../wire.ts'
import type { Fresh } from '../transport.ts'

/**
 * The state that came with the answer to a poll, so that the agent need not request it. Each part is used once: a second question gets a
 * fresh answer.
 */
export interface Offers {
  put(offer: Offer | null): void
  /** The state with this version; null: it has to be requested. */
  state(version: string | null): DesiredState | null
  /** The whitelist with this version; null: it has to be requested. */
  list(version: string): Fresh | null
}

export const createOffers = (): Offers => {
  let state: DesiredState | null = null
  let list: Fresh | null = null
  return {
    put(offer) {
      if (offer === null) return
      ;({ state, list } = offer)
    },
    state(version) {
      const offered = state?.version === version ? state : null
      state = null
      return offered
    },
    list(version) {
      const offered = list?.version === version ? list : null
      list = null
      return offered
    },
  }
}
