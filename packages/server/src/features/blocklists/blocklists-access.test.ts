import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aHost, movableClock, password, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { startListSource } from '../../testing/list-source.ts'
import { aUser } from '../../testing/scene.ts'

/* What lists and previews tell, and whom they let reach what. */

const clock = movableClock()
const source = await startListSource()
const { url, asked, answers, text } = source
let server: TestServer
let admin: Signed
let operator: Signed
let viewer: Signed
let limited: Signed
let web: EnrolledHost

beforeAll(async () => {
  server = await startServer({ clock })
  admin = await server.setUp()
  web = await aHost(server, admin.client, 'web-01')
  operator = await aUser(server, admin.client, 'operator', 'Operator')
  viewer = await aUser(server, admin.client, 'viewer', 'Viewer')
  limited = await aUser(server, admin.client, 'limited', 'Operator', [web.id])
})
afterAll(async () => {
  await server.close()
  source.close()
})
beforeEach(async () => {
  clock.forward(120)
  answers.clear()
  asked.length = 0
  for (const { id } of (await admin.client.call('GET /lists')).lists)
    await admin.client.call('DELETE /lists/{id}', { params: { id } })
})

const listOf = (path: string) => ({ kind: 'url' as const, url: `${url}${path}` })
const create = (by: Signed, more: object = {}) =>
  by.client.call('POST /lists', {
    body: { name: 'list', source: listOf('/list'), target: { server_ids: [web.id] }, ...more },
  })
const preview = (by: Signed, more: object = {}) =>
  by.client.call('POST /lists/preview', { body: { source: listOf('/list'), ...more } })
const refresh = (by: Signed, id: number) => by.client.call('POST /lists/{id}/refresh', { params: { id }, body: {} })
const change = (by: Signed, id: number, body: object) => by.client.call('PATCH /lists/{id}', { params: { id }, body })

describe('private and loopback addresses', () => {
  test('are read by consent of an administrator with access to all servers only', async () => {
    text('/list', '198.51.100.1\n')
    for (const by of [operator, limited]) {
      await expect(preview(by, { allow_private: true })).rejects.toMatchObject({ status: 403 })
      await expect(create(by, { allow_private: true })).rejects.toMatchObject({ status: 403 })
      await expect(preview(by)).rejects.toMatchObject({ status: 409 })
    }
    await expect(preview(admin)).rejects.toMatchObject({
      status: 409,
      message: expect.stringMatching(/private or loopback address/) as string,
    })
    const { id } = await create(operator)
    expect((await refresh(operator, id)).last_error).toMatch(/private or loopback address/)
    await expect(change(operator, id, { allow_private: true })).rejects.toMatchObject({ status: 403 })
    expect(asked).toEqual([])
    await change(admin, id, { allow_private: true })
    expect(await refresh(operator, id)).toMatchObject({ entries: 1, last_error: null })
    // The consent is for this source.
    await expect(change(operator, id, { source: listOf('/other') })).rejects.toMatchObject({ status: 403 })
    expect((await change(operator, id, { name: 'renamed' })).allow_private).toBe(true)
    expect((await change(operator, id, { allow_private: false, source: listOf('/other') })).allow_private).toBe(false)
    expect(await preview(admin, { allow_private: true })).toMatchObject({ entries: 1 })
  })

  test('need a proof of identity, as wide ranges do', async () => {
    const signedIn = await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    clock.forward(16 * 60)
    const ask = (path: string, body: object) =>
      raw(server, 'POST', `/api/v1${path}`, { headers: { cookie, origin: server.url }, body })
    const list = { name: 'list', source: listOf('/list'), target: { all: true } }
    const refused = { status: 403, json: { step_up: { methods: ['password'] } } }
    expect(await ask('/lists', { ...list, allow_private: true })).toMatchObject(refused)
    expect(await ask('/lists', { ...list, allow_wide: true })).toMatchObject(refused)
    expect(await ask('/lists/preview', { source: list.source, allow_private: true })).toMatchObject(refused)
    expect(await ask('/lists', list)).toMatchObject({ status: 201 })
  })
})

test('keys that are bound to servers have no part in lists', async () => {
  const { id } = await create(admin)
  const { api_key } = await admin.client.call('POST /servers', { body: { hostname: 'own-client' } })
  for (const by of [web.client, server.client(api_key)]) {
    const key = { client: by, token: '' }
    const asks = [preview, create, () => change(key, id, { name: 'taken' }), () => refresh(key, id)]
    for (const ask of asks) await expect(ask(key)).rejects.toMatchObject({ status: 403 })
    await expect(by.call('DELETE /lists/{id}', { params: { id } })).rejects.toMatchObject({ status: 403 })
  }
})

