import { readFileSync } from 'node:fs'
import { createServer as createHttps } from 'node:https'
import { createServer } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../packages/client/src/index.ts'
import { aHost, eventually, raw, startServer } from '../../packages/server/src/testing/index.ts'
import type { EnrolledHost, TestServer } from '../../packages/server/src/testing/index.ts'
import { has, makeCertificates, readRsyslog, readSyslogNg, startRsyslog, startSyslogNg } from './programs.ts'
import type { Certificates, Got, Receiver } from './programs.ts'

/* Forwarding to Debian's rsyslog and syslog-ng: what they parsed is compared with what happened, event by event. */

let certificates: Certificates
let server: TestServer
let admin: Client
let key = ''
let host: EnrolledHost
let next = 1

const set = async (body: object) => {
  const reply = await raw(server, 'PATCH', '/api/v1/siem/settings', { token: key, body })
  expect(reply.text).toContain('message')
  expect(reply.status).toBe(200)
}
const status = () => admin.call('GET /siem/status')
const testEvent = () => raw(server, 'POST', '/api/v1/siem/test', { token: key })

/** Every kind of thing that an operator or a host does, with names as hostile as they can be. */
const happen = async (): Promise<Map<string, string>> => {
  const ip = `203.0.113.${(next++ % 250) + 1}`
  await host.client.call('POST /bans', { body: { ip, jail: 'sshd', log_lines: 'a\nb', ban_duration: 600 } })
  await host.client.call('POST /bans', { body: { ip: '2001:db8::7', jail: 'nginx-http-auth' } })
  await host.client.call('POST /bans/batch', { body: { unbans: [{ ip, jail: 'sshd' }] } })
  const username = `mal"lory] \\ =|^ ${String.fromCharCode(10, 0)}ü [x y="z"]`
  await raw(server, 'POST', '/api/v1/auth/login', { body: { username: username.slice(0, 50), password: 'x' } })
  const entry = await admin.call('POST /whitelist', {
    body: { ip: `192.0.2.${next++ % 250}`, description: 'a "desk"' },
  })
  await admin.call('DELETE /whitelist/{id}', { params: { id: entry.id } })
  await admin.call('PATCH /settings', { body: { service: { site_name: `Castle ${next++}` } } })
  await server.signIn()
  const waiting = await eventually(async () => {
    const { events } = await admin.call('GET /siem/queue')
    expect(events.filter(({ type }) => type === 'login_success').length).toBeGreaterThan(0)
    return events
  })
  return new Map(waiting.map(({ id, type }) => [id, type]))
}
/** To this receiver; what happened before it is out of the way. */
const aim = async (more: object) => {
  await set({ enabled: false })
  await admin.call('DELETE /siem/queue')
  await set({
    format: 'syslog',
    host: 'localhost',
    protocol: 'tcp',
    tls_enabled: false,
    ca_cert: null,
    flush_interval: 3600,
    ...more,
  })
  await set({ enabled: true })
}
const deliver = async (): Promise<Map<string, string>> => {
  const happened = await happen()
  const flushed = await admin.call('POST /siem/flush')
  expect(flushed.events_failed).toBe(0)
  expect(flushed.events_sent).toBeGreaterThanOrEqual(happened.size)
  return happened
}
const compare = (got: readonly Got[], happened: ReadonlyMap<string, string>, first = '') => {
  for (const [id, type] of happened) {
    const found = got.filter(message => message.id === id)
    expect(found, `${type} ${id}`).toHaveLength(1)
    const [message] = found
    if (!message) return
    expect(message).toMatchObject({ type, facility: '10' })
    const { params } = message
    if (type === 'ban' || type === 'unban') expect(params.server).toBe('web-01')
    if (type === 'ban' && params.ip === '2001:db8::7') expect(params.jail).toBe('nginx-http-auth')
    if (type === 'login_failed') expect(params.user).toMatch(/^mal"lory\] \\ =\|\^ ␊\ufffdü \[x y="z"\]$/)
    if (type === 'login_failed')
      expect(message.message).toContain('Sign-in of mal"lory] \\ =|^ ␊\ufffdü [x y="z"] failed from 127.0.0.1')
    if (type === 'whitelist_add') expect(message.message).toContain('added to the whitelist by admin')
    expect(message.message.startsWith(first)).toBe(true)
  }
}

beforeAll(async () => {
  certificates = makeCertificates()
  server = await startServer()
  admin = (await server.setUp()).client
  key = (await admin.call('POST /keys', { body: { name: 'siem', permissions: 'admin' } })).key
  host = await aHost(server, admin)
})
afterAll(async () => {
  await server.close()
  certificates.close()
})

describe.skipIf(!has.rsyslog)('rsyslog', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startRsyslog(certificates)
  })
  afterAll(() => receiver.close())
  const got = () => readRsyslog(receiver)
  test.each([
    [
      'TLS with an authority of its own',
      () => ({ tls_enabled: true, port: receiver.ports.tls, ca_cert: certificates.ca }),
    ],
    ['TCP', () => ({ port: receiver.ports.tcp })],
    ['UDP', () => ({ protocol: 'udp', port: receiver.ports.udp })],
  ])('%s: every event is there once, with its fields', async (_, more) => {
    await aim(more())
    const happened = await deliver()
    await eventually(() => compare(got(), happened))
  })
  test.each([
    ['cef', 'CEF:0|Stockade|Stockade|'],
    ['leef', 'LEEF:2.0|Stockade|Stockade|'],
  ])('%s in syslog', async (format, first) => {
    await aim({ format, port: receiver.ports.tcp })
    await deliver()
    await eventually(() => {
      const failed = got().find(({ message, type }) => type === 'login_failed' && message.startsWith(first))
      expect(failed?.message).toContain(format === 'cef' ? ' suser=mal"lory]' : '^usrName=mal"lory]')
      expect(failed?.message).toContain(format === 'cef' ? '\\=|^ ' : '\\=|\\^ ')
      expect(failed?.message).toContain('externalId=')
    })
  })
  test('the test event says what happened on the way', async () => {
    await aim({ tls_enabled: true, port: receiver.ports.tls, ca_cert: certificates.ca })
    const reply = await testEvent()
    expect(reply.status).toBe(200)
    const { event_id, steps } = reply.json as { event_id: string; steps: { name: string; ok: boolean }[] }
    expect(steps.map(({ name, ok }) => [name, ok])).toEqual(
      ['resolve', 'connect', 'tls', 'write', 'answer'].map(name => [name, true]),
    )
    await eventually(() =>
      expect(got().find(({ id }) => id === event_id)).toMatchObject({ type: 'test', severity: '6' }),
    )
  })
})

