import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Reader } from 'maxmind'
import type { CountryResponse } from 'maxmind'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ipText, parseIp, parseRange } from '../../core/ip.ts'
import { places } from '../../core/places.ts'
import { countryName, createIpInfo } from './ipinfo.service.ts'
import type { IpInfo } from './ipinfo.service.ts'
import { isSpecial } from './special.ts'
import { eventually } from '../../testing/waiting.ts'

const require = createRequire(import.meta.url)
const countryFile = require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb')
const log = { info: vi.fn(), warn: vi.fn() }
const nowhere = {
  country: null,
  country_name: null,
  city: null,
  latitude: null,
  longitude: null,
  asn: null,
  asn_org: null,
}

interface Row {
  readonly first: string
  readonly last: string
  readonly asn: number
  readonly org: string
}
/** Every `step`th row of a shipped table, read in the simplest way, as the judge of the fast one. */
const rowsOf = (file: string, address: (field: string) => string, step: number): Row[] => {
  const lines = readFileSync(require.resolve(`@ip-location-db/asn/${file}`), 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    const fields = /^([^,]+),([^,]+),(\d+),(?:"((?:[^"]|"")*)"|(.*))$/.exec(line)
    if (!fields || index % step !== 0) return []
    const [, first = '', last = '', asn, quoted, bare] = fields
    return [
      {
        first: address(first),
        last: address(last),
        asn: Number(asn),
        org: quoted?.replaceAll('""', '"') ?? bare ?? '',
      },
    ]
  })
}
const dotted = (number: string) => {
  const value = Number(number)
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.')
}
const ipv4 = rowsOf('asn-ipv4-num.csv', dotted, 499)
const ipv6 = rowsOf('asn-ipv6.csv', field => field, 97)
/** An address of the internet, below and above the middle of IPv4. */
const low = ipv4[0]?.first ?? ''
const high = ipv4.findLast(row => row.first.startsWith('2'))?.first ?? ''

const directory = mkdtempSync(join(tmpdir(), 'ipinfo-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('data that ships', () => {
  let info: IpInfo
  beforeAll(async () => {
    info = createIpInfo({ cityFile: null, asnFile: null, log })
    // The packed file is there as soon as the server is; without it the files are read first.
    await info.ready
    expect(info.locate(low).asn).toBe(ipv4[0]?.asn)
  })
  afterAll(() => info.close())

  test('finds the network of the first and the last address of each range', () => {
    expect(ipv4.length).toBeGreaterThan(500)
    expect(ipv6.length).toBeGreaterThan(500)
    for (const row of [...ipv4, ...ipv6])
      for (const ip of [row.first, row.last]) {
        const { asn, asn_org } = info.locate(ip)
        expect({ ip, asn, asn_org }).toEqual({ ip, asn: row.asn, asn_org: row.org })
      }
  })

  test('finds no network before the first and after the last range', () => {
    expect(info.locate('0.255.255.255').asn).toBeNull()
    expect(info.locate('2000::').asn).toBeNull()
    expect(info.locate('3ffe::1').asn).toBeNull()
  })

  test('says the country that the file has, with its English name', () => {
    const reader = new Reader<CountryResponse>(readFileSync(countryFile))
    let known = 0
    for (const { first } of [...ipv4, ...ipv6]) {
      const record = reader.get(first) as unknown as { country_code: string } | null
      const place = info.locate(first)
      expect({ ip: first, country: place.country }).toEqual({ ip: first, country: record?.country_code ?? null })
      if (place.country === null) continue
      known++
      expect(place.country_name).toMatch(/\p{Lu}/u)
      expect(place.country_name).not.toBe(place.country)
    }
    expect(known).toBeGreaterThan(1000)
    for (let index = 0; index < 20_000; index++) {
      const bytes = randomBytes(index % 4 === 0 ? 16 : 4)
      // In what is given out of IPv6, or somewhere else.
      if (bytes.length === 16 && index % 8 === 0) bytes[0] = 0x20 | ((bytes[0] ?? 0) & 0x0f)
      const place = info.locate({ bytes, prefix: null, text: '' })
      const record = isSpecial(bytes) ? null : (reader.get(ipText(bytes, null)) as { country_code?: string } | null)
      expect({ bytes, country: place.country }).toEqual({ bytes, country: record?.country_code ?? null })
    }
  })

  test('takes every form of an address, a range by its first address, and one that is read already', () => {
    const place = info.locate(low)
    expect(info.locate(`::ffff:${low}`)).toEqual(place)
    expect(info.locate(`${low}/24`)).toEqual(place)
    expect(info.locate(parseRange(`${low}/24`) ?? '')).toEqual(place)
    expect(info.locate(parseIp(low) ?? '')).toEqual(place)
    expect(place.asn).not.toBeNull()
  })

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.2.1',
    '192.168.0.1',
    '198.51.100.1',
    '198.18.0.1',
    '198.19.255.255',
    '203.0.113.255',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:10.0.0.1',
    '64:ff9b::1',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    '2001:db8::1',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:2::1',
    '2001:1f::1',
    '3fff:fff::1',
    '10.0.0.0/8',
    '',
    'localhost',
    '1.2.3',
    '010.0.0.1',
    '1.2.3.4:80',
    'fe80::1%eth0',
    `${low}/33`,
    "'; drop table bans; --",
    '1'.repeat(100_000),
  ])('%.40s is nowhere', ip => {
    expect(info.locate(ip)).toEqual(nowhere)
  })

  test('stays unknown where the file can no longer be read, and the log says so once', () => {
    const packed = join(directory, 'damaged.bin')
    copyFileSync(places.packedPlaces, packed)
    const warn = vi.fn()
    const damaged = createIpInfo({ cityFile: null, asnFile: null, packed, log: { info: vi.fn(), warn } })
    expect(damaged.locate(low).asn).toBe(ipv4[0]?.asn)
    truncateSync(packed, 1_000_000)
    expect(damaged.locate(high)).toEqual(nowhere)
    expect(damaged.locate(ipv6[0]?.first ?? '')).toEqual(nowhere)
    expect(warn).toHaveBeenCalledOnce()
    damaged.close()
  })

  test('credits the makers of the data and says how old it is', () => {
    expect(info.credits).toMatch(/NRO/)
    expect(info.credits).toMatch(/RouteViews/)
    expect(info.credits).toMatch(/IP Geolocation by DB-IP \(https:\/\/db-ip\.com\)/)
    expect(info.credits).toMatch(/20\d\d-\d\d-\d\d/)
    expect(info.credits).toMatch(/approximate/)
  })
})

