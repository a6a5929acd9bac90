import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { conditionMs, within } from '../../server/src/testing/waiting.ts'
import { createBudget } from '../src/schedule.ts'
import { createTransport, ServerError } from '../src/transport.ts'
import type { Transport } from '../src/transport.ts'
import { createWire } from '../src/wire.ts'

const running: { server: Server; transport: Transport }[] = []

afterEach(() => {
  for (const { server, transport } of running.splice(0)) {
    transport.close()
    server.closeAllConnections()
    server.close()
  }
})

const talkingTo = async (listener: RequestListener, path = '', now = Date.now): Promise<Transport> => {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const transport = createTransport({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    apiKey: 'svc_test',
    ca: null,
    budget: createBudget({ perMinute: 1000, now: () => performance.now() }),
    now,
    userAgent: 'test',
  })
  running.push({ server, transport })
  return transport
}

const failure = async (transport: Transport, timeout = conditionMs): Promise<ServerError> => {
  const error: unknown = await transport.json('GET', '/x', { timeout }).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ServerError)) throw new Error('it should have failed with a ServerError')
  return error
}

describe('a server that', () => {
  it('answers JSON', async () => {
    const transport = await talkingTo((request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ path: request.url, key: request.headers.authorization }))
    }, '/sub/path/')
    expect(await transport.json('GET', '/api/v1/health')).toEqual({
      path: '/sub/path/api/v1/health',
      key: 'Bearer svc_test',
    })
    expect(transport.clockOffset()).toBe(0)
    expect(transport.peer()).toBe('127.0.0.1')
  })

  it.each([
    ['HTML', '<html>It works!</html>'],
    ['nothing', ''],
    ['an array', '[]'],
    ['a number', '7'],
    ['half an object', '{"commands": ['],
  ])('answers %s with 200', async (_, body) => {
    const error = await failure(await talkingTo((_request, response) => response.end(body)))
    expect({ status: error.status, spoken: error.spoken }).toEqual({ status: 0, spoken: false })
  })

  it('refuses in its own words, or a proxy in its', async () => {
    const spoken = await failure(
      await talkingTo((_request, response) =>
        response
          .writeHead(429, { 'retry-after': '7' })
          .end('{"error":"Too Many Requests","message":"slow\\u001b[31m"}'),
      ),
    )
    expect({ status: spoken.status, retryAfter: spoken.retryAfter, spoken: spoken.spoken }).toEqual({
      status: 429,
      retryAfter: 7000,
      spoken: true,
    })
    expect(spoken.message).toBe('answered 429: slow[31m')
    const proxy = await failure(
      await talkingTo((_request, response) => response.writeHead(400).end('<h1>400 Bad Request</h1>')),
    )
    expect({ status: proxy.status, spoken: proxy.spoken }).toEqual({ status: 400, spoken: false })
  })

  it('never ends its answer', async () => {
    let drips = 0
    const given = Promise.withResolvers<null>()
    const transport = await talkingTo((_request, response) => {
      response.write('{')
      const drip = setInterval(() => response.write(' ', () => drips++), 20)
      response.on('close', () => (clearInterval(drip), given.resolve(null)))
    })
    // It drips until the agent gives it up.
    expect((await within(failure(transport, 200), 'the end of an endless answer')).status).toBe(0)
    await within(given.promise, 'the end of the connection')
    expect(drips).toBeGreaterThan(0)
  })

  it('answers without end', async () => {
    const transport = await talkingTo((_request, response) => {
      const chunk = Buffer.alloc(256 * 1024, 32)
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', pour)
      }
      pour()
    })
    expect((await failure(transport, 10_000)).message).toMatch(/unreasonably large/)
  })

  it('cuts the answer off, or the connection', async () => {
    const cut = await talkingTo((_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"a":1')
      setTimeout(() => response.destroy(), 10)
    })
    expect((await failure(cut)).status).toBe(0)
    expect((await failure(await talkingTo(request => request.socket.resetAndDestroy()))).status).toBe(0)
  })

  it('sends us elsewhere: nobody is followed with our key', async () => {
    const error = await failure(
      await talkingTo((_request, response) => response.writeHead(302, { location: 'http://192.0.2.1/' }).end('{}')),
    )
    expect(error.status).toBe(302)
  })

  it('has another time: its offset is known, also from a long poll', async () => {
    let now = Date.parse('2026-11-21T12:00:00Z')
    const transport = await talkingTo(
      (_request, response) => {
        // It was held for five minutes.
        now += 300_000
        response.setHeader('date', new Date(now - 3_600_000).toUTCString())
        response.end('{}')
      },
      '',
      () => now,
    )
    await transport.json('GET', '/x')
    // The header has whole seconds, so half of one is added.
    expect(transport.clockOffset()).toBe(-3_599_500)
  })
})

it('what is not a command is not taken for one', async () => {
  const good = { id: 'c1', type: 'ban-ip', params: { ip: '192.0.2.1' } }
  const answers: unknown[] = [
    {
      commands: [
        good,
        null,
        7,
        {},
        { id: 1, type: 'x' },
        { id: '../../etc', type: 'ban-ip' },
        { id: 'c2', type: 'rm -rf' },
        { id: 'c3', type: 'reload-all', params: 'x' },
      ],
    },
    { commands: 'many', desired_state: { version: 's1' } },
    { turns: 'yes' },
    { turns: true },
  ]
  const transport = await talkingTo((_request, response) => response.end(JSON.stringify(answers.shift())))
  const wire = createWire(transport, 'server-1')
  const signal = new AbortController().signal
  expect(await wire.pending(1, null, signal)).toEqual({
    commands: [good, { id: 'c3', type: 'reload-all', params: {} }],
    stateVersion: null,
    offer: null,
    turns: false,
  })
  const none = { commands: [], stateVersion: null, offer: null }
  expect(await wire.pending(1, null, signal)).toEqual({ ...none, stateVersion: 's1', turns: false })
  expect(await wire.pending(1, null, signal)).toEqual({ ...none, turns: false })
  expect(await wire.pending(1, null, signal)).toEqual({ ...none, turns: true })
})

it('a text is fetched when it changed, also packed, and its version is read from the ETag', async () => {
  const asked: (string | undefined)[] = []
  const transport = await talkingTo((request, response) => {
    asked.push(request.headers['if-none-match'])
    if (asked.length === 1)
      return response.writeHead(200, { etag: '"v1-gz"', 'content-encoding': 'gzip' }).end(gzipSync('192.0.2.1\n'))
    if (asked.length === 2) return response.writeHead(304).end()
    if (asked.length === 3) return response.writeHead(200, { etag: 'W/"v2"' }).end('192.0.2.2\n')
    if (asked.length === 4)
      return response.writeHead(200, { etag: '"v3"', 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(9e6)))
    return response.writeHead(503, { 'retry-after': '7' }).end('{"error":"Service Unavailable","message":"later"}')
  })
  expect(await transport.fresh('/x', null)).toEqual({ version: 'v1', text: '192.0.2.1\n' })
  expect(await transport.fresh('/x', 'v1')).toBeNull()
  expect(await transport.fresh('/x', 'v1')).toEqual({ version: 'v2', text: '192.0.2.2\n' })
  await expect(transport.fresh('/x', 'v2')).rejects.toThrow(ServerError)
  await expect(transport.fresh('/x', 'v2')).rejects.toMatchObject({ status: 503, retryAfter: 7000, spoken: true })
  expect(asked).toEqual([undefined, '"v1"', '"v1"', '"v2"', '"v2"'])
})
