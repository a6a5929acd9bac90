import type { Report } from '@stockade/contract'
import type { ServerScope } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import { ipText } from '../../core/ip.ts'
import type { Database } from '../../db/database.ts'
import { scanFor } from '../../db/scans.ts'
import { countryCodes, jailNames } from '../bans/stats.store.ts'
import { topAddresses, topNetworks } from '../bans/top.store.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import type { Registry } from '../servers/registry.ts'
import { countAddresses, countBy, countSteps } from './figures.store.ts'
import type { Counts } from './figures.store.ts'
import type { Span } from './periods.ts'

type Attacks = Report['attacks']
/** What is counted from rows, and so beside the answer where it takes long. */
export type Counted = Pick<Attacks, 'attackers' | 'attackers_before' | 'networks' | 'addresses'>

const most = 10
const sumOf = (counts: readonly number[]) => counts.reduce((sum, n) => sum + n, 0)
const ranked = (counts: Counts): (readonly [id: number, bans: number])[] =>
  [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])

export interface Window {
  readonly servers: ServerScope
  readonly span: Span
  readonly before: Span
  /** Beginnings of the hours or days, and the end. */
  readonly steps: readonly number[]
}

/** Bans of a period from sums. */
export const summedAttacks = async (
  { db, registry }: { db: Database; registry: Pick<Registry, 'byNo'> },
  { servers, span, before, steps }: Window,
): Promise<Omit<Attacks, keyof Counted>> => {
  const sql = db.read
  const of = (kind: 'server' | 'jail' | 'country', when: Span) => countBy(sql, db.engine, kind, servers, when)
  const series = await countSteps(sql, db.engine, servers, steps)
  const [jails, jailsBefore] = [await of('jail', span), await of('jail', before)]
  const [countries, countriesBefore] = [await of('country', span), await of('country', before)]
  const [hosts, hostsBefore] = [await of('server', span), await of('server', before)]
  const nameById = await jailNames(sql, jails.keys())
  const codes = await countryCodes(sql)
  return {
    bans: sumOf(series),
    bans_before: sumOf([...jailsBefore.values()]),
    series: series.map((bans, at) => ({ start: iso(steps[at] ?? span.from), bans })),
    jails: ranked(jails)
      .slice(0, most)
      .map(([id, bans]) => ({ jail: nameById.get(id) ?? '', bans, before: jailsBefore.get(id) ?? 0 })),
    countries: ranked(countries)
      .slice(0, most)
      .map(([id, bans]) => {
        const code = codes.get(id) ?? 'ZZ'
        const name = code === 'ZZ' ? 'Unknown' : (countryName(code) ?? code)
        return { code, name, bans, before: countriesBefore.get(id) ?? 0 }
      }),
    servers: ranked(hosts)
      .flatMap(([no, bans]) => {
        const row = registry.byNo(no)?.row
        const line = { bans, before: hostsBefore.get(no) ?? 0 }
        return row ? [{ server: { id: row.id, hostname: row.hostname }, ...line }] : []
      })
      .slice(0, most),
  }
}

/** What sums do not hold: addresses and networks. It reads the rows of the period beside the event loop. */
export const countedAttacks = async (db: Database, window: Window): Promise<Counted> => {
  const { servers, span, before } = window
  const scan = scanFor(db, 'report', { period: 'rows' })
  const rows = { servers, ...span, wide: false }
  const addresses = await topAddresses(scan, db.engine, rows, most)
  const networks = await topNetworks(scan, db.engine, rows, most)
  return {
    attackers: await countAddresses(scan, db.engine, servers, span),
    attackers_before: await countAddresses(scan, db.engine, servers, before),
    networks: networks.map(({ asn, org, n }) => ({
      asn: asn === null ? null : `AS${asn}`,
      asn_org: org,
      bans: Number(n),
    })),
    addresses: addresses.map(({ ip, n }) => ({ ip: ipText(ip, null), bans: Number(n) })),
  }
}
