import { parseIp, parseRange } from '../../../core/ip.ts'
import type { Blamed } from './lines.ts'
import type { UseDns } from './plan.ts'

/** `name` is a host's that would have to be looked up; `no failure` where the engine drops what it found. */
export type Blame = { readonly ip: string | null; readonly name: string | null } | 'no failure' | 'unknown'

/** Whom the engine would hold responsible for what was found. */
// oxlint-disable-next-line complexity -- follows the decisions of fail2ban one by one
export const blameOf = ({ ip4, ip6, dns, fid, cidr }: Blamed, usedns: UseDns): Blame => {
  const address = ip4 ?? ip6
  if (address !== null) {
    const trouble = fid === null || fid === address ? null : troubleWith(fid, usedns)
    return trouble ?? addressOf(address, cidr)
  }
  if (dns !== null) {
    if (usedns === 'raw') return { ip: textOf(dns), name: null }
    const plain = parseIp(unboxed(dns))
    if (plain) return { ip: plain.text, name: null }
    return usedns === 'no' ? 'no failure' : { ip: null, name: dns }
  }
  const id = fid ?? ''
  if (usedns === 'raw') return { ip: textOf(id), name: null }
  const [, before = unboxed(id), mask = null] = /^([^/]*)\/(\d+)$/.exec(unboxed(id)) ?? []
  return troubleWith(id, usedns) ?? addressOf(before, mask)
}

/** A prefix longer than the address has bits is none. */
const addressOf = (address: string, cidr: string | null): Blame => {
  if (cidr === null) return { ip: textOf(address), name: null }
  if (!/^[0-9]+$/.test(cidr)) return 'unknown'
  const single = Number(cidr) > (address.includes(':') ? 128 : 32)
  return { ip: textOf(single ? address : `${address}/${Number(cidr)}`), name: null }
}
/** An id that looks like a range and is none makes the engine fail at the line. */
const troubleWith = (id: string, usedns: UseDns): 'no failure' | 'unknown' | null => {
  const slash = unboxed(id).indexOf('/')
  if (slash < 0 || usedns === 'raw') return null
  const mask = unboxed(id).slice(slash + 1)
  if (/^\d+$/.test(mask)) return null
  return /[.:\s_+-]|[^\x20-\x7e]/.test(mask) ? 'unknown' : 'no failure'
}
const unboxed = (text: string): string => (text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text)
const textOf = (text: string): string | null => parseRange(text)?.text ?? null
