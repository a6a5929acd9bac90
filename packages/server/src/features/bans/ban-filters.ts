import { asnOfQuery } from '@stockade/contract'
import type { QueryOf, bans as contract } from '@stockade/contract'
import type { Principal } from '../../core/actor.ts'
import { parseRange } from '../../core/ip.ts'
import { timeRange } from '../../core/page.ts'
import { invalid } from '../../core/problem.ts'
import type { Database } from '../../db/database.ts'
import { readSearch } from '../../db/search.ts'
import { countryName } from '../ipinfo/ipinfo.service.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { countryIdOf, jailIdOf } from './bans.store.ts'
import { narrow } from './narrow.store.ts'
import type { BanSearch, SearchContext } from './search.store.ts'

/** The filters that all lists of bans share. */
export type BanFilters = Omit<QueryOf<typeof contract.exportBans>, 'format'>

export interface BanFilterReader {
  contextAt(now: number): SearchContext
  /** What the filters ask for together; null where nothing can match. @throws Problem 400 that names the filter */
  read(actor: Principal, query: BanFilters, context: SearchContext): Promise<BanSearch | null>
}

let knownCountries: SearchContext['countries'] | null = null
/** Every country that has a name. */
const countryNames = (): SearchContext['countries'] => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  return (knownCountries ??= letters
    .flatMap(first => letters.map(second => first + second))
    .flatMap(code => {
      const name = countryName(code)
      return name === null ? [] : [{ code, name }]
    }))
}

const rangeOf = (text: string | undefined): Pick<BanSearch, 'ip'> => {
  const ip = text === undefined ? null : parseRange(text)
  return ip ? { ip } : {}
}
/** @throws Problem 400 */
const numberOfNetwork = (text: string | undefined): Pick<BanSearch, 'asn'> => {
  if (text === undefined) return {}
  const asn = asnOfQuery(text)
  if (asn === null) throw invalid('asn', 'asn must be at most 4294967295.')
  return { asn }
}

export const createBanFilterReader = (
  db: Pick<Database, 'engine' | 'read'>,
  servers: Pick<ServersService, 'named'>,
): BanFilterReader => ({
  contextAt: now => ({ engine: db.engine, now, countries: countryNames() }),
  async read(actor, query, context) {
    const tree = readSearch(query.q, 'bans')
    const server = query.server_id === undefined ? null : servers.named(actor, 'server_id', query.server_id)
    const jailId = query.jail === undefined ? undefined : await jailIdOf(db.read, query.jail)
    const countryId = query.country === undefined ? undefined : await countryIdOf(db.read, query.country.toUpperCase())
    const range = timeRange(query.from, query.to)
    // A name that no ban has ever had matches nothing.
    if (jailId === null || countryId === null) return null
    const filter = {
      servers: actor.servers,
      ...(server ? { serverNo: server.no } : {}),
      ...(jailId === undefined ? {} : { jailId }),
      ...(countryId === undefined ? {} : { countryId }),
      ...rangeOf(query.ip),
      ...numberOfNetwork(query.asn),
      ...(query.active === undefined ? {} : { active: query.active }),
      ...range,
    }
    return narrow(db.read, filter, tree, context)
  },
})
