import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createIpInfo } from '../features/ipinfo/ipinfo.service.ts'
import { eventually } from '../testing/waiting.ts'
import { sourceOf, updateGeoip } from './geoip.ts'

const require = createRequire(import.meta.url)
const data = readFileSync(require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'))
const replies: Record<string, Buffer> = {
  '/city.mmdb.gz': gzipSync(data, { level: 1 }),
  '/asn.mmdb': data,
  '/page.html': Buffer.from('<html>Not here</html>'),
}
const web = createServer((request, reply) => {
  const found = replies[request.url ?? '']
  reply.writeHead(found ? 200 : 404).end(found)
})
let base: string
const dataDir = mkdtempSync(join(tmpdir(), 'stockade-geoip-'))
beforeAll(async () => {
  await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
})
afterAll(() => {
  web.close()
  rmSync(dataDir, { recursive: true, force: true })
})
const update = async (urls: { city?: string; asn?: string }) => {
  const lines: string[] = []
  for await (const line of updateGeoip(dataDir, urls)) lines.push(line)
  return lines
}

test('fetched files are taken over by a server that runs', async () => {
  const log = { info() {}, warn: (...said: unknown[]) => expect(said).toEqual([]) }
  const info = createIpInfo({ cityFile: null, asnFile: null, dataDir, log, interval: 20 })
  try {
    await info.ready
    expect(info.credits).not.toContain('own files')
    const lines = await update({ city: `${base}/city.mmdb.gz`, asn: `${base}/asn.mmdb` })
    expect(lines).toHaveLength(2)
    expect(readFileSync(join(dataDir, 'geoip-city.mmdb')).equals(data)).toBe(true)
    await eventually(() => expect(info.credits).toContain('own files'))
    expect(info.locate('8.8.8.8').country).toBe('US')
  } finally {
    info.close()
  }
})
test('what is no such file changes nothing', async () => {
  await expect(update({ city: `${base}/page.html` })).rejects.toThrow('no MMDB file')
  await expect(update({ city: `${base}/nowhere` })).rejects.toThrow('404')
  expect(readFileSync(join(dataDir, 'geoip-city.mmdb')).equals(data)).toBe(true)
})
test('the edition of the month is asked for', () =>
  expect(sourceOf('city', new Date('2026-11-21T00:00:00Z'))).toMatch(/city-lite-2026-11\.mmdb\.gz$/))