test.each([
  ['AT', 'Austria'],
  ['US', 'United States'],
  ['ZZZ', null],
  ['at', null],
  ['', null],
])('the name of country %s is %s', (code, name) => {
  expect(countryName(code)).toBe(name)
})

/** Encodes a value as an MMDB data section does (MaxMind DB format 2.0); enough for small records. */
const encode = (value: unknown): Buffer => {
  if (typeof value === 'string') {
    const size = value.length < 29 ? [(2 << 5) | value.length] : [(2 << 5) | 29, value.length - 29]
    return Buffer.concat([Buffer.from(size), Buffer.from(value)])
  }
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) {
    const bytes = Buffer.alloc(5)
    bytes.writeUInt8((6 << 5) | 4)
    bytes.writeUInt32BE(value, 1)
    return bytes
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9)
    bytes.writeUInt8((3 << 5) | 8)
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (Array.isArray(value)) return Buffer.concat([Buffer.from([value.length, 11 - 7]), ...value.map(encode)])
  const entries = Object.entries(value as Record<string, unknown>)
  return Buffer.concat([
    Buffer.from([(7 << 5) | entries.length]),
    ...entries.flatMap(([name, item]) => [encode(name), encode(item)]),
  ])
}
/** A node of the tree in records of 24, 28 or 32 bits. */
const nodeOf = (left: number, right: number, size: number): Buffer => {
  const hex = (record: number) => record.toString(16).padStart(size / 4, '0')
  const [l, r] = [hex(left), hex(right)]
  return Buffer.from(size === 28 ? `${l.slice(1)}${l[0] ?? ''}${r[0] ?? ''}${r.slice(1)}` : l + r, 'hex')
}
/** The lower half of IPv4 has the record, the upper half has none; in a tree of IPv6 behind 96 zeros. */
const mmdb = (type: string, record: unknown, size = 24, version = 4): Buffer => {
  const count = version === 4 ? 1 : 97
  return Buffer.concat([
    ...Array.from({ length: count - 1 }, (_, node) => nodeOf(node + 1, count, size)),
    nodeOf(count + 16, count, size),
    Buffer.alloc(16),
    encode(record),
    Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'),
    encode({
      binary_format_major_version: 2,
      binary_format_minor_version: 0,
      build_epoch: 1_780_000_000,
      database_type: type,
      description: { en: 'made by a test' },
      ip_version: version,
      languages: ['en'],
      node_count: count,
      record_size: size,
    }),
  ])
}
const nested = {
  country: { iso_code: 'AT', names: { en: 'Austria' } },
  city: { names: { de: 'Wien', en: 'Vienna' } },
  location: { latitude: 48.2, longitude: 16.37 },
}

