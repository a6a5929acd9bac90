import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aHost, eventually, raw, startServer } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'

/* Made-up bans of one stolen agent used up the day's reports to the reputation database, in the operator's name. */

const reported: string[] = []
const provider = createServer((request, reply) => {
  let sent = ''
  request.on('data', piece => (sent += String(piece)))
  request.on('end', () => {
    reported.push(new URLSearchParams(sent).get('ip') ?? '')
    reply.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"abuseConfidenceScore":1}}')
  })
})
let server: TestServer
let admin: Signed
const hosts: EnrolledHost[] = []
beforeAll(async () => {
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo
  server = await startServer({ env: { STOCKADE_REPUTATION_URL: `http://127.0.0.1:${port}` } })
  admin = await server.setUp()
  for (const name of ['stolen', 'honest', 'third', 'fourth', 'fifth'])
    hosts.push(await aHost(server, admin.client, name))
  await admin.client.call('PATCH /settings/reputation', { body: { enabled: true, api_key: 'key', rate_limit: 40 } })
})
afterAll(async () => {
  await server.close()
  provider.closeAllConnections()
  provider.close()
})

const report = (host: EnrolledHost | undefined, net: string, count: number) => {
  const bans = Array.from({ length: count }, (_, n) => ({ ip: `8.8.${net}.${n + 1}`, jail: 'sshd', ban_duration: 600 }))
  return raw(server, 'POST', '/api/v1/bans/batch', { token: host?.key ?? '', body: { bans } })
}
/** Reports begin with the bans after the switch was seen, which takes a moment: a ban that is reported shows that it was. */
const untilReporting = () =>
  eventually(async () => {
    await report(hosts[4], '9', 1)
    expect(from('9')).toBe(1)
  })
const from = (net: string) => reported.filter(ip => ip.startsWith(`8.8.${net}.`)).length

test('one host has its share of the day; what is left is for the others', async () => {
  await untilReporting()
  expect((await report(hosts[0], '1', 35)).status).toBe(200)
  await eventually(() => expect(from('1')).toBe(10))
  expect((await report(hosts[1], '2', 6)).status).toBe(200)
  await eventually(() => expect(from('2')).toBe(6))
  expect((await report(hosts[0], '3', 5)).status).toBe(200)
  expect((await report(hosts[1], '4', 2)).status).toBe(200)
  // In the order of the stream: what came before the last one was looked at.
  await eventually(() => expect(from('4')).toBe(2))
  expect([from('1'), from('3')]).toEqual([10, 0])
})
test('nothing of a host in quarantine', async () => {
  expect((await report(hosts[2], '5', 3)).status).toBe(200)
  const params = { serverId: hosts[2]?.id ?? '' }
  await admin.client.call('POST /servers/{serverId}/quarantine', { params, body: { reason: 'Made-up bans.' } })
  const before = from('5')
  expect((await report(hosts[2], '6', 3)).status).toBe(403)
  expect((await report(hosts[3], '7', 2)).status).toBe(200)
  await eventually(() => expect(from('7')).toBe(2))
  expect(from('5') - before).toBeLessThanOrEqual(3)
  expect(from('6')).toBe(0)
})
