import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ipText, parseIp } from '../../core/ip.ts'
import { inFile, openPacked, packPlaces } from './place-pack.ts'
import { mergeSteps } from './place-steps.ts'
import { countryOf } from './records.ts'
import { loadShipped, openShipped, packFiles } from './shipped.ts'
import type { ShippedSources } from './shipped.ts'

const require = createRequire(import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'places-'))
afterAll(() => rmSync(folder, { recursive: true }))

const files = {
  ipv4: join(folder, 'ipv4.csv'),
  ipv6: join(folder, 'ipv6.csv'),
  countries: require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'),
}
const packed = join(folder, 'places.bin')
beforeAll(async () => {
  writeFileSync(files.ipv4, '3221225984,3221226239,64496,"Réseau ""One"""\n3325256704,3325256959,64497,Two\n')
  writeFileSync(files.ipv6, '2001:db8::,2001:db8:0:ffff:ffff:ffff:ffff:ffff,64496,One\n')
  writeFileSync(packed, await packFiles(files))
})

const bytesOf = (address: string) => parseIp(address)?.bytes ?? new Uint8Array()
const addresses = ['192.0.2.0', '192.0.2.255', '192.0.3.0', '198.51.100.7', '2001:db8::1', '2001:db8:1::', '0.0.0.0']
const found = async (sources: ShippedSources) => {
  const shipped = await loadShipped(sources)
  return addresses.map(address => shipped.find(bytesOf(address)))
}
const noFiles = () => {
  throw new Error('the files of the packages are not there')
}
/** Two networks and two countries that overlap, in each family. */
const tables = (width: 1 | 4) => {
  const address = (last: number) => [...Array.from({ length: width - 1 }, () => 0), last]
  const bytes = (last: number) => Uint8Array.from([...Array.from({ length: width * 4 - 1 }, () => 0), last])
  const ranges = {
    width,
    count: 2,
    starts: Uint32Array.from([...address(4), ...address(16)]),
    ends: Uint32Array.from([...address(11), ...address(31)]),
    owners: Uint32Array.of(0, 1),
  }
  const entries = [
    { bytes: bytes(8), prefix: width * 32 - 3, record: { country_code: 'AA' } },
    { bytes: bytes(24), prefix: width * 32 - 3, record: { country_code: 'ZZ' } },
    { bytes: bytes(32), prefix: width * 32 - 5, record: { country_code: 'BB' } },
  ]
  return mergeSteps(ranges, entries, countryOf)
}
const steps = (width: 1 | 4) => tables(width).map(({ start, owner, country }) => [Number(start), owner, country])

describe('the packed places', () => {
  it('have a step wherever the network or the country changes, and nowhere else', () => {
    const expected = [
      [0, 0, 0],
      [4, 1, 0],
      [8, 1, 0x4141],
      [12, 0, 0x4141],
      [16, 2, 0],
      [32, 0, 0x4242],
      [64, 0, 0],
    ]
    expect(steps(1)).toEqual(expected)
    expect(steps(4)).toEqual(expected)
  })
  it('end a range where one inside of it begins, and know nobody behind that one', () => {
    const ranges = {
      width: 1,
      count: 3,
      starts: Uint32Array.of(2, 4, 4),
      ends: Uint32Array.of(9, 5, 4),
      owners: Uint32Array.of(0, 1, 2),
    }
    const merged = mergeSteps(ranges, [], countryOf)
    expect(merged.map(({ start, owner }) => [Number(start), owner])).toEqual([
      [0, 0],
      [2, 1],
      [4, 3],
      [5, 0],
    ])
  })
  it('give the ranges of what is asked for, joined, up to the last address of each family', async () => {
    const last = join(folder, 'last.bin')
    const owners = { asns: Uint32Array.of(64496, 64497), names: Buffer.from('OneTwo'), nameEnds: Uint32Array.of(3, 6) }
    const whole = { start: 64n, owner: 0, country: 0x4343 }
    writeFileSync(
      last,
      packPlaces({
        ipv4: [...tables(1), whole].filter(({ start, country }) => start !== 64n || country > 0),
        ipv6: tables(4),
        owners,
        label: 'x',
      }),
    )
    const shipped = await loadShipped({ packed: last, files: noFiles })
    const ranges = (countries: readonly string[], asns: readonly number[]) =>
      [...shipped.ranges({ countries: new Set(countries), asns: new Set(asns) })].flatMap(range =>
        range ? [range.map(address => ipText(address, null)).join(' to ')] : [],
      )
    expect(ranges(['AA'], [64496])).toEqual(['0.0.0.4 to 0.0.0.15', '::4 to ::f'])
    expect(ranges(['CC'], [])).toEqual(['0.0.0.64 to 255.255.255.255'])
    expect(ranges([], [64499])).toEqual([])
  })
  it('answer the same from the disk as from the files that they were made of', async () => {
    const fromPacked = await found({ packed, files: noFiles })
    expect(fromPacked).toEqual(await found({ packed: join(folder, 'missing.bin'), files: () => files }))
    expect(fromPacked.map(({ network }) => network)).toEqual([
      { asn: 64496, org: 'Réseau "One"' },
      { asn: 64496, org: 'Réseau "One"' },
      null,
      { asn: 64497, org: 'Two' },
      { asn: 64496, org: 'Réseau "One"' },
      null,
      null,
    ])
  })
  it.each([
    ['cut short', (file: string) => truncateSync(file, readFileSync(file).length - 1)],
    ['of another format', (file: string) => writeFileSync(file, readFileSync(file).fill(0x30, 3, 4))],
    ['empty', (file: string) => truncateSync(file, 0)],
    ['longer than it says', (file: string) => writeFileSync(file, 'more', { flag: 'a' })],
  ])('are not used when the file is %s', (name, spoil) => {
    const spoiled = join(folder, `${name}.bin`)
    writeFileSync(spoiled, readFileSync(packed))
    spoil(spoiled)
    expect(openPacked(inFile(spoiled))).toBeNull()
  })
  it('are looked for in the files when the packed one gives an error', async () => {
    const unreadable = join(folder, 'unreadable.bin')
    mkdirSync(unreadable)
    expect(openShipped(unreadable)).toBeNull()
    await expect(loadShipped({ packed: unreadable, files: noFiles })).rejects.toThrow('are not there')
  })
  it('say so when they are not there, nor the files', async () => {
    await expect(loadShipped({ packed: join(folder, 'nowhere.bin'), files: noFiles })).rejects.toThrow('are not there')
  })
})