describe("the operator's own files", () => {
  const opened: IpInfo[] = []
  afterAll(() => opened.forEach(info => info.close()))
  const open = (cityFile: string | null, asnFile: string | null = null) => {
    const info = createIpInfo({ cityFile, asnFile, log, interval: 20 })
    opened.push(info)
    return info
  }
  let files = 0
  const fileWith = (data: Buffer) => {
    const file = join(directory, `${++files}.mmdb`)
    writeFileSync(file, data)
    return file
  }

  test.each([
    ['nested', nested],
    ['flat', { country_code: 'AT', city: 'Vienna', latitude: 48.2, longitude: 16.37, state1: 'Vienna' }],
    ['flat with numbers as text', { country_code: 'AT', city: 'Vienna', latitude: '48.2', longitude: '16.37' }],
  ])('are read in the %s layout and win over the data that ships', async (_, record) => {
    const info = open(fileWith(mmdb('Own-City', record)))
    await info.ready
    expect(info.locate(low)).toEqual({
      country: 'AT',
      country_name: 'Austria',
      city: 'Vienna',
      latitude: 48.2,
      longitude: 16.37,
      asn: ipv4[0]?.asn,
      asn_org: ipv4[0]?.org,
    })
    expect(info.credits).toMatch(/own files: Own-City of 2026-05-28; otherwise country data/)
  })

  test.each([
    [24, 6],
    [28, 4],
    [28, 6],
    [32, 4],
    [32, 6],
  ])('are read with records of %i bits in a tree of IPv%i', (size, version) => {
    const info = open(fileWith(mmdb('Own-City', nested, size, version)))
    const other = ipv6[0]?.first ?? ''
    for (let time = 0; time < 2; time++) {
      expect(info.locate(low)).toMatchObject({ country: 'AT', city: 'Vienna' })
      expect(info.locate(high).city).toBeNull()
      expect(info.locate(other).city).toBeNull()
    }
  })

  test('leave what they do not know to the data that ships', () => {
    const shipped = open(null).locate(high)
    expect(shipped.country).toMatch(/^[A-Z]{2}$/)
    expect(open(fileWith(mmdb('Own-City', nested))).locate(high)).toEqual(shipped)
    expect(open(fileWith(mmdb('Own-City', { city: 'Vienna' }))).locate(low)).toEqual({
      ...open(null).locate(low),
      city: 'Vienna',
    })
  })

  test('never put a private address on the map', () => {
    expect(open(fileWith(mmdb('Own-City', nested))).locate('10.0.0.1')).toEqual(nowhere)
  })

  test('of networks win over the table that ships', async () => {
    const info = open(
      null,
      fileWith(
        mmdb('Own-ASN', { autonomous_system_number: 64500, autonomous_system_organization: 'Example Networks' }),
      ),
    )
    await info.ready
    expect(info.locate(low)).toMatchObject({ asn: 64500, asn_org: 'Example Networks' })
    expect(info.locate(high).asn).toBeGreaterThan(0)
    expect(info.locate(high).asn).not.toBe(64500)
  })

  test.each([
    ['of other types', { country_code: 7, city: { names: 'x' }, latitude: 'north', location: 3 }],
    ['out of bounds', { country_code: 'Austria', city: '', latitude: 4800, longitude: -1000.5 }],
    ['for unknown', { country_code: 'ZZ', city: '' }],
  ])('with values %s count as knowing nothing', (_, record) => {
    expect(open(fileWith(mmdb('Own-City', record))).locate(low)).toEqual(open(null).locate(low))
  })

  test('that are damaged inside answer nothing, and the log says so once', () => {
    const data = mmdb('Own-City', nested)
    // The type of the first value of the record, after the tree of 6 bytes and the gap of 16.
    data[6 + 16] = 0
    data[6 + 17] = 0xff
    const info = open(fileWith(data))
    log.warn.mockClear()
    expect(info.locate(low)).toEqual(open(null).locate(low))
    expect(info.locate(low)).toEqual(open(null).locate(low))
    expect(log.warn).toHaveBeenCalledTimes(1)
  })

  test('are read again when they change, and kept when the new one is broken', async () => {
    const file = fileWith(mmdb('Own-City', nested))
    const info = open(file)
    expect(info.locate(low).city).toBe('Vienna')
    writeFileSync(`${file}.new`, mmdb('Own-City', { country_code: 'IS', city: 'Reykjavik' }))
    renameSync(`${file}.new`, file)
    await eventually(() => expect(info.locate(low).city).toBe('Reykjavik'))

    log.warn.mockClear()
    writeFileSync(file, 'half a fi')
    await eventually(() => expect(log.warn).toHaveBeenCalled())
    expect(info.locate(low).city).toBe('Reykjavik')

    writeFileSync(file, mmdb('Own-City', nested))
    await eventually(() => expect(info.locate(low).city).toBe('Vienna'))
    rmSync(file)
    await new Promise(resolve => setTimeout(resolve, 100))
    expect(info.locate(low).city).toBe('Vienna')
  })

  test('may come later than the server', async () => {
    log.warn.mockClear()
    const file = join(directory, 'later.mmdb')
    const info = open(file)
    expect(log.warn).toHaveBeenCalled()
    expect(info.locate(low)).toMatchObject({ country: expect.stringMatching(/^[A-Z]{2}$/) as string, city: null })
    copyFileSync(fileWith(mmdb('Own-City', nested)), file)
    await eventually(() => expect(info.locate(low).city).toBe('Vienna'))
  })
})
