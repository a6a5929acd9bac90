import { actionName } from '../../bans/hook.ts'
import { steadyNow } from '../../clock.ts'
import type { Engine } from '../../engine/engine.ts'
import { firewallOf } from './kinds.ts'
import type { JailFirewall } from './kinds.ts'

/** The firewall actions of jails. */
export interface JailFirewalls {
  /** `isFresh`: as the jail is now. A reload may have changed its actions since they were asked for. */
  of(jail: string, family: 'ipv4' | 'ipv6', isFresh?: boolean): Promise<readonly JailFirewall[]>
  /** Other jails than these are gone. */
  keep(jails: readonly string[]): void
  forget(): void
}

/**
 * The answers of one jail are a dozen requests to fail2ban. Milliseconds; whatever is not well is asked again at once, and everything after a
 * reload.
 */
const keptFor = 600_000

export const createJailFirewalls = (engine: Pick<Engine, 'actions' | 'actionOption'>): JailFirewalls => {
  const cache = new Map<string, { readonly until: number; readonly found: readonly JailFirewall[] }>()

  const read = async (jail: string, family: 'ipv4' | 'ipv6'): Promise<JailFirewall[]> => {
    const firewalls: JailFirewall[] = []
    for (const action of await engine.actions(jail)) {
      const firewall = action === actionName ? null : await firewallOf(engine, jail, action, family)
      if (firewall) firewalls.push(firewall)
    }
    return firewalls
  }

  return {
    async of(jail, family, isFresh = false) {
      const key = `${jail}|${family}`
      const cached = cache.get(key)
      if (!isFresh && cached && steadyNow() < cached.until) return cached.found
      const firewalls = await read(jail, family)
      cache.set(key, { until: steadyNow() + keptFor, found: firewalls })
      return firewalls
    },
    keep(jails) {
      for (const key of cache.keys()) if (!jails.includes(key.slice(0, key.lastIndexOf('|')))) cache.delete(key)
    },
    forget: () => cache.clear(),
  }
}