test('a preview is audited, without what may be a secret of its URL', async () => {
  text('/list?token=hidden', '198.51.100.1\n')
  await preview(admin, { source: listOf('/list?token=hidden'), allow_private: true })
  answers.clear()
  await expect(preview(operator)).rejects.toMatchObject({ status: 409 })
  const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'list.preview' } })
  const [second, first] = entries
  expect(first).toMatchObject({ user: 'admin', details: { source: listOf('/list') } })
  expect(second).toMatchObject({ user: 'operator', details: { source: listOf('/list') } })
  expect(JSON.stringify(entries)).not.toContain('hidden')
})

test('tokens in a URL are shown to administrators with access to all servers only', async () => {
  const token = 'a1b2c3d4e5f6a7b8'
  const secret = `/feeds/${token}/drop.txt?key=${token}#${token}`
  const { id } = await create(admin, { source: listOf(secret) })
  const read = (by: Signed) => by.client.call('GET /lists/{id}', { params: { id } })
  expect(await read(admin)).toMatchObject({ source: listOf(secret), url_shortened: false })
  for (const by of [operator, viewer, limited]) {
    expect(await read(by)).toMatchObject({ source: listOf('/feeds/***/drop.txt'), url_shortened: true })
    const { lists } = await by.client.call('GET /lists')
    expect(JSON.stringify(lists)).not.toContain(token)
  }
  // Sent back as it was shown, it stays what it is.
  await change(operator, id, { source: listOf('/feeds/***/drop.txt'), interval: 7200 })
  expect(await read(admin)).toMatchObject({ source: listOf(secret), interval: 7200 })
  await admin.client.call('DELETE /lists/{id}', { params: { id } })
  const audit = await admin.client.call('GET /settings/audit', { query: { limit: 100 } })
  expect(JSON.stringify(audit.entries)).not.toContain(token)
  const plain = await create(admin, { source: listOf('/files/firehol_level1.netset') })
  expect(plain.source).toEqual(listOf('/files/firehol_level1.netset'))
  expect((await viewer.client.call('GET /lists/{id}', { params: { id: plain.id } })).url_shortened).toBe(false)
})

describe('who has access to some servers', () => {
  const places = { kind: 'countries' as const, countries: ['LI'] }

  test('does not learn which addresses other servers and people have', async () => {
    const before = await preview(limited, { source: places })
    const [first = ''] = before.samples
    await admin.client.call('POST /servers', {
      body: { hostname: 'hidden', ip_address: first.split('/')[0]?.replace(/\d+$/, '77') ?? '' },
    })
    expect((await preview(admin, { source: places })).left_out.managed).toBe(1)
    const after = await preview(limited, { source: places })
    expect(after).toEqual(before)
    expect(after.left_out.managed).toBeNull()
    expect(after.conflicts).toMatchObject({ sessions: null, servers: [] })
    expect((await preview(admin, { source: places })).conflicts).toMatchObject({ sessions: 0, servers: ['hidden'] })

    // Nor from a list of its own.
    const own = await create(limited, { source: places })
    const read = await refresh(limited, own.id)
    expect(read).toMatchObject({ entries: before.entries, left_out: { managed: null } })
    const forAll = await create(admin, { name: 'for all', source: places })
    expect(await refresh(admin, forAll.id)).toMatchObject({ left_out: { managed: 1 } })
  })

  test('gets one sentence for each source that can not be read', async () => {
    text('/list', '<html>inside</html>')
    const sources = [
      'http://127.0.0.1:9/',
      'http://10.0.0.1/',
      `${url}/list`,
      'http://169.254.169.254/',
      'http://nowhere.invalid/',
    ]
    const said = new Set<unknown>()
    for (const [n, address] of sources.entries()) {
      const own = { kind: 'url', url: address } as const
      await preview(limited, { source: own }).catch((error: Error) => said.add(error.message))
      const { id } = await create(limited, { name: `list ${n}`, source: own })
      said.add((await refresh(limited, id)).last_error)
    }
    expect(said.size).toBe(1)
    expect([...said]).toEqual([expect.stringMatching(/Somebody with access to all servers sees why/)])
    expect(asked).toEqual([])
    const { lists } = await admin.client.call('GET /lists')
    expect(new Set(lists.map(({ last_error }) => last_error)).size).toBeGreaterThan(2)
  })

  test('makes few lists, and leaves room for others', async () => {
    for (let n = 0; n < 5; n++) await create(limited, { name: `list ${n}` })
    await expect(create(limited, { name: 'one more' })).rejects.toMatchObject({ status: 409 })
    expect((await create(admin, { name: 'one more' })).name).toBe('one more')
  })
})
