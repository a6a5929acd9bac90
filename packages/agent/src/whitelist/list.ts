import { canonicalIp } from '../ip.ts'
import { defaultRules } from '../policy/format.ts'
import type { Limits } from '../policy/format.ts'
import { percent, publicShare } from '../policy/share.ts'

/**
 * The canonical entries of a list. Every line must be an address or range, and there must be at least as many as the
 * server counted, because half a list would silently remove protection. With limits the list must respect them: one that
 * covers much of the Internet would disable the host's protection. @throws Error with a sentence
 */
export const parseList = (text: string, count: number, limits: Limits | null = defaultRules.whitelist): string[] => {
  const entries: string[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const entry = canonicalIp(line)
    if (entry === null) throw new Error(`line ${index + 1} of the whitelist is not an address: the list is refused`)
    entries.push(entry)
  }
  if (entries.length < count)
    throw new Error(`the whitelist came with ${entries.length} of ${count} entries: it is refused as a whole`)
  if (limits !== null) checkLimits(entries, limits)
  return entries
}

const checkLimits = (entries: readonly string[], limits: Limits): void => {
  const { maxEntries, maxShare, widestIpv4, widestIpv6 } = limits
  if (entries.length > maxEntries)
    throw new Error(`the whitelist has ${entries.length} entries, and this host takes ${maxEntries}: it is refused`)
  for (const entry of entries) {
    const widest = entry.includes(':') ? widestIpv6 : widestIpv4
    if (Number(entry.split('/')[1] ?? 128) < widest)
      throw new Error(`${entry} in the whitelist is wider than /${widest}: the list is refused`)
  }
  const share = publicShare(entries)
  if (share > maxShare)
    throw new Error(
      `the whitelist covers ${percent(share)} of the public addresses, and this host takes ${percent(maxShare)}: it is refused as a whole`,
    )
}
