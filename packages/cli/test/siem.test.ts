import { afterAll, beforeAll, expect, test } from 'vitest'
import { httpReceiver } from '../../server/src/features/siem/receivers.ts'
import { stockade } from './run.ts'
import type { HttpReceiver } from '../../server/src/features/siem/receivers.ts'
import { eventually, freePort, startServer } from '../../server/src/testing/index.ts'
import type { Signed, TestServer } from '../../server/src/testing/index.ts'

let server: TestServer
let admin: Signed
let target: HttpReceiver
let key: string
beforeAll(async () => {
  server = await startServer()
  target = await httpReceiver()
  admin = await server.setUp()
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'admin' } })).key
})
afterAll(async () => {
  await server?.close()
  await target?.stop()
})

const run = (...args: string[]) =>
  stockade({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, ['siem', ...args])
const cells = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => line.trim().split(/ {2,}/))
const fields = (text: string) => Object.fromEntries(cells(text).map(([name = '', value = '']) => [name, value]))

test('while nothing is set up', async () => {
  const [status, settings, enabled, tested, types] = await Promise.all([
    run('status', '--check'),
    run('settings'),
    run('enable'),
    run('test'),
    run('types'),
  ])
  expect(status).toMatchObject({ code: 0, err: '' })
  expect(fields(status.out)).toMatchObject({ state: 'off', waiting: '0', 'last event': '-', reachable: '-' })
  expect(fields(settings.out)).toMatchObject({
    forwarding: 'off',
    target: '-',
    token: 'not set',
    events: expect.stringMatching(/^ban unban /),
  })
  expect(enabled).toMatchObject({ code: 1, err: expect.stringContaining('host') })
  expect(tested).toMatchObject({ code: 1, err: expect.stringContaining('host') })
  expect(cells(types.out).slice(0, 2)).toEqual([
    ['TYPE', 'SEVERITY', 'MEANING'],
    ['ban', '5', expect.any(String)],
  ])
})

test('a target that takes events, and one that fails', async () => {
  const place = { format: 'json', host: '127.0.0.1', protocol: 'http', path: '/in', token: 'a-secret-token' } as const
  const settings = { ...place, port: target.port, batch_size: 1, flush_interval: 1 }
  await admin.client.call('PATCH /siem/settings', { body: settings })
  const tested = await run('test')
  expect(tested).toMatchObject({ code: 0, err: '' })
  expect(cells(tested.out).map(([step, result]) => [step, result])).toEqual(
    expect.arrayContaining([
      ['STEP', 'RESULT'],
      ['connect', 'ok'],
      ['answer', 'ok'],
    ]),
  )
  expect(tested.out).toContain(target.events.at(-1)?.id)
  const shown = await run('settings')
  expect(fields(shown.out)).toMatchObject({ target: `127.0.0.1:${target.port}`, token: 'set', path: '/in' })
  const asJson = await run('settings', '--json')
  expect(JSON.parse(asJson.out)).toEqual(await admin.client.call('GET /siem/settings'))
  expect(shown.out + asJson.out).not.toContain('a-secret-token')

  expect(await run('enable')).toMatchObject({ code: 0, err: '' })
  await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.7' } })
  await eventually(async () => expect(target.events.at(-1)).toMatchObject({ type: 'whitelist_add' }))
  await eventually(async () => expect(fields((await run('status')).out)).toMatchObject({ state: 'connected' }))
  const deliveries = await run('deliveries')
  // Before anything is sent again, which counts too.
  const week = { period: 'week', taken: '100 %', whitelist_add: '1' }
  await eventually(async () => expect(fields((await run('stats', '--period', 'week')).out)).toMatchObject(week))
  const replayed = await run('replay', '--from', '1h', '--type', 'whitelist_add', '--wait')
  expect(cells(deliveries.out)[0]?.slice(0, 3)).toEqual(['AT', 'RESULT', 'EVENTS'])
  expect(cells(deliveries.out)[1]?.[1]).toBe('ok')
  expect(replayed).toMatchObject({ code: 0, err: '' })
  expect(fields(replayed.out)).toMatchObject({ status: 'completed', events: '1', sent: '1', progress: '100 %' })
  expect(await run('replayed', fields(replayed.out).job ?? '')).toEqual(replayed)

  const closed = await freePort()
  await admin.client.call('PATCH /siem/settings', { body: { port: closed, token: place.token } })
  await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.8' } })
  await eventually(async () => expect((await admin.client.call('GET /siem/status')).last_error).not.toBeNull())
  const [failing, queue, flushed, unsure, again] = await Promise.all([
    run('status', '--check'),
    run('queue', '--limit', '1'),
    run('flush'),
    run('discard'),
    run('test', '--json'),
  ])
  expect(failing).toMatchObject({ code: 1, err: expect.stringContaining('The target fails: ') })
  expect(fields(failing.out)).toMatchObject({ state: 'failing' })
  expect(cells(queue.out)).toEqual([
    ['TYPE', 'HAPPENED', 'TRIED AGAIN', 'ID'],
    // The change of the settings waits too, and may be of the same moment.
    [
      expect.stringMatching(/^(whitelist_add|settings_change)$/),
      expect.any(String),
      expect.stringMatching(/^\d+$/),
      expect.any(String),
    ],
    [''],
    [expect.stringMatching(/^1 of \d+ waiting$/)],
  ])
  expect(flushed.code).toBe(1)
  expect(unsure).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect(again.code).toBe(1)
  expect(JSON.parse(again.out)).toMatchObject({ error: 'Connection failed', steps: expect.any(Array) })
  expect(await run('discard', '--yes')).toMatchObject({ code: 0, out: expect.stringMatching(/discarded/) })
  expect(await run('disable')).toMatchObject({ code: 0, err: '' })
  expect((await admin.client.call('GET /siem/settings')).enabled).toBe(false)
})
