import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { agents } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { openFastify } from './fastify.ts'
import { within } from '../testing/waiting.ts'

const plain = {
  trustedProxies: [],
  baseUrl: () => 'http://localhost',
  tls: null,
  isStrict: () => false,
  isDraining: () => false,
  observe: () => {},
}

test('the log of requests holds neither the query nor the token of a feed', async () => {
  const lines: string[] = []
  const sink = new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(line.toString())
      done()
    },
  })
  const fastify = openFastify({
    log: pino({ level: 'debug' }, sink),
    ...plain,
  })
  fastify.get('/api/v1/feeds/:token', async () => 'text')
  // Also where no route answers: another method, a longer path, an empty part.
  await fastify.inject('/api/v1/feeds/very-secret?format=plain')
  await fastify.inject({ method: 'POST', url: '/api/v1/feeds/very-secret' })
  await fastify.inject('/api/v1/feeds/very-secret/more')
  await fastify.inject('/invite?code=very-secret')
  await fastify.close()
  const paths = lines.map(line => (JSON.parse(line) as { url?: string }).url).filter(url => url !== undefined)
  expect(paths).toEqual(['/api/v1/feeds/[token]', '/api/v1/feeds/[token]', '/api/v1/feeds/[token]/more', '/invite'])
  expect(lines.join('')).not.toContain('very-secret')
})

test('where connections become scarce, hosts keep only the one that heartbeats and polls share', async () => {
  const fastify = openFastify({
    log: pino({ level: 'silent' }),
    ...plain,
    // Four connections beside four other files.
    files: 8,
  })
  const serve = (path: string, endpoint: Endpoint | null) =>
    fastify.get(path, request => {
      request.endpoint = endpoint
      return Promise.resolve('text')
    })
  serve('/jails', agents.putJails)
  serve('/beat', agents.heartbeat)
  serve('/poll', agents.pendingCommands)
  serve('/page', null)
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  const sockets: Socket[] = []
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await fastify.close()
  })
  const { port } = fastify.server.address() as AddressInfo
  const open = async () => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    await within(once(socket, 'connect'), 'the connection')
    return socket
  }
  /** Whether the reply keeps the connection. */
  const isKept = async (socket: Socket, path: string) => {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    let text = ''
    while (!text.includes('\r\n\r\ntext')) text += String((await within(once(socket, 'data'), 'the answer'))[0])
    return !/^connection: close/im.test(text)
  }
  const all = ['/beat', '/jails', '/poll', '/page']
  const [one] = [await open(), await open()]
  for (const path of all) expect(await isKept(one, path), path).toBe(true)
  const three = await open()
  // The server has taken the third connection when it answers it.
  for (const path of ['/beat', '/poll', '/page']) expect(await isKept(three, path), path).toBe(true)
  const closed = once(three, 'close')
  expect(await isKept(three, '/jails')).toBe(false)
  await within(closed, 'the end of the connection')
  const connections = () => new Promise(resolve => fastify.server.getConnections((_, count) => resolve(count)))
  await expect.poll(connections).toBe(2)
  for (const path of all) expect(await isKept(one, path), path).toBe(true)

  const [again, last] = [await open(), await open()]
  for (const path of ['/poll', '/page']) expect(await isKept(last, path), path).toBe(true)
  // One is left for pages and new hosts.
  expect(await isKept(last, '/beat')).toBe(false)
  await expect.poll(connections).toBe(3)
  expect(await isKept(again, '/beat')).toBe(true)
})
