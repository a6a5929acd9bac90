import type { ReplyOf, neighbours as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { day } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { ipText, parseIp, parseRange } from '../../core/ip.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import { countNeighbours, neighbourDays } from './neighbours.store.ts'
import type { NeighbourCount } from './neighbours.store.ts'

type Reply = ReplyOf<typeof contract.neighbours>

const shownDays = 30
const mostNetworks = 16

const sumOf = (rows: readonly NeighbourCount[], key: 'bans' | 'active' | 'addresses'): number =>
  rows.reduce((sum, row) => sum + row[key], 0)
const paddedTo16 = (bytes: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(16)
  whole.set(bytes)
  return whole
}

/** The bans around an address, of the servers that the caller sees. */
export const createNeighbours =
  ({ db, clock }: { db: Database; clock: Clock }) =>
  async (actor: Principal, text: string): Promise<Reply> => {
    const ip = parseIp(text)
    if (!ip) throw invalid('ip', 'ip must be one IPv4 or IPv6 address.')
    const isV4 = ip.bytes.length === 4
    const range = parseRange(`${ip.text}/${isV4 ? 24 : 56}`)
    if (!range) throw invalid('ip', 'ip must be one IPv4 or IPv6 address.')
    const now = clock()
    const today = Math.floor(now / day)
    const first = today - shownDays + 1
    const scan = scanFor(db, 'neighbours', { ip: text })
    const rows = await countNeighbours(scan, db.engine, actor.servers, range, isV4 ? 4 : 8, now)
    const days = await neighbourDays(scan, db.engine, actor.servers, range, first * day)
    const listedRows = isV4 ? rows : rows.toSorted((a, b) => b.bans - a.bans).slice(0, mostNetworks)
    return {
      range: range.text,
      total_bans: sumOf(rows, 'bans'),
      active_bans: sumOf(rows, 'active'),
      addresses: sumOf(rows, 'addresses'),
      entries: listedRows.map(({ network, bans, active }) => ({
        ip: isV4 ? ipText(network, null) : ipText(paddedTo16(network), 64),
        octet: isV4 ? (network[3] ?? 0) : null,
        bans,
        active_bans: active,
      })),
      days: Array.from({ length: shownDays }, (_, index) => days.get(first + index) ?? 0),
    }
  }
export type Neighbours = ReturnType<typeof createNeighbours>
