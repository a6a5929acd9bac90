import { parseRange } from '../../core/ip.ts'
import type { IpInfo, Place } from './ipinfo.service.ts'
import { countryName } from './ipinfo.service.ts'

/*
 * A demo shows a map and networks, and may accuse nobody: its attackers have addresses of the documentation ranges
 * (RFC 5737, RFC 3849) and networks of the documentation numbers (RFC 5398), and live in these cities only there.
 */
const cities: readonly (readonly [
  country: string,
  city: string,
  latitude: number,
  longitude: number,
  weight: number,
])[] = [
  ['US', 'Ashburn', 39.04, -77.49, 9],
  ['US', 'San Jose', 37.34, -121.89, 5],
  ['CN', 'Shanghai', 31.23, 121.47, 8],
  ['CN', 'Shenzhen', 22.54, 114.06, 5],
  ['NL', 'Amsterdam', 52.37, 4.9, 7],
  ['DE', 'Frankfurt am Main', 50.11, 8.68, 5],
  ['RU', 'Moscow', 55.76, 37.62, 6],
  ['SG', 'Singapore', 1.35, 103.82, 5],
  ['IN', 'Mumbai', 19.08, 72.88, 5],
  ['BR', 'São Paulo', -23.55, -46.63, 5],
  ['VN', 'Hanoi', 21.03, 105.85, 4],
  ['KR', 'Seoul', 37.57, 126.98, 3],
  ['FR', 'Roubaix', 50.69, 3.17, 3],
  ['GB', 'London', 51.51, -0.13, 3],
  ['ID', 'Jakarta', -6.21, 106.85, 3],
  ['HK', 'Hong Kong', 22.32, 114.17, 3],
  ['UA', 'Kyiv', 50.45, 30.52, 2],
  ['TR', 'Istanbul', 41.01, 28.98, 2],
  ['IR', 'Tehran', 35.69, 51.39, 2],
  ['PL', 'Warsaw', 52.23, 21.01, 2],
  ['JP', 'Tokyo', 35.68, 139.69, 2],
  ['MX', 'Mexico City', 19.43, -99.13, 2],
  ['ZA', 'Johannesburg', -26.2, 28.05, 1],
  ['AU', 'Sydney', -33.87, 151.21, 1],
]
const networks = [
  'Example Hosting',
  'Northwind Cloud',
  'Contoso Telecom',
  'Example Broadband',
  'Fabrikam Servers',
  'Tailspin Mobile',
  'Adventure Data Centres',
  'Litware VPS',
]
const firstNetwork = 64_496
const spread = cities.flatMap((city, index) =>
  city.slice(4).flatMap(weight => Array<number>(Number(weight)).fill(index)),
)
const documentation = (bytes: Uint8Array): boolean => {
  const start = [...bytes.subarray(0, bytes.length === 4 ? 3 : 4)].join('.')
  return ['192.0.2', '198.51.100', '203.0.113', '32.1.13.184'].includes(start)
}
/** The same number for the same address: FNV-1a of its network part for IPv6, of all of it for IPv4. */
const hashOf = (bytes: Uint8Array): number =>
  bytes.subarray(0, 8).reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0, 2_166_136_261)

/** Made-up places for documentation addresses; all others are where they are. */
export const withDemoPlaces = (info: IpInfo): IpInfo => ({
  ready: info.ready,
  eachRange: info.eachRange,
  locate(ip): Place {
    const range = typeof ip === 'string' ? parseRange(ip) : ip
    if (!range || !documentation(range.bytes)) return info.locate(ip)
    const hash = hashOf(range.bytes)
    const [country = 'US', city = '', latitude = 0, longitude = 0] = cities[spread[hash % spread.length] ?? 0] ?? []
    const network = (hash >>> 8) % networks.length
    return {
      country,
      country_name: countryName(country),
      city,
      latitude,
      longitude,
      asn: firstNetwork + network,
      asn_org: networks[network] ?? null,
    }
  },
  get credits() {
    return `Demo: the places of documentation addresses are made up. ${info.credits}`
  },
  close: () => info.close(),
})
