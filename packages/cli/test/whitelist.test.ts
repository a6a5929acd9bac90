import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDnsServer } from '../../server/src/testing/dns-server.ts'
import type { DnsServer } from '../../server/src/testing/dns-server.ts'
import { aHost, startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { EnrolledHost, Signed, TestServer } from '../../server/src/testing/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'stockade-cli-'))
let dns: DnsServer
let server: TestServer
let admin: Signed
let host: EnrolledHost
let key: string
beforeAll(async () => {
  dns = await startDnsServer()
  server = await startServer({ env: { STOCKADE_DNS_SERVERS: dns.address } })
  admin = await server.setUp()
  host = await aHost(server, admin.client, 'web-01')
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'write' } })).key
})
afterAll(async () => {
  await server?.close()
  await dns?.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = (args: string[], input = '') =>
  stockade({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, ['whitelist', ...args], input)
const cells = (line: string | undefined) => line?.split(/ {2,}/) ?? []
const fileOf = (name: string, text: string) => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

test('add, check, list and remove', async () => {
  await host.client.call('POST /bans', { body: { ip: '198.51.100.7', jail: 'sshd' } })
  expect(await run(['add', '198.51.100.9/24', '--description', 'Office\u202e'])).toEqual({
    code: 0,
    err: '',
    out: '198.51.100.0/24 (Office\ufffd) is on the whitelist.\n1 active ban is being lifted.\n',
  })
  expect(await run(['add', '198.51.100.0/24'])).toMatchObject({ code: 1, err: expect.stringContaining('already') })
  expect((await run(['check', '::ffff:198.51.100.7'])).out).toBe(
    '198.51.100.7 is whitelisted by 198.51.100.0/24 (Office\ufffd).\n',
  )
  expect((await run(['check', '192.0.2.1'])).out).toBe('192.0.2.1 is not whitelisted.\n')
  const [head, row, , place] = (await run(['list', '--search', 'office'])).out.split('\n')
  expect(cells(head)).toEqual(['ADDRESS', 'DESCRIPTION', 'BY', 'ADDED', 'ID'])
  expect(cells(row)).toEqual(['198.51.100.0/24', 'Office\ufffd', 'key:ops', expect.stringMatching(/Z$/), '1'])
  expect(place).toBe('1 of 1 entries')
  // What covers an address is not taken off by naming the address.
  expect(await run(['remove', '198.51.100.7'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('198.51.100.0/24'),
  })
  expect(await run(['remove', '198.51.0.0/16'])).toMatchObject({ code: 1 })
  expect(await run(['remove', '198.51.100.0/24'])).toMatchObject({ code: 0, err: '' })
  await run(['add', '2001:db8::1'])
  expect((await run(['remove', '2001:DB8:0::1'])).out).toContain('2001:db8::1')
  expect(await run(['remove', '1'])).toMatchObject({ code: 1, err: expect.stringContaining('no whitelist entry 1') })
})

test('DNS names are added, listed and removed', async () => {
  dns.replies.set('office.dyn.example', { addresses: ['198.51.100.7', '2001:db8::7'] })
  expect(await run(['add', 'Office.dyn.example', '--description', 'Office'])).toEqual({
    code: 0,
    err: '',
    out: 'office.dyn.example is on the whitelist: 198.51.100.7, 2001:db8::7.\n',
  })
  expect((await run(['add', 'none.dyn.example'])).out).toContain('has no address yet. The name does not exist.')
  const [head, row] = (await run(['names'])).out.split('\n')
  expect(cells(head)).toEqual(['NAME', 'ADDRESSES', 'SINCE', 'CHECKED', 'ERROR', 'DESCRIPTION', 'BY', 'ID'])
  expect(cells(row).slice(0, 2)).toEqual(['office.dyn.example', '198.51.100.7 2001:db8::7'])
  expect(await run(['remove', '198.51.100.7'])).toMatchObject({ code: 1, err: expect.stringContaining('DNS name') })
  expect((await run(['remove', 'office.dyn.example.'])).out).toBe('office.dyn.example is off the whitelist.\n')
  expect(await run(['remove', 'office.dyn.example'])).toMatchObject({ code: 1 })
  expect((await run(['remove', 'none.dyn.example'])).code).toBe(0)
  expect((await run(['export'])).out).not.toContain('198.51.100.7')
})

test('import and export come back as they went out', async () => {
  const list = fileOf('list.txt', '192.0.2.1 # one\nnonsense\n192.0.2.2\n')
  const done = await run(['import', list, '--prefix', 'HQ '])
  expect(done).toMatchObject({ code: 1, err: 'stockade: 1 line was not taken.\n' })
  expect(done.out).toMatch(/^2 added, 0 there already\.\n\nLINE +VALUE +ERROR\n +2 +nonsense/)
  expect(await run(['import', '-'], '192.0.2.3\n192.0.2.1')).toMatchObject({
    code: 0,
    out: '1 added, 1 there already.\n',
  })
  expect((await run(['export'])).out).toBe('192.0.2.1\n192.0.2.2\n192.0.2.3\n')
  const csv = join(folder, 'list.csv')
  expect(await run(['export', '--format', 'csv', '--out', csv])).toEqual({ code: 0, out: '', err: '' })
  expect(readFileSync(csv, 'utf8')).toBe(
    'ip,description\r\n192.0.2.1,HQ one\r\n192.0.2.2,HQ \r\n192.0.2.3,\r\n'.replace('HQ \r', '"HQ "\r'),
  )
  expect(await run(['export', '--out', csv])).toMatchObject({ code: 1, err: expect.stringContaining('EEXIST') })
  expect((await run(['import', csv])).out).toBe('0 added, 3 there already.\n')
  const json = fileOf('list.json', (await run(['export', '--format', 'json'])).out)
  expect((await run(['import', json])).out).toBe('0 added, 3 there already.\n')
  expect(await run(['import', join(folder, 'none.txt')])).toMatchObject({
    code: 2,
    err: expect.stringContaining('ENOENT'),
  })
})

test('which servers have it, and to apply it again', async () => {
  const { version, whitelist } = await host.client.call('GET /agent/state')
  await host.client.call('POST /agent/state/ack', {
    body: { version, whitelist_version: whitelist.version, entry_count: whitelist.count },
  })
  const [, row, , sum] = (await run(['status'])).out.split('\n')
  expect(cells(row)).toEqual(['web-01', 'synced', expect.stringMatching(/^\d$/), expect.stringMatching(/Z$/), '-'])
  expect(sum).toBe('1 of 1 servers have the present list.')
  expect((await run(['sync', '--server', 'web-01'])).out).toBe('1 server applies the whitelist again.\n')
  expect((await run(['status'])).out).toContain('pending')
  expect(await run(['sync', '--server', 'nobody'])).toMatchObject({ code: 1, err: expect.stringContaining('nobody') })
  expect(JSON.parse((await run(['status', '--json'])).out)).toEqual(
    await admin.client.call('GET /whitelist/sync-status'),
  )
})
