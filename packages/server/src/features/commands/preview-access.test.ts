import WebSocket from 'ws'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventually, raw, within } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser, withTwoHosts } from '../../testing/scene.ts'

/* A preview answers addresses from the log of a server: only who may see that server asks for one, and reads what it says. */

let server: TestServer
let admin: Signed
let team: Signed & { readonly id: number }
let web: EnrolledHost
let db: EnrolledHost
/** Of the log of the server that the team may not see, and of the other one. */
const [secret, open] = ['203.0.113.77', '198.51.100.33']
const params = { jail: 'sshd', days: 1 }
const outputOf = (ip: string) => JSON.stringify({ jail: 'sshd', banned: 1, addresses: [{ ip, failures: 9 }] })

withTwoHosts({}, async scene => {
  ;({ server, admin, web, db } = scene)
  await admin.client.call('PATCH /servers/{serverId}', { params: { serverId: web.id }, body: { tags: ['web'] } })
  team = await aUser(server, admin.client, 'team', 'Operator')
  await admin.client.call('PUT /users/{userId}/server-access', {
    params: { userId: team.id },
    body: { access_type: 'specific', server_ids: [], tags: ['web'] },
  })
})

const ask = (token: string, method: string, path: string, body?: object) =>
  raw(server, method, `/api/v1${path}`, { token, ...(body ? { body } : {}) })
const answer = async (host: EnrolledHost, ip: string) => {
  const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
    params: { serverId: host.id },
    query: { wait: 0 },
  })
  for (const { id } of commands)
    await host.client.call('POST /commands/{commandId}/result', {
      params: { commandId: id },
      body: { success: true, output: outputOf(ip), exit_code: 0 },
    })
}
/** A batch of an administrator for both, which both have answered. */
const previewed = async () => {
  const { batch_id, commands } = await admin.client.call('POST /commands/batch', {
    body: { server_ids: [web.id, db.id], type: 'jail-preview', params },
  })
  await answer(web, open)
  await answer(db, secret)
  const idOn = (host: EnrolledHost) => commands.find(({ server_id }) => server_id === host.id)?.id ?? ''
  return { batch_id, onWeb: idOn(web), onDb: idOn(db) }
}
const countPreviews = async () => (await admin.client.call('GET /commands', { query: { type: 'jail-preview' } })).total

describe.each<[string, () => Promise<string>]>([
  ['an operator who may see the servers of a tag', async () => team.token],
  [
    'a key of such an operator',
    async () => {
      const body = { name: 'mine', permissions: 'write' as const }
      return (await team.client.call('POST /users/{userId}/keys', { params: { userId: team.id }, body })).key
    },
  ],
  [
    'a key by tag',
    async () =>
      (await admin.client.call('POST /keys', { body: { name: 'tagged', permissions: 'write', tags: ['web'] } })).key,
  ],
])('%s', (_, tokenOf) => {
  let token: string
  beforeAll(async () => {
    token = await tokenOf()
  })

  test('previews on its servers', async () => {
    const reply = await ask(token, 'POST', `/servers/${web.id}/commands`, { type: 'jail-preview', params })
    expect(reply.status).toBe(201)
    await answer(web, open)
    const { id } = reply.json as { id: string }
    expect((await ask(token, 'GET', `/commands/${id}`)).text).toContain(open)
  })

  test('asks no other server, alone or among its own', async () => {
    const before = await countPreviews()
    const type = 'jail-preview'
    for (const [path, body] of [
      [`/servers/${db.id}/commands`, { type, params }],
      ['/commands/batch', { type, params, server_ids: [db.id] }],
      ['/commands/batch', { type, params, server_ids: [web.id, db.id] }],
      ['/commands/batch', { type, params_list: [params], server_ids: [web.id, db.id] }],
      ['/commands/batch', { type, targets: [web, db].map(({ id }) => ({ server_id: id, params })) }],
      ['/commands/prepare', { type, params, server_ids: [web.id, db.id] }],
    ] as const) {
      const { status, text } = await ask(token, 'POST', path, body)
      expect(status, `${path} ${JSON.stringify(body)}: ${text}`).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(500)
    }
    expect(await countPreviews(), 'nothing was queued, for its own server neither').toBe(before)
  })

  test('reads nothing that another server answered', async () => {
    const { batch_id, onWeb, onDb } = await previewed()
    expect((await ask(token, 'GET', `/commands/${onWeb}`)).text).toContain(open)
    for (const path of [
      `/commands/${onDb}`,
      '/commands?limit=100',
      `/commands?batch_id=${batch_id}`,
      `/commands?server_id=${db.id}`,
      '/commands?type=jail-preview&limit=100',
      `/commands?q=${secret}`,
      '/commands/stats',
      '/bans',
      '/bans/attackers',
      '/settings/audit?limit=100',
    ])
      expect((await ask(token, 'GET', path)).text, path).not.toContain(secret)
    expect([403, 404]).toContain((await ask(token, 'GET', `/commands/${onDb}`)).status)
    const { json } = await ask(token, 'GET', `/commands?batch_id=${batch_id}`)
    expect(json).toMatchObject({ total: 1, commands: [{ id: onWeb }] })
    const before = await countPreviews()
    expect([403, 404]).toContain((await ask(token, 'POST', `/commands/${onDb}/retry`)).status)
    expect(await countPreviews()).toBe(before)
  })
})

test('the live feed of such an operator tells of its servers only', async () => {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, ['stockade.v1', `bearer.${team.token}`])
  try {
    let heard = ''
    socket.on('message', data => (heard += String(data)))
    await within(new Promise(resolve => socket.on('open', resolve)), 'the live feed')
    const first = await previewed()
    const second = await previewed()
    await eventually(() => expect(heard).toContain(second.onWeb))
    expect(heard).toContain(first.onWeb)
    for (const text of [secret, first.onDb, second.onDb]) expect(heard).not.toContain(text)
  } finally {
    socket.terminate()
  }
})
