import { faultsOf } from '../../engine/config.ts'
import type { EngineConfig } from '../../engine/config.ts'
import type { Places } from '../../engine/places.ts'
import type { Whereabouts } from '../../engine/whereabouts.ts'
import { ok, unknown, warning } from '../model.ts'
import type { Check } from '../model.ts'

const checkedFor = 3_600_000
const elsewhereText = 'fail2ban reads its configuration in its container, where the agent cannot check it'

/** Whether fail2ban would start with its configuration as it is now. The checker runs only after a change, and hourly. */
export const configCheck = (needs: {
  config: Pick<EngineConfig, 'mark' | 'check'>
  places: Pick<Places, 'isMapped' | 'share'>
  whereabouts: Pick<Whereabouts, 'hasOtherPaths'>
  now: () => number
}): Check => {
  /** fail2ban reads it in a container in which no program of the agent runs. */
  const isReadElsewhere = (): boolean =>
    needs.places.isMapped ? needs.places.share === null : needs.whereabouts.hasOtherPaths()
  let lastFault: { readonly mark: string; readonly at: number; readonly fault: string | null } | null = null
  return {
    id: 'config',
    every: 15_000,
    badAfter: 10_000,
    looks: 1,
    needsEngine: false,
    async look() {
      if (isReadElsewhere()) return [unknown(null, elsewhereText)]
      const mark = needs.config.mark()
      if (lastFault?.mark !== mark || needs.now() - lastFault.at > checkedFor || lastFault.fault !== null) {
        const [fault = null] = faultsOf(await needs.config.check(null, { streams: false }))
        lastFault = { mark, at: needs.now(), fault }
      }
      const { fault } = lastFault
      return [
        fault === null ? ok(null) : warning(null, `fail2ban would not start again as it is now configured: ${fault}`),
      ]
    },
  }
}
