import { ipText, parseRange } from '../../core/ip.ts'
import { jsonText } from '../../core/json-text.ts'
import type { Database } from '../../db/database.ts'
import type { Registry } from '../servers/registry.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { saveRule } from './alerts.store.ts'
import type { Finding } from './kinds.ts'
import type { Rule } from './rules.ts'
import { bansAfter, lastBanId, wasBannedBefore } from './sums.store.ts'
import type { BanRead } from './sums.store.ts'

/** Bans that are looked at in one minute; of more, the newest count. */
const mostBans = 20_000
/** Findings of one look. */
const mostFound = 50

/** The network of an address: its /24, or the /64 of an IPv6 address. */
const neighbourhoodOf = (ip: string) => {
  const [high = ''] = ip.split('/')
  return parseRange(`${high}/${high.includes(':') ? 64 : 24}`)
}

export interface NearWhitelist {
  find(rule: Rule, now: number): Promise<readonly Finding[]>
}

/**
 * The first ban of an address beside a whitelisted one: often an office or a customer whose second address nobody listed. Bans by operators
 * are meant, so they do not count.
 */
export const createNearWhitelist = (needs: {
  db: Pick<Database, 'read' | 'write'>
  registry: Pick<Registry, 'byNo'>
  mirror: Pick<Mirror, 'covers' | 'touches' | 'count'>
  concerns: (rule: Rule, serverNo: number) => boolean
}): NearWhitelist => {
  const { db, registry, mirror } = needs

  /** The whitelisted entry beside the address; null where there is none, or where the address is whitelisted itself. */
  const neighbourOf = (ip: string): string | null => {
    const [address, around] = [parseRange(ip), neighbourhoodOf(ip)]
    if (!address || !around || mirror.covers(address)) return null
    return mirror.touches(around)?.text ?? null
  }
  const findingOf = async (ban: BanRead, now: number): Promise<Finding[]> => {
    const ip = ipText(ban.ip, ban.prefix)
    const neighbour = neighbourOf(ip)
    if (neighbour === null || (await wasBannedBefore(db.read, ban.ip, ban.id))) return []
    const host = registry.byNo(ban.server_no)?.row.hostname ?? ''
    return [
      {
        subject: ip,
        serverNo: ban.server_no,
        title: `Ban beside the whitelist: ${ip} on ${host}`,
        detail: `${neighbour} is whitelisted, and lies in the same network. Jail ${ban.jail}.`,
        at: now,
      },
    ]
  }

  return {
    async find(rule, now) {
      const { row, conditions } = rule
      const last = await lastBanId(db.read)
      const after = Math.max(conditions.after_id ?? last, last - mostBans)
      if (!row || last <= after) return []
      const findingByKey = new Map<string, Finding>()
      const bans = mirror.count() === 0 ? [] : await bansAfter(db.read, after, last)
      for (const ban of bans) {
        if (findingByKey.size >= mostFound) break
        if (!needs.concerns(rule, ban.server_no)) continue
        for (const finding of await findingOf(ban, now))
          if (!findingByKey.has(finding.subject)) findingByKey.set(finding.subject, finding)
      }
      await saveRule(db.write, row.id, { conditions: jsonText({ ...conditions, after_id: last }) })
      return [...findingByKey.values()]
    },
  }
}
