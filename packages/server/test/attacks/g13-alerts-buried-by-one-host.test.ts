import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { aHost, eventually, standingClock, startServer } from '../../src/testing/index.ts'
import type { EnrolledHost } from '../../src/testing/index.ts'

/* A stolen host invents jails by the hundred, so that alerts of other hosts drown among its own. */

test('alerts of one host are some, and push none of another out of a message', async () => {
  const clock = standingClock()
  const server = await startServer({ clock })
  const texts: string[] = []
  const receiver = createServer((request, reply) => {
    let sent = ''
    request.on('data', (piece: Buffer) => (sent += piece.toString()))
    request.on('end', () => {
      texts.push(sent)
      reply.writeHead(204).end()
    })
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    await server.close()
    receiver.closeAllConnections()
    receiver.close()
  })
  const signed = await server.setUp()
  const { key } = await signed.client.call('POST /keys', { body: { name: 'test', permissions: 'admin' } })
  const admin = server.client(key)
  const thief = await aHost(server, admin, 'thief')
  const honest = await aHost(server, admin, 'honest')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const { id } = await admin.call('POST /channels', {
    body: { name: 'all', preset: 'webhook', fields: [{ name: 'url', value: url }] },
  })
  await admin.call('PUT /alerts/routes', {
    body: { routes: [{ severities: [], rules: [], hours: null, channels: [id] }] },
  })
  const rule = await admin.call('POST /alerts/rules', { body: { name: 'New jails', kind: 'new-jail' } })
  const ban = (host: EnrolledHost, jails: readonly string[]) =>
    host.client.call('POST /bans/batch', {
      body: { bans: jails.map(jail => ({ ip: '45.33.7.7', jail, ban_duration: 600, event_id: randomUUID() })) },
    })
  for (let batch = 0; batch < 3; batch++)
    await ban(
      thief,
      Array.from({ length: 100 }, (_, place) => `invented-${batch}-${place}`),
    )
  await ban(honest, ['true-jail'])
  const ofRule = async () =>
    (await admin.call('GET /alerts', { query: { limit: 200 } })).alerts.filter(alert => alert.rule === rule.id)
  await eventually(async () => {
    clock.forward(0.5)
    expect((await ofRule()).map(({ title }) => title)).toContain('Bans of a new jail: true-jail')
    expect(texts.join()).toContain('true-jail')
  })
  const alerts = await ofRule()
  expect(alerts.filter(({ server: from }) => from?.hostname === 'thief').length).toBeLessThanOrEqual(11)
  expect(alerts.map(({ title }) => title)).toContain('New jails on thief: 290 more')
})
