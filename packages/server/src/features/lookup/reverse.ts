import { Resolver } from 'node:dns/promises'
import { minute, second } from '../../core/clock.ts'
import { tame } from '../../core/text.ts'

/** The name that its network gives an address, null where there is none or it can't be had in time. */
export type Reverse = (ip: string) => Promise<string | null>

/** Longest wait of a caller, in milliseconds. */
const patience = 2 * second
/** A name is asked for again after this; that there is none may change sooner. */
const nameLife = 60 * minute
const nameless = minute
const remembered = 1000
/** Names that are being asked for at once: a slow resolver holds up nothing else. */
const atOnce = 16
const longest = 253

/**
 * Asks the resolver of the system for names of addresses.
 * @param servers other resolvers, as `address:port`
 */
export const createReverse = (servers?: readonly string[]): Reverse => {
  const nameCache = new Map<string, { readonly until: number; readonly name: Promise<string | null> }>()
  let asking = 0
  const ask = async (ip: string): Promise<string | null> => {
    const resolver = new Resolver({ timeout: patience / 2, tries: 2 })
    if (servers) resolver.setServers(servers)
    const timer = setTimeout(() => resolver.cancel(), patience)
    asking += 1
    try {
      const [name] = await resolver.reverse(ip)
      // The holder of the address chooses the name, so it is untrusted text.
      return name === undefined || name === '' ? null : tame(name.replace(/\.$/, ''), longest)
    } catch {
      return null
    } finally {
      clearTimeout(timer)
      asking -= 1
    }
  }
  return async ip => {
    const before = nameCache.get(ip)
    if (before && before.until > performance.now()) return before.name
    if (asking >= atOnce) return null
    const name = ask(ip)
    nameCache.delete(ip)
    nameCache.set(ip, { until: performance.now() + patience * 2, name })
    for (const oldest of nameCache.keys()) {
      if (nameCache.size <= remembered) break
      nameCache.delete(oldest)
    }
    const reverseName = await name
    if (nameCache.get(ip)?.name === name)
      nameCache.set(ip, { until: performance.now() + (reverseName === null ? nameless : nameLife), name })
    return reverseName
  }
}
