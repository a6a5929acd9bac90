import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { recordOf } from '@stockade/contract/untrusted.ts'

/*
 * Where the files lie that the server reads or serves: beside the sources in a checkout, and in the same layout below `lib/`
 * of a release (scripts/release/tree.ts). No other file knows it.
 */

const require = createRequire(import.meta.url)
const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** The version that this server says it is. */
export const version = String(recordOf(JSON.parse(readFileSync(at('server/package.json'), 'utf8'))).version)

export const places = {
  dashboard: at('dashboard/dist/'),
  installer: at('agent/install.sh'),
  /** The agent as one file, and with it the manifest of a signed release. */
  agent: at('agent/dist/'),
  agentProgram: at('agent/dist/stockade-agent.mjs'),
  /** Node for hosts without one, as `npm run build` packs it. A release has none: see features/agents/runtimes.ts. */
  runtimes: at('server/dist/runtime/'),
  packedPlaces: at('server/dist/places.bin'),
  /** The files that `packedPlaces` was made of; a release lacks them. @throws where a package is missing. */
  placeFiles: (): { readonly ipv4: string; readonly ipv6: string; readonly countries: string } => ({
    ipv4: require.resolve('@ip-location-db/asn/asn-ipv4-num.csv'),
    ipv6: require.resolve('@ip-location-db/asn/asn-ipv6.csv'),
    countries: require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'),
  }),
} as const

/** The Node of a release, which hosts of the same architecture can run too; null in a checkout. */
export const releasedNode = (): string | null => {
  const node = at('../bin/node')
  return existsSync(at('../VERSION')) && existsSync(node) ? node : null
}
