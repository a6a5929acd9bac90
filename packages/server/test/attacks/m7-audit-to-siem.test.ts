import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, startServer } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'

/* A SIEM heard nothing of keys, users, commands and templates: whoever made himself a key left no trace elsewhere. */

let received = ''
const receiver = createServer((request, reply) => {
  request.on('data', piece => (received += String(piece)))
  request.on('end', () => reply.writeHead(200).end('{}'))
})
let server: TestServer
let admin: Signed
beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  server = await startServer()
  admin = await server.setUp()
})
afterAll(async () => {
  await server.close()
  receiver.closeAllConnections()
  receiver.close()
})

test('every entry of the audit log goes to a SIEM that asks for it, and to no other', async () => {
  const { port } = receiver.address() as AddressInfo
  const target = {
    enabled: true,
    format: 'json',
    host: '127.0.0.1',
    port,
    protocol: 'http',
    flush_interval: 1,
  } as const
  await admin.client.call('PATCH /siem/settings', { body: target })
  expect((await admin.client.call('GET /siem/settings')).events).not.toContain('audit')
  await admin.client.call('POST /keys', { body: { name: 'before' } })
  await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.1' } })
  await eventually(() => expect(received).toContain('192.0.2.1'))
  expect(received).not.toContain('key.create')
  await admin.client.call('PATCH /siem/settings', { body: { events: ['audit'] } })
  await admin.client.call('POST /keys', { body: { name: 'after' } })
  await eventually(() =>
    expect(received).toMatch(/"type":"audit"[^}]*"message":"key\.create by admin from 127\.0\.0\.1"/),
  )
  expect(received).toContain('"name":"after"')
})
