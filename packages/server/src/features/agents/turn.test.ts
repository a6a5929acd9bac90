import { expect, test } from 'vitest'
import type { BodyOf, agents } from '@stockade/contract'
import { raw } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { withTwoHosts } from '../../testing/scene.ts'

let server: TestServer
let admin: Signed
let web: EnrolledHost
let db: EnrolledHost
withTwoHosts({}, scene => ({ server, admin, web, db } = scene))

type Turn = BodyOf<typeof agents.takeTurn>

const turn = (host: EnrolledHost, body: Turn) => host.client.call('POST /agent/turn', { body })
const poll = (host: EnrolledHost, query: { wait?: number; state?: string; with?: 'state' } = {}) =>
  host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id }, query })
const statusOf = async (host: EnrolledHost) =>
  (await admin.client.call('GET /whitelist/sync-status')).servers.find(({ id }) => id === host.id)
const order = async (host: EnrolledHost) =>
  (
    await admin.client.call('POST /servers/{serverId}/commands', {
      params: { serverId: host.id },
      body: { type: 'jail-status', params: { jail: 'sshd' } },
    })
  ).id
const commandOf = (id: string) => admin.client.call('GET /commands/{commandId}', { params: { commandId: id } })
/** A change of the whitelist, and what the host says once it has applied it. */
const aChange = async (host: EnrolledHost, ip: string) => {
  await admin.client.call('POST /whitelist', { body: { ip } })
  const { version, whitelist } = await host.client.call('GET /agent/state')
  return { version, whitelist_version: whitelist.version, entry_count: whitelist.count, error: null }
}
const aResult = (id: string) => ({ id, success: true, output: 'done', exit_code: 0 })

test('a poll says that the next one may be a turn, to agents that take the state along', async () => {
  expect((await poll(web, { with: 'state' })).turns).toBe(true)
  expect(await poll(web)).not.toHaveProperty('turns')
  expect(await turn(web, {})).toEqual({ commands: [], desired_state: { version: expect.any(String) }, results: [] })
})

test('what it takes along is stored before the answer is held, and the answer brings the next news', async () => {
  const id = await order(web)
  expect((await poll(web)).commands.map(command => command.id)).toEqual([id])
  const applied = await aChange(web, '192.0.2.1')
  const held = turn(web, { wait: 50, state: applied.version, with: 'state', applied, results: [aResult(id)] })
  await expect.poll(async () => (await commandOf(id)).status).toBe('completed')
  await expect.poll(async () => (await statusOf(web))?.sync_status).toBe('synced')
  expect((await statusOf(db))?.sync_status).toBe('never')

  const next = await aChange(web, '192.0.2.2')
  const answer = await held
  expect(answer).toMatchObject({
    desired_state: { version: next.version },
    state: { version: next.version },
    whitelist: { version: next.whitelist_version },
    turns: true,
    results: [{ id, error: null }],
  })
  // An agent that got no answer says all of it again, and nothing happens twice.
  const repeated = await turn(web, { applied, results: [aResult(id)] })
  expect(repeated.results).toEqual([{ id, error: null }])
  expect((await commandOf(id)).status).toBe('completed')
})

test('a command ends the wait, and comes once', async () => {
  const held = turn(web, { wait: 50, with: 'state' })
  const id = await order(web)
  const { commands } = await held
  expect(commands.map(command => command.id)).toEqual([id])
  expect((await turn(web, { results: [aResult(id)] })).commands).toEqual([])
})

test('a refused result is named, and the others are taken', async () => {
  const [mine, waiting, foreign] = [await order(web), await order(web), await order(db)]
  const unknown = '0190e5a8-0000-7000-8000-000000000000'
  await poll(db)
  expect((await poll(web)).commands).toHaveLength(2)
  const { results } = await turn(web, { results: [unknown, foreign, mine].map(aResult) })
  expect(results).toEqual([
    { id: unknown, error: expect.stringContaining('no command') },
    { id: foreign, error: 'This command belongs to another server.' },
    { id: mine, error: null },
  ])
  expect((await commandOf(foreign)).status).toBe('running')
  await turn(web, { results: [aResult(waiting)] })
  await turn(db, { results: [aResult(foreign)] })
})

test('bad input is refused at once and stores nothing', async () => {
  const id = await order(web)
  await poll(web)
  const good = { wait: 50, results: [aResult(id)] }
  const { version } = await web.client.call('GET /agent/state')
  const ask = (body: unknown, token = web.key) => raw(server, 'POST', '/api/v1/agent/turn', { token, body })
  for (const [body, field] of [
    [{ ...good, wait: 56 }, 'wait'],
    [{ ...good, wait: -1 }, 'wait'],
    [{ ...good, with: 'all' }, 'with'],
    [{ ...good, state: '' }, 'state'],
    [{ ...good, applied: {} }, 'applied'],
    [{ ...good, applied: { version, entry_count: -1 } }, 'applied'],
    [{ ...good, results: Array.from({ length: 101 }, () => aResult(id)) }, 'results'],
    [{ ...good, results: [{ id, success: 'yes' }] }, 'results'],
  ] as const) {
    const reply = await ask(body)
    expect(reply.status, reply.text).toBe(400)
    expect((reply.json as { message: string }).message.toLowerCase()).toContain(field)
  }
  expect((await ask(good, admin.token)).status).toBe(403)
  expect((await commandOf(id)).status).toBe('running')
  await turn(web, { results: [aResult(id)] })
})
