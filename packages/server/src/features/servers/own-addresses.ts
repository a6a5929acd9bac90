import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { covers, isLoopback, parseIp, parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { forceRequired } from '../../core/problem.ts'
import type { Registry } from './registry.ts'

/** Refuses a ban of the caller's own address or of a managed server, unless it is forced. @throws Problem 409 */
export const guardOwnAddresses =
  (registry: Pick<Registry, 'all'>) =>
  (actor: Principal, params: Readonly<Record<string, unknown>>): void => {
    const ip = typeof params.ip === 'string' ? parseRange(params.ip) : null
    if (!ip || params.force === true) return
    const why = (what: string) => forceRequired('ip', `${ip.text} ${what}.`)
    if (isLoopback(ip) || (ip.prefix !== null && covers(ip, loopback))) throw why('is a loopback address')
    const touches = (text: string | null) => {
      // Both are canonical. A batch compares thousands of addresses with every server.
      if (ip.prefix === null) return text === ip.text
      const other = text === null ? null : parseIp(text)
      return other !== null && covers(ip, other)
    }
    if (touches(actor.ip)) throw why('is the address that you come from')
    const server = registry.all().find(({ row }) => touches(row.ip_address))
    // The name is only for a caller who sees the server.
    if (server && sees(actor, server.row.no)) throw why(`is the address of the managed server ${server.row.hostname}`)
    if (server) throw why('is the address of a managed server')
  }
const loopback: IpRange = { bytes: Uint8Array.of(127, 0, 0, 1), prefix: null, text: '127.0.0.1' }
