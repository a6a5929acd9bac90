import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { bounds } from '@stockade/contract'
import { aHost, aServerKey, eventually, raw } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { aUser, withTwoHosts } from '../../src/testing/scene.ts'

/* Somebody with access to one server, or with its key, uses up what everybody needs: the disk, and the bounds of the fleet. */

let server: TestServer
let admin: Signed
let limited: Signed
let web: EnrolledHost

withTwoHosts({}, async scene => {
  ;({ server, admin, web } = scene)
  limited = await aUser(server, admin.client, 'limited', 'Operator', [web.id])
})

const post = (who: { token: string }, path: string, body: object) =>
  raw(server, 'POST', `/api/v1${path}`, { token: who.token, body })
const target = () => ({ server_ids: [web.id] })

describe('commands that wait for a host', () => {
  const batch = (host: EnrolledHost, count: number) => ({
    type: 'jail-status',
    targets: Array.from({ length: count }, () => ({ server_id: host.id, params: { jail: 'sshd' } })),
  })
  test('are some hundred at most, whoever queues them and however', async () => {
    const host = await aHost(server, admin.client, 'crowded')
    const key = await aServerKey(server, admin.client, host.id)
    expect((await post(key, '/commands/batch', batch(host, bounds.waitingCommands + 1))).status).toBe(409)
    expect((await post(key, '/commands/batch', batch(host, bounds.waitingCommands - 1))).status).toBe(201)
    const order = { type: 'reload-all' }
    expect((await post(key, `/servers/${host.id}/commands`, order)).status).toBe(201)
    for (const [path, body] of [
      [`/servers/${host.id}/commands`, order],
      [`/servers/${host.id}/bans`, { ip: '203.0.113.9' }],
      ['/commands/batch', batch(host, 1)],
      ['/templates/sshd/deploy', { server_ids: [host.id] }],
    ] as const)
      expect(await post(admin, path, body), path).toMatchObject({
        status: 409,
        json: { message: expect.stringContaining('that wait for crowded') },
      })
    // Another host is not kept from its orders.
    expect((await post(admin, `/servers/${web.id}/commands`, order)).status).toBe(201)
    await host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id }, query: {} })
    await eventually(async () => expect((await post(admin, `/servers/${host.id}/commands`, order)).status).toBe(201))
  })

  test('are bounded in a day too, so that to cancel them makes no room for more', async () => {
    const host = await aHost(server, admin.client, 'busy')
    const key = await aServerKey(server, admin.client, host.id)
    const statuses: number[] = []
    for (let round = 0; round <= bounds.commandsPerDay / bounds.waitingCommands; round++) {
      const reply = await post(key, '/commands/batch', batch(host, bounds.waitingCommands))
      statuses.push(reply.status)
      if (reply.status !== 201) {
        expect(reply.json).toMatchObject({ message: expect.stringContaining('commands of the last 24 hours for busy') })
        break
      }
      const { commands } = reply.json as { commands: { id: string }[] }
      await post(key, '/commands/cancel', { ids: commands.map(({ id }) => id) })
    }
    expect(statuses).toEqual([...Array<number>(bounds.commandsPerDay / bounds.waitingCommands).fill(201), 409])
  })

  test('are not signed ones for a host that asks for no signature', async () => {
    const prepared = await admin.client.call('POST /commands/prepare', {
      body: { type: 'reload-all', server_ids: [web.id] },
    })
    const signature = { kind: 'ed25519', key: `SHA256:${'A'.repeat(43)}`, signature: 'A'.repeat(86) }
    expect(await post(admin, '/commands/sealed', { statements: prepared.statements, signature })).toMatchObject({
      status: 409,
      json: { message: expect.stringContaining('asks for no signature') },
    })
  })

  test('lift an address that is whitelisted once, however often it is reported', async () => {
    await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.0/24' } })
    const lifts = async () =>
      (await admin.client.call('GET /commands', { query: { type: 'unban-ip', server_id: web.id, limit: 100 } })).total
    const before = await lifts()
    for (let round = 0; round < 3; round++)
      await web.client.call('POST /bans/batch', {
        body: {
          bans: Array.from({ length: 300 }, (_, at) => ({
            ip: `192.0.2.${at % 30}`,
            jail: 'sshd',
            event_id: randomUUID(),
          })),
        },
      })
    await eventually(async () => expect((await lifts()) - before).toBe(30))
  })
})

describe('what the whole fleet has', () => {
  test('is made by a limited account to a tenth, and the rest stays for others', async () => {
    const share = Math.floor(bounds.blocklists.count / 10)
    const list = (name: string) => ({ name, source: { kind: 'countries', countries: ['AQ'] }, target: target() })
    for (let at = 0; at < share; at++) expect((await post(limited, '/lists', list(`mine ${at}`))).status).toBe(201)
    expect(await post(limited, '/lists', list('one more'))).toMatchObject({
      status: 409,
      json: { message: expect.stringMatching(/You have made 5 blocklists that stand.*at most 5/) },
    })
    expect((await post(admin, '/lists', list('theirs'))).status).toBe(201)
  })

  test('is counted for a user and all of its keys together', async () => {
    const silence = (reason: string) => ({
      target: target(),
      reason,
      ends_at: new Date(Date.now() + 3_600_000).toISOString(),
    })
    const share = bounds.alertSilences / 10
    const { key } = await limited.client.call('POST /users/{userId}/keys', {
      params: { userId: (await limited.client.call('GET /auth/me')).id },
      body: { name: 'mine', permissions: 'write' },
    })
    for (let at = 0; at < share; at++)
      expect((await post(at % 2 === 0 ? limited : { token: key }, '/alerts/silences', silence(`${at}`))).status).toBe(
        201,
      )
    for (const who of [limited, { token: key }])
      expect((await post(who, '/alerts/silences', silence('more'))).status).toBe(409)
    expect((await post(admin, '/alerts/silences', silence('work'))).status).toBe(201)
  })
})
