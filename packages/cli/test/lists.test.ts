import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer } from '../../server/src/testing/index.ts'
import { stockade } from './run.ts'
import type { TestServer } from '../../server/src/testing/index.ts'

let server: TestServer
let source: Server
let url: string
let key: string
beforeAll(async () => {
  source = createServer((_, reply) => reply.end('198.51.100.0/24\n203.0.113.7\n10.0.0.1\n'))
  await new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/list`
  server = await startServer()
  const admin = await server.setUp()
  key = (await admin.client.call('POST /keys', { body: { name: 'ops', permissions: 'admin' } })).key
})
afterAll(async () => {
  await server?.close()
  source?.close()
})

const run = (...args: string[]) =>
  stockade({ PATH: process.env.PATH, STOCKADE_URL: server.url, STOCKADE_API_KEY: key }, args)

test('preview, add, refresh, search, change and remove', async () => {
  expect((await run('lists', 'preview', '--from', url, '--allow-private')).out).toMatch(
    /entries +2, 257 IPv4 addresses/,
  )
  expect(await run('lists', 'add', 'drop', '--from', url, '--allow-private')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--all') as string,
  })
  expect(await run('lists', 'add', 'drop', '--from', url, '--all', '--dry-run')).toMatchObject({ code: 0 })
  expect(await run('lists')).toMatchObject({ code: 0, out: expect.not.stringContaining('drop') as string })
  expect(await run('lists', 'add', 'drop', '--from', url, '--all', '--allow-private')).toMatchObject({
    code: 0,
    err: '',
  })
  expect((await run('lists', 'refresh', 'drop')).out).toContain('observe, 2 entries')
  expect((await run('lists', 'entries', 'drop', '--search', '198.51.100.9')).out).toContain('198.51.100.0/24')
  expect((await run('lookup', '203.0.113.7')).out).toMatch(/blocklist +drop: 203\.0\.113\.7, observe/)
  expect((await run('lists', 'change', 'drop', '--mode', 'enforce')).out).toContain('enforce, 2 entries')
  expect((await run('lists', 'show', 'drop')).out).toMatch(/left out +1 private/)
  expect(JSON.parse((await run('--json', 'lists')).out)).toMatchObject({ lists: [{ name: 'drop', mode: 'enforce' }] })
  expect((await run('lists', 'remove', 'drop')).out).toContain('drop is being taken out of the firewalls.')
  expect(await run('lists', 'show', 'drop')).toMatchObject({ code: 1 })
})
