import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseIp } from '../../core/ip.ts'
import { readNetworkFiles } from './network-csv.ts'
import { readPackedNetworks, writePackedNetworks } from './network-pack.ts'
import { loadNetworks } from './networks.ts'

const folder = mkdtempSync(join(tmpdir(), 'networks-'))
afterAll(() => rmSync(folder, { recursive: true }))

const files = { ipv4: join(folder, 'ipv4.csv'), ipv6: join(folder, 'ipv6.csv') }
const packed = join(folder, 'networks.bin')
beforeAll(async () => {
  writeFileSync(files.ipv4, '3221225984,3221226239,64496,"Réseau ""One"""\n3325256704,3325256959,64497,Two\n')
  writeFileSync(files.ipv6, '2001:db8::,2001:db8:0:ffff:ffff:ffff:ffff:ffff,64496,One\n')
  writePackedNetworks(packed, await readNetworkFiles(files))
})

const addresses = [
  '192.0.2.0',
  '192.0.2.255',
  '192.0.3.0',
  '198.51.100.7',
  '2001:db8::1',
  '2001:db8:1::',
  '203.0.113.1',
]
const found = async (sources: Parameters<typeof loadNetworks>[0]) => {
  const networks = await loadNetworks(sources)
  return addresses.map(address => networks.find(parseIp(address)?.bytes ?? new Uint8Array()))
}
const missing = join(folder, 'missing.bin')

describe('the packed table of networks', () => {
  it('answers as the files do that it was made from', async () => {
    const fromPacked = await found({ packed, files: () => ({ ipv4: missing, ipv6: missing }) })
    expect(fromPacked).toEqual(await found({ packed: missing, files: () => files }))
    expect(fromPacked[0]).toEqual({ asn: 64496, org: 'Réseau "One"' })
    expect(fromPacked[2]).toBeNull()
    expect(fromPacked[4]).toEqual({ asn: 64496, org: 'Réseau "One"' })
  })
  it('gives the same bytes when it is packed again', async () => {
    const again = join(folder, 'again.bin')
    const tables = readPackedNetworks(packed)
    expect(tables).not.toBeNull()
    if (tables) writePackedNetworks(again, tables)
    expect(readFileSync(again)).toEqual(readFileSync(packed))
  })
  it.each([
    ['cut short', (file: string) => truncateSync(file, readFileSync(file).length - 1)],
    ['of another format', (file: string) => writeFileSync(file, readFileSync(file).fill(0x30, 3, 4))],
    ['empty', (file: string) => truncateSync(file, 0)],
    ['longer than it says', (file: string) => writeFileSync(file, 'more', { flag: 'a' })],
  ])('is not used when it is %s; the files are read', async (name, spoil) => {
    const spoiled = join(folder, `${name}.bin`)
    writeFileSync(spoiled, readFileSync(packed))
    spoil(spoiled)
    expect(readPackedNetworks(spoiled)).toBeNull()
    expect((await found({ packed: spoiled, files: () => files }))[0]?.asn).toBe(64496)
  })
})
