import { lastOf } from '@stockade/contract/spans.ts'
import type { FastifyBaseLogger } from 'fastify'
import { parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import { places } from '../../core/places.ts'
import { inSlices } from '../../core/slices.ts'
import { openWatched } from './mmdb.ts'
import type { Mmdb } from './mmdb.ts'
import { ownCityFile, ownNetworkFile } from './own-files.ts'
import { countryOf, degrees, field, networkOf, text } from './records.ts'
import { loadShipped, openShipped } from './shipped.ts'
import type { ShippedPlace } from './shipped.ts'
import { isSpecial } from './special.ts'

/** Where an address is, as far as the data tells: approximate, and null where unknown. */
export interface Place {
  readonly country: string | null
  readonly country_name: string | null
  readonly city: string | null
  readonly latitude: number | null
  readonly longitude: number | null
  readonly asn: number | null
  readonly asn_org: string | null
}

export interface IpInfo {
  /** The place of an address, or of the first address of a range; as text or as read already. Nonsense is nowhere. */
  locate(ip: string | IpRange): Place
  /** Passes on the first and the last address of each range of these countries and networks, in any order. */
  eachRange(
    asked: { readonly countries: readonly string[]; readonly asns: readonly number[] },
    visit: (first: Uint8Array, last: Uint8Array) => void,
  ): Promise<void>
  /** Source and age of the data; to be shown wherever results are. */
  readonly credits: string
  /** Resolves once the data that ships are there: at once where they are packed; until then nothing is known. Never rejects. */
  readonly ready: Promise<void>
  close(): void
}

export interface IpInfoNeeds {
  /** MMDB files of the operator's; they win over the data that ships. */
  readonly cityFile: string | null
  readonly asnFile: string | null
  /** Where fetched files lie, for what is not named. */
  readonly dataDir?: string
  /** The data that ship, packed; those of this installation unless said. */
  readonly packed?: string
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
  /** Milliseconds between two looks at the operator's files. */
  readonly interval?: number
}

/** The licences ask for these names, and DB-IP's for its link, wherever results are shown. */
const countryCredit = 'country data by NRO (https://www.nro.net), CC BY 4.0'
const networkCredit =
  'network data by RouteViews (https://www.routeviews.org), NRO and IP Geolocation by DB-IP (https://db-ip.com), CC BY 4.0'

const nowhere: Place = Object.freeze({
  country: null,
  country_name: null,
  city: null,
  latitude: null,
  longitude: null,
  asn: null,
  asn_org: null,
})

/** Cities by MMDB, countries and networks by the data that ship: all of it local, no look-up leaves the host. */
export const createIpInfo = (needs: IpInfoNeeds): IpInfo => {
  const { cityFile, asnFile, dataDir, packed = places.packedPlaces, log, interval = 10_000 } = needs
  /** The file that the operator names; else the fetched one, which may come later. */
  const watch = (named: string | null, fetched: (dataDir: string) => string) => {
    if (named !== null) return openWatched(named, log, interval)
    return dataDir === undefined ? null : openWatched(fetched(dataDir), log, interval, false)
  }
  const cities = watch(cityFile, ownCityFile)
  const asns = watch(asnFile, ownNetworkFile)
  let shipped = openShipped(packed)
  const ready = loadShipped({ packed, files: places.placeFiles }).then(
    loaded => {
      shipped = loaded
    },
    (error: unknown) => {
      log.warn({ reason: String(error) }, 'place data not read, countries and networks of addresses stay unknown')
    },
  )
  let isBroken = false
  /** A disk that does not answer must not make the bans fail whose place is asked for. */
  const findShipped = (bytes: Uint8Array): ShippedPlace | null => {
    try {
      return shipped?.find(bytes) ?? null
    } catch (error) {
      if (!isBroken) log.warn({ file: packed, reason: String(error) }, 'place data not read, some places stay unknown')
      isBroken = true
      return null
    }
  }
  return {
    ready,
    // oxlint-disable-next-line complexity -- each of four sources may know nothing
    locate(ip) {
      const range = typeof ip === 'string' ? parseRange(ip) : ip
      if (!range || isSpecial(range.bytes)) return nowhere
      const { bytes } = range
      const record = cities?.find(bytes)
      const shippedPlace = findShipped(bytes)
      const country = (record ? countryOf(record) : null) ?? shippedPlace?.country ?? null
      const network = networkOf(asns?.find(bytes)) ?? shippedPlace?.network
      const place = {
        country,
        country_name: country && countryName(country),
        asn: network?.asn ?? null,
        asn_org: network?.org || null,
      }
      if (!record) return { ...place, city: null, latitude: null, longitude: null }
      return {
        ...place,
        city: text(field(record, 'city', 'names', 'en')) ?? text(field(record, 'city')),
        latitude: degrees(field(record, 'location', 'latitude') ?? field(record, 'latitude')),
        longitude: degrees(field(record, 'location', 'longitude') ?? field(record, 'longitude')),
      }
    },
    async eachRange(asked, visit) {
      const wantedCountries = new Set(asked.countries)
      const wantedNetworks = new Set(asked.asns)
      const visitMatching = async (file: Mmdb, isWanted: (record: unknown) => boolean) => {
        // Many networks share a record.
        const isWantedByRecord = new Map<unknown, boolean>()
        await inSlices(file.entries(), ({ bytes, prefix, record }) => {
          const isOwn = isWantedByRecord.get(record) ?? isWanted(record)
          if (isWantedByRecord.size < 10_000) isWantedByRecord.set(record, isOwn)
          if (isOwn) visit(bytes, lastOf({ bytes, prefix }))
        })
      }
      const none = new Set<never>()
      const shippedCountries = cities?.label() ? none : wantedCountries
      const shippedNetworks = asns?.label() ? none : wantedNetworks
      if (cities?.label() && wantedCountries.size > 0)
        await visitMatching(cities, record => wantedCountries.has(countryOf(record) ?? ''))
      if (asns?.label() && wantedNetworks.size > 0)
        await visitMatching(asns, record => wantedNetworks.has(networkOf(record)?.asn ?? 0))
      if (shipped && shippedCountries.size + shippedNetworks.size > 0)
        await inSlices(shipped.ranges({ countries: shippedCountries, asns: shippedNetworks }), range => {
          if (range) visit(...range)
        })
    },
    get credits() {
      const own = [cities?.label(), asns?.label()].flatMap(label => label ?? [])
      return [
        ...(own.length > 0 ? [`Places from this installation's own files: ${own.join(', ')}; otherwise`] : []),
        `${countryCredit}, ${shipped?.label.slice(-10) ?? 'of an unknown day'}; ${networkCredit}. Places are approximate.`,
      ].join(' ')
    },
    close() {
      cities?.close()
      asns?.close()
    },
  }
}

const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
const names = new Map<string, string | null>()
/** The English name of a country by its code of two letters. */
export const countryName = (code: string): string | null => {
  const knownName = names.get(code)
  if (knownName !== undefined) return knownName
  const name = /^[A-Z]{2}$/.test(code) ? (regions.of(code) ?? null) : null
  if (names.size < 1000) names.set(code, name)
  return name
}
