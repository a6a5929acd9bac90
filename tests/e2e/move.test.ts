import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'

const agent = fileURLToPath(new URL('../../packages/agent/src/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-move-'))
const sockets = new Set<Socket>()
const opened: Server[] = []
let server: TestServer
let stranger: TestServer
let admin: Signed

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}
const run = (...args: string[]) =>
  new Promise<Ran>(resolve => {
    execFile(process.execPath, [agent, ...args, '--config', folder], (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })
const identity = () => JSON.parse(readFileSync(join(folder, 'agent.json'), 'utf8')) as Record<string, unknown>
const listening = (listener: Server): Promise<string> =>
  new Promise(resolve => {
    opened.push(listener)
    listener.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`))
  })
/** Another address of the same server. */
const otherAddress = () =>
  listening(
    createTcpServer(from => {
      const to = connect(server.port, '127.0.0.1')
      for (const socket of [from, to]) {
        sockets.add(socket)
        socket.on('error', () => socket.destroy())
      }
      from.pipe(to)
      to.pipe(from)
    }),
  )

beforeAll(async () => {
  server = await startServer()
  stranger = await startServer()
  admin = await server.setUp()
  const { install_command } = await admin.client.call('POST /servers', { body: { hostname: 'web-01' } })
  const token = install_command.split(' ').at(-1) ?? ''
  expect(await run('enroll', '--base-url', server.url, '--token', token, '--backfill')).toMatchObject({ code: 0 })
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  for (const listener of opened) listener.close()
  await server?.close()
  await stranger?.close()
  rmSync(folder, { recursive: true, force: true })
})

test('enrolment keeps the wish for the bans from before', () => {
  expect(identity()).toMatchObject({ base_url: server.url, backfill: true })
})

test('a host moves to another address of its server, and stays where that does not answer', async () => {
  const moved = await otherAddress()
  expect(await run('move', `${moved}/`)).toMatchObject({ code: 0, out: expect.stringContaining(moved) })
  expect(identity()).toMatchObject({ base_url: moved, backfill: true })
  const before = identity()
  // Another server does not know the key; the port of a closed one does not answer.
  expect(await run('move', stranger.url)).toMatchObject({ code: 1, err: expect.stringContaining('answered 401') })
  expect((await run('move', 'http://127.0.0.1:1')).code).toBe(1)
  expect((await run('move', 'ftp://stockade.example')).err).toContain('must be http or https')
  expect((await run('move', 'http://198.51.100.1')).err).toContain('plain http')
  expect((await run('move')).err).toContain('the new base URL of the server is missing')
  expect(identity()).toEqual(before)
})

test('a redirect names its target, and what to do', async () => {
  const redirecting = await listening(
    createServer((_, response) => {
      response.writeHead(301, { location: 'https://stockade.example/api/v1/agent/state' }).end()
    }),
  )
  writeFileSync(join(folder, 'agent.json'), JSON.stringify({ ...identity(), base_url: server.url }))
  expect((await run('move', redirecting)).err).toContain(
    'answered 301: refers to https://stockade.example/api/v1/agent/state: if it moved there, give this host its new base URL',
  )
  expect(identity()).toMatchObject({ base_url: server.url })
})
