import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { raw, startServer } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'

/*
 * An administrator's session without the secrets points mail and SIEM at a machine of its own, and has a test sent there. What
 * listens stands on loopback and writes down all that it is told.
 */
let server: TestServer
let admin: Signed
const heard: string[] = []
const sockets = new Set<Socket>()
let listener: Server
let port: number

beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
  listener = createServer(socket => {
    sockets.add(socket)
    socket
      .on('error', () => {})
      .on('data', data => {
        heard.push(String(data))
        socket.write('250-thief.example\r\n250 AUTH PLAIN LOGIN\r\n')
      })
    socket.write('220 thief.example ESMTP\r\n')
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  port = (listener.address() as { port: number }).port
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise(resolve => listener.close(resolve))
  await server.close()
})
const patch = (path: string, body: object) => raw(server, 'PATCH', `/api/v1${path}`, { token: admin.token, body })

test('the SMTP password stays with the host, port and TLS setting that it was entered for', async () => {
  const smtp = { smtp_host: 'mail.stockade.example', smtp_port: 587, smtp_user: 'stockade', smtp_pass: 'SMTP-SECRET-1' }
  const rest = { enabled: true, from_address: 'stockade@stockade.example', recipients: ['anna@stockade.example'] }
  expect(await patch('/settings/email', { ...smtp, ...rest })).toMatchObject({ status: 200 })
  const refused = {
    status: 400,
    json: { message: expect.stringContaining('Send smtp_pass again'), details: [{ path: 'smtp_pass' }] },
  }
  for (const change of [
    { smtp_host: '127.0.0.1', smtp_port: port, smtp_tls: false },
    { smtp_host: '127.0.0.1' },
    { smtp_port: 25 },
    { smtp_tls: false },
  ])
    expect(await patch('/settings/email', change), JSON.stringify(change)).toMatchObject(refused)
  // Nor by the way of no host at all.
  expect(await patch('/settings/email', { smtp_host: null })).toMatchObject({ status: 200 })
  expect(await patch('/settings/email', { smtp_host: '127.0.0.1', smtp_port: port, smtp_tls: false })).toMatchObject(
    refused,
  )
  // Back where it was, it needs no password; the rest changes as ever.
  expect(await patch('/settings/email', { smtp_host: 'mail.stockade.example' })).toMatchObject({ status: 200 })
  expect(await patch('/settings/email', { recipients: ['berta@stockade.example'] })).toMatchObject({ status: 200 })
  expect(await patch('/settings/email', {})).toMatchObject({ status: 200 })
  // Whoever gives the password up may point it anywhere; then it is not told.
  expect(
    await patch('/settings/email', { smtp_host: '127.0.0.1', smtp_port: port, smtp_tls: false, smtp_pass: null }),
  ).toMatchObject({ status: 200 })
  await raw(server, 'POST', '/api/v1/settings/email/test', { token: admin.token, body: {} })
  expect(heard.join('')).not.toContain(Buffer.from('SMTP-SECRET-1').toString('base64').slice(0, 12))
  expect(heard.join('')).not.toContain('AUTH')
})

test('so does the token of a SIEM', async () => {
  const siem = { host: 'siem.stockade.example', port: 8088, format: 'collector', tls_enabled: true }
  expect(await patch('/siem/settings', { ...siem, token: 'SPLUNK-SECRET-1' })).toMatchObject({ status: 200 })
  const refused = { status: 400, json: { message: expect.stringContaining('Send token again') } }
  for (const change of [
    { host: '127.0.0.1', port, tls_enabled: false },
    { port },
    { tls_enabled: false },
    { tls_verify: false },
    { protocol: 'http' },
  ])
    expect(await patch('/siem/settings', change), JSON.stringify(change)).toMatchObject(refused)
  expect(await patch('/siem/settings', { host: null })).toMatchObject({ status: 200 })
  // The token went with its host, and does not come back with it.
  for (const change of [
    {},
    { host: 'siem.stockade.example' },
    { host: null },
    { host: '127.0.0.1', port, tls_enabled: false },
  ]) {
    expect(await patch('/siem/settings', change)).toMatchObject({ status: 200 })
    expect(await admin.client.call('GET /siem/settings')).toMatchObject({ token_set: false })
  }
  await raw(server, 'POST', '/api/v1/siem/test', { token: admin.token, body: {} })
  expect(heard.join('')).not.toContain('SPLUNK-SECRET-1')
})

test('the audit log tells neither secret nor the address of the webhook', async () => {
  const webhook = 'https://chat.stockade.example/services/T0/WEBHOOK-SECRET-1'
  await admin.client.call('PATCH /settings/chat', { body: { webhook_url: webhook } })
  for (const path of ['/settings/audit', '/settings/audit/export?format=json', '/settings/export']) {
    const { text, status } = await raw(server, 'GET', `/api/v1${path}`, { token: admin.token })
    expect(status).toBe(200)
    for (const secret of ['WEBHOOK-SECRET', 'SMTP-SECRET', 'SPLUNK-SECRET']) expect(text, path).not.toContain(secret)
  }
})
