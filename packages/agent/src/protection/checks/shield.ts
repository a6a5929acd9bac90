import type { Shield } from '../../shield/model.ts'
import { bad, ok, warning } from '../model.ts'
import type { Check } from '../model.ts'

/** Whether the agent's own table holds its bans. It repairs itself, so damage that lasts is damage it cannot repair. */
export const shieldCheck = (needs: { shield: Pick<Shield, 'bans' | 'report' | 'health' | 'isOn'> }): Check => ({
  id: 'shield',
  every: 5000,
  badAfter: 5000,
  looks: 2,
  needsEngine: false,
  look() {
    const { shield } = needs
    const { supported, reason } = shield.report()
    // Without a shield, new bans by command go to a jail. Those that it had before have nobody else.
    if (!supported)
      return Promise.resolve(
        shield.bans().length === 0 ? [] : [bad(null, `bans by command may not be enforced: ${reason ?? 'unknown'}`)],
      )
    if (!shield.isOn())
      return Promise.resolve([warning(null, 'the shield was switched off on this server: bans by command do not hold')])
    const { isWhole, detail } = shield.health()
    return Promise.resolve([isWhole ? ok(null) : bad(null, `bans by command are not enforced: ${detail ?? 'unknown'}`)])
  },
})
