import { execFile, execFileSync } from 'node:child_process'
import { X509Certificate, createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createHttpsServer, request as httpsRequest } from 'node:https'
import { connect, createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { aHost, describeHosts, loudly, until } from '../engine/host.ts'
import type { Host } from '../engine/host.ts'
import { aDoor } from './door.ts'

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
const key = () => String(identity()['api_key'])
const listening = (listener: Server, protocol = 'http'): Promise<string> =>
  new Promise(resolve => {
    opened.push(listener)
    listener.listen(0, '127.0.0.1', () =>
      resolve(`${protocol}://127.0.0.1:${(listener.address() as AddressInfo).port}`),
    )
  })
/** Another address of a server, and what was said there. */
const otherAddress = async (port = server.port): Promise<{ url: string; heard: () => string }> => {
  const parts: Buffer[] = []
  const url = await listening(
    createTcpServer(from => {
      const to = connect(port, '127.0.0.1')
      for (const socket of [from, to]) {
        sockets.add(socket)
        socket.on('error', () => socket.destroy())
      }
      from.on('data', part => parts.push(part))
      from.pipe(to)
      to.pipe(from)
    }),
  )
  return { url, heard: () => Buffer.concat(parts).toString('latin1') }
}
const tokenOf = async (by: Signed): Promise<string> => {
  const { install_command } = await by.client.call('POST /servers', { body: { hostname: 'web-01' } })
  return install_command.split(' ').at(-1) ?? ''
}

beforeAll(async () => {
  server = await startServer()
  stranger = await startServer()
  admin = await server.setUp()
  const token = await tokenOf(admin)
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
  expect(await run('move', `${moved.url}/`)).toMatchObject({ code: 0, out: expect.stringContaining(moved.url) })
  expect(identity()).toMatchObject({ base_url: moved.url, backfill: true })
  expect(moved.heard()).toContain(key())
  const before = identity()
  // Another server does not know the key; the port of a closed one does not answer.
  const strangers = await otherAddress(stranger.port)
  expect(await run('move', strangers.url)).toMatchObject({ code: 1, err: expect.stringContaining('did not prove') })
  expect(strangers.heard()).toContain('POST /api/v1/agent/challenge')
  expect(strangers.heard()).not.toContain(key())
  expect(strangers.heard()).not.toMatch(/authorization/i)
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

test('https with a key of its own needs no pin typed, and a relay with another key gets nothing', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-move-tls-'))
  let secured = await startServer({ dataDir })
  try {
    const token = await tokenOf(await secured.setUp())
    expect(await run('enroll', '--base-url', secured.url, '--token', token)).toMatchObject({ code: 0 })
    await secured.close()
    secured = await startServer({ dataDir, port: secured.port, env: { STOCKADE_TLS: 'self' } })
    const before = identity()

    const files = { key: join(folder, 'relay.key'), cert: join(folder, 'relay.pem') }
    const made = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '30',
      '-subj',
      '/CN=relay',
    ]
    execFileSync('openssl', ['req', '-x509', ...made, '-keyout', files.key, '-out', files.cert], { stdio: 'ignore' })
    const heard: string[] = []
    const relay = createHttpsServer(
      { key: readFileSync(files.key), cert: readFileSync(files.cert) },
      (asked, answer) => {
        heard.push(`${asked.method} ${asked.url} ${JSON.stringify(asked.headers)}`)
        const { method, url: path, headers } = asked
        const onward = httpsRequest(
          { host: '127.0.0.1', port: secured.port, method, path, headers, rejectUnauthorized: false },
          reply => {
            answer.writeHead(reply.statusCode ?? 502, reply.headers)
            reply.pipe(answer)
          },
        )
        onward.on('error', () => answer.destroy())
        asked.pipe(onward)
      },
    )
    const relayed = await listening(relay, 'https')
    expect((await run('move', relayed)).err).toContain('is not trusted')
    // Even where somebody was talked into its pin.
    const { publicKey } = new X509Certificate(readFileSync(files.cert))
    const pin = `sha256//${createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64')}`
    expect((await run('move', relayed, '--pin', pin)).err).toContain("is not the server's own")
    expect(heard.map(text => text.split(' ', 2).join(' '))).toEqual(Array(2).fill('POST /api/v1/agent/challenge'))
    expect(heard.join('\n')).not.toContain(key())
    expect(identity()).toEqual(before)

    const own = `https://127.0.0.1:${secured.port}`
    expect(await run('move', own)).toMatchObject({ code: 0 })
    expect(identity()).toMatchObject({ base_url: own, pins: [expect.stringMatching(/^sha256\/\//)] })
    expect(identity()['pins']).not.toContain(pin)
  } finally {
    await secured.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

describeHosts('an ordered move', () => {
  let host: Host
  let own: TestServer
  let client: Signed['client']
  let before: Awaited<ReturnType<typeof aDoor>>
  let after: Awaited<ReturnType<typeof aDoor>>
  let url = ''
  const pace = ['--check-pace', '0.01']
  const keyOfHost = () => {
    const { api_key } = JSON.parse(readFileSync(join(host.agentConfig, 'agent.json'), 'utf8')) as { api_key: string }
    return api_key
  }
  /** How far the host says it is. */
  const move = async () => (await client.call('GET /agents/address/servers', { query: {} })).servers[0]
  const comesTo = (state: string, reason: string) =>
    until(async () => {
      const now = await move()
      return now?.state === state && (now.reason ?? '').includes(reason)
    }, `the host to be ${state}: ${reason}`)
  const lastHeartbeat = async () =>
    Date.parse((await client.call('GET /servers', {})).servers[0]?.last_heartbeat ?? '') || 0
  const isHeardAgain = async () => {
    const known = await lastHeartbeat()
    await until(async () => (await lastHeartbeat()) > known, 'another heartbeat')
  }

  beforeAll(async () => {
    host = await aHost()
    before = await aDoor(0)
    after = await aDoor(stranger.port)
    url = `http://${host.gateway}:${after.port}`
    own = await startServer({ env: { STOCKADE_HEARTBEAT_INTERVAL: '1', STOCKADE_BASE_URL: url } })
    before.leadTo(own.port)
    const signed = await own.setUp()
    client = signed.client
    const { install_command } = await client.call('POST /servers', { body: { hostname: 'web-01' } })
    const token = install_command.split(' ').find((_, at, words) => words[at - 1] === '--token') ?? ''
    const baseUrl = `http://${host.gateway}:${before.port}`
    await host.startAgent({ baseUrl, token, args: pace, starter: ['env', `STOCKADE_BASE_URL=${baseUrl}`] })
    await until(async () => (await lastHeartbeat()) > 0, 'the first heartbeat')
  })
  afterAll(async () => {
    if (process.env['STOCKADE_TEST_LOG']) loudly(host.agentLog())
    before?.close()
    after?.close()
    await host?.stop()
    await own?.close()
  })

  test('a host whose administrator fixed the address stays', async () => {
    await client.call('PUT /agents/address', { body: { url } })
    await comesTo('failed', 'STOCKADE_BASE_URL of this host is')
    expect(after.heard()).toBe('')
  })
  test('an address that leads to a stranger moves nobody, and the stranger gets no key', async () => {
    await host.stopAgent()
    await host.startAgent({ starter: ['env'] })
    await comesTo('failed', 'did not prove that it knows this host')
    expect(after.heard()).toContain('POST /api/v1/agent/challenge')
    expect(after.heard()).not.toContain(keyOfHost())
    expect(after.heard()).not.toMatch(/authorization/i)
    await isHeardAgain()
  })
  test('a host goes back when the new address stops answering on trial', async () => {
    after.leadTo(own.port)
    // Fewer answers than a trial wants, however slow this machine is.
    after.shutAt('POST /api/v1/servers/heartbeat')
    // The log keeps it; the state is soon that of the next try.
    await until(() => host.agentLog().includes('stopped answering on trial'), 'the end of the trial')
    await comesTo('failed', '')
    expect(after.heard()).toContain(keyOfHost())
    await isHeardAgain()
  })
  test('it tries again, moves, and needs the old address no more, also after a restart', async () => {
    after.leadTo(own.port)
    await comesTo('moved', '')
    before.shut()
    await isHeardAgain()
    await host.killAgent()
    await host.startAgent()
    await isHeardAgain()
    expect(await move()).toMatchObject({ state: 'moved', reason: null })
    // The order is withdrawn, and the host stays.
    expect((await client.call('PUT /agents/address', { body: { url: null } })).url).toBeNull()
    await isHeardAgain()
    expect(host.agentLog()).toContain(`this host reaches the server at ${url} from now on`)
  })
})
