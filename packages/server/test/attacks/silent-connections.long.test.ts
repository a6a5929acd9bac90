import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spawnServer } from '../../src/testing/index.ts'
import type { Signed, SpawnedServer } from '../../src/testing/index.ts'

/* A stranger opens more connections than the process may open files, and says nothing on them. */

const files = 400
let server: SpawnedServer
let admin: Signed
const silent: Socket[] = []
const operator = new Agent({ keepAlive: true, maxSockets: 1 })
beforeAll(async () => {
  server = await spawnServer({ files, env: { STOCKADE_LOG_LEVEL: 'warn' } })
  admin = await server.setUp()
})
afterAll(async () => {
  operator.destroy()
  for (const socket of silent) socket.destroy()
  await server?.close()
})

/** A request on the connection that the operator has had all the time. */
const ask = (method: string, path: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      `${server.url}/api/v1${path}`,
      { method, agent: operator, headers: { authorization: `Bearer ${admin.token}` } },
      reply => {
        let text = ''
        reply.setEncoding('utf8')
        reply.on('data', (piece: string) => (text += piece))
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
const flood = async (count: number) => {
  const opened = Array.from(
    { length: count },
    () =>
      new Promise<void>(resolve => {
        const socket = connect(server.port, '127.0.0.1', () => resolve())
        socket.on('error', () => resolve())
        silent.push(socket)
      }),
  )
  await Promise.all(opened)
}

test('leaves the server its own files, so that parts which are loaded late work for those who are connected', async () => {
  expect(await ask('GET', '/auth/me')).toMatchObject({ status: 200 })
  await flood(files * 2)
  await expect.poll(() => server.output()).toContain('New connections are refused')
  // It draws a code with a part of the program that nobody needed before.
  const enabling = await ask('POST', '/auth/mfa/enable')
  expect(enabling).toMatchObject({ status: 200, text: expect.stringContaining('data:image/png') as string })
  expect(server.output()).not.toMatch(/too many open files|EMFILE/)
  for (const socket of silent.splice(0)) socket.destroy()
  await expect
    .poll(() =>
      fetch(`${server.url}/api/v1/ready`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
})
