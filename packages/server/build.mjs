import { mkdirSync, renameSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { readNetworkFiles } from './src/features/ipinfo/network-csv.ts'
import { writePackedNetworks } from './src/features/ipinfo/network-pack.ts'

const require = createRequire(import.meta.url)
const dist = fileURLToPath(new URL('dist', import.meta.url))

/** Packs the shipped tables of networks, so that the server reads them in milliseconds (network-pack.ts). */
export const packNetworks = async () => {
  mkdirSync(dist, { recursive: true })
  const tables = await readNetworkFiles({
    ipv4: require.resolve('@ip-location-db/asn/asn-ipv4-num.csv'),
    ipv6: require.resolve('@ip-location-db/asn/asn-ipv6.csv'),
  })
  // Renamed into its place: a server that starts meanwhile reads all of the file or none of it.
  writePackedNetworks(`${dist}/networks.bin.new`, tables)
  renameSync(`${dist}/networks.bin.new`, `${dist}/networks.bin`)
}
