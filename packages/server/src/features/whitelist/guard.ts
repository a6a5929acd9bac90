import { parseRange } from '../../core/ip.ts'
import { conflict } from '../../core/problem.ts'
import type { Mirror } from './mirror.ts'

/**
 * Refuses a ban of what the whitelist covers, 409 naming the entry; `force` does not override it: who means it takes the
 * entry off first. Of a range the whole of it counts: it is refused when an entry covers it, when an entry lies within it
 * (an address that is never to be banned would be, with its neighbours), and so also when both are the same. Only a range
 * that has no address in common with the whitelist passes.
 */
export const guardWhitelisted =
  (mirror: Pick<Mirror, 'covers' | 'touches'>) =>
  (params: Readonly<Record<string, unknown>>): void => {
    const range = typeof params.ip === 'string' ? parseRange(params.ip) : null
    const entry = range && mirror.touches(range)
    if (!range || !entry) return
    const how = mirror.covers(range) ? 'is covered by the whitelist entry' : 'holds the whitelist entry'
    throw conflict(`${range.text} ${how} ${entry.text}. Take that entry off the whitelist first.`)
  }