describe.skipIf(!has.syslogNg)('syslog-ng', () => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startSyslogNg(certificates)
  })
  afterAll(() => receiver.close())
  const got = () => readSyslogNg(receiver)
  test.each([
    ['TLS', () => ({ tls_enabled: true, port: receiver.ports.tls, ca_cert: certificates.ca })],
    ['TCP', () => ({ port: receiver.ports.tcp })],
    ['UDP', () => ({ protocol: 'udp', port: receiver.ports.udp })],
  ])('%s: every event is there once, with its fields', async (_, more) => {
    await aim(more())
    const happened = await deliver()
    await eventually(() => compare(got(), happened))
  })
})

describe('certificates that do not fit', () => {
  const withCertificate = async (name: string, work: (port: number, taken: () => number) => Promise<void>) => {
    let taken = 0
    const receiver = createServer(
      {
        cert: readFileSync(join(certificates.folder, `${name}.pem`)),
        key: readFileSync(join(certificates.folder, `${name}.key`)),
      },
      socket => socket.on('error', () => {}).on('data', piece => (taken += piece.length)),
    )
    receiver.on('tlsClientError', () => {})
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
    await work((receiver.address() as AddressInfo).port, () => taken).finally(() => receiver.close())
  }
  test.each([
    ['expired', /expired/],
    ['self', /self-signed/],
    ['other', /elsewhere\.example|altnames/],
  ])('%s: nothing is sent, the test says why, the queue waits', async (name, why) => {
    await withCertificate(name, async (port, taken) => {
      await aim({ tls_enabled: true, port, ca_cert: certificates.ca })
      const reply = await testEvent()
      expect(reply.status).toBe(400)
      const { error, message, steps } = reply.json as { error: string; message: string; steps: { name: string }[] }
      expect(error).toBe('Connection failed')
      expect(message).toMatch(/^TLS failed: /)
      expect(message).toMatch(why)
      expect(steps.at(-1)).toMatchObject({ name: 'tls', ok: false })
      await host.client.call('POST /bans', { body: { ip: '203.0.113.77', jail: 'sshd' } })
      await admin.call('POST /siem/flush')
      await eventually(async () => expect((await status()).last_error).toMatch(why))
      expect((await status()).queue_size).toBeGreaterThan(0)
      expect(taken()).toBe(0)
      // An operator may decide otherwise.
      await set({ tls_verify: false })
      expect((await testEvent()).status).toBe(200)
      await eventually(() => expect(taken()).toBeGreaterThan(0))
      await set({ tls_verify: true })
    })
  })
  test('JSON over HTTPS with an authority of its own', async () => {
    const found: { id: string; type: string }[] = []
    const file = (name: string) => readFileSync(join(certificates.folder, name))
    const receiver = createHttps({ cert: file('good.pem'), key: file('good.key') }, (request, reply) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        const body = Buffer.concat(pieces)
        const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
        found.push(...(JSON.parse(text.toString()) as typeof found))
        reply.writeHead(204).end()
      })
    })
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = receiver.address() as AddressInfo
      await aim({ format: 'json', protocol: 'https', port, ca_cert: certificates.ca })
      const happened = await deliver()
      for (const [id, type] of happened) expect(found.filter(event => event.id === id)).toMatchObject([{ type }])
      const { steps } = (await testEvent()).json as { steps: { name: string; ok: boolean }[] }
      expect(steps.map(({ name, ok }) => [name, ok])).toEqual(
        ['resolve', 'connect', 'tls', 'write', 'answer'].map(name => [name, true]),
      )
      await set({ ca_cert: null })
      expect((await testEvent()).json).toMatchObject({ error: 'Connection failed' })
    } finally {
      receiver.closeAllConnections()
      receiver.close()
    }
  })
  test('other steps that fail are named, too', async () => {
    const failing = async (body: object) => {
      await set({ enabled: false, tls_enabled: false, ca_cert: null, ...body })
      const reply = await testEvent()
      expect(reply.status).toBe(400)
      return (reply.json as { message: string }).message
    }
    expect(await failing({ host: 'nowhere.invalid', port: 514 })).toMatch(
      /^Resolving the host failed: nowhere\.invalid/,
    )
    expect(await failing({ host: 'localhost', port: 1 })).toMatch(/^Connecting failed: nothing listens there/)
    expect(await failing({ host: null })).toBe('No host is set.')
    expect(await failing({ host: 'localhost', port: server.port })).toMatch(
      /^Resolving the host failed: .* is this server itself/,
    )
  })
})
