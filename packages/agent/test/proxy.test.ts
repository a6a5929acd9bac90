import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { pinOf } from '../src/pins.ts'
import { proxyFromEnvironment, proxyName, readProxy } from '../src/proxy.ts'
import { createBudget } from '../src/schedule.ts'
import { createTransport } from '../src/transport.ts'
import type { Transport } from '../src/transport.ts'
import { aProxy } from './connect-proxy.ts'

describe('a proxy between agent and server', () => {
  let directory = ''
  let pem = ''
  /** Authorization and proxy headers of each request, as the server saw them. */
  const seen: { key: string | undefined; proxy: unknown; host: string | undefined; url: string | undefined }[] = []
  let connections = 0
  const servers: { secure: ReturnType<typeof createServer>; plain: ReturnType<typeof createPlainServer> }[] = []
  const ends: (() => void)[] = []

  beforeAll(async () => {
    directory = fs.mkdtempSync(join(tmpdir(), 'stockade-proxy-'))
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    const subject = ['-subj', '/CN=stockade.example', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '30']
    const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert]
    execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' })
    pem = fs.readFileSync(cert, 'utf8')
    const answer: Parameters<typeof createPlainServer>[1] = (request, response) => {
      const { authorization, host } = request.headers
      seen.push({ key: authorization, proxy: request.headers['proxy-authorization'], host, url: request.url })
      response.end('{"status":"ok"}')
    }
    const secure = createServer({ key: fs.readFileSync(key), cert: pem }, answer)
    const plain = createPlainServer(answer)
    for (const server of [secure, plain]) {
      server.on('connection', () => (connections += 1))
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    }
    servers.push({ secure, plain })
  })
  afterEach(() => {
    for (const end of ends.splice(0)) end()
    seen.splice(0)
    connections = 0
  })
  afterAll(() => {
    for (const server of servers.flatMap(({ secure, plain }) => [secure, plain])) {
      server.closeAllConnections()
      server.close()
    }
    fs.rmSync(directory, { recursive: true, force: true })
  })

  const portOf = (kind: 'secure' | 'plain'): number =>
    (servers[0]?.[kind].address() as AddressInfo | undefined)?.port ?? 0
  const through = (kind: 'secure' | 'plain', proxy: string, more: { ca?: string; pins?: readonly string[] } = {}) => {
    const transport: Transport = createTransport({
      baseUrl: `${kind === 'secure' ? 'https' : 'http'}://127.0.0.1:${portOf(kind)}/sub`,
      apiKey: 'svc_secret',
      ca: null,
      authorities: [],
      ...more,
      proxy,
      budget: createBudget({ perMinute: 1000, now: () => performance.now() }),
      now: Date.now,
      userAgent: 'test',
    })
    ends.push(transport.close)
    return transport
  }
  const started = async (settings: Parameters<typeof aProxy>[0] = {}) => {
    const proxy = await aProxy(settings)
    ends.push(proxy.close)
    return proxy
  }

  it('carries https in one tunnel that is kept, and the server sees nothing of the proxy', async () => {
    const authorization = `Basic ${Buffer.from('agent:pa:ss wd').toString('base64')}`
    const proxy = await started({ authorization })
    const transport = through('secure', `http://agent:pa%3Ass%20wd@127.0.0.1:${proxy.port}`, { ca: pem })
    for (let turn = 0; turn < 3; turn += 1) expect(await transport.json('GET', '/x')).toEqual({ status: 'ok' })
    expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${portOf('secure')}`])
    expect(connections).toBe(1)
    const host = `127.0.0.1:${portOf('secure')}`
    expect(seen).toEqual(Array(3).fill({ key: 'Bearer svc_secret', proxy: undefined, host, url: '/sub/x' }))
    expect(transport.peer()).toBe('127.0.0.1')
  })
  it('leaves the check of the certificate and of the pinned key as it is', async () => {
    const proxy = await started()
    const url = `http://127.0.0.1:${proxy.port}`
    const own = pinOf(new X509Certificate(pem).raw)
    await expect(through('secure', url).json('GET', '/x')).rejects.toThrow(/self-signed certificate/)
    const stranger = `sha256//${'A'.repeat(43)}=`
    await expect(through('secure', url, { pins: [stranger] }).json('GET', '/x')).rejects.toThrow(/is not pinned/)
    expect(seen).toEqual([])
    const pinned = through('secure', url, { pins: [own] })
    expect(await pinned.json('GET', '/x')).toEqual({ status: 'ok' })
    expect(await pinned.json('GET', '/x', { alone: true })).toEqual({ status: 'ok' })
    expect(proxy.asked).toHaveLength(4)
  })
  it('is asked for the whole URL of plain http, over one connection', async () => {
    const proxy = await started()
    const transport = through('plain', `127.0.0.1:${proxy.port}`)
    for (let turn = 0; turn < 2; turn += 1) expect(await transport.json('GET', '/x?a=b')).toEqual({ status: 'ok' })
    const origin = `127.0.0.1:${portOf('plain')}`
    expect(proxy.asked).toEqual(Array(2).fill(`GET http://${origin}/sub/x?a=b`))
    expect(seen[0]).toEqual({ key: 'Bearer svc_secret', proxy: undefined, host: origin, url: '/sub/x?a=b' })
  })
  it('is named when it refuses or is not there, without its password', async () => {
    const refusing = await started({ authorization: 'Basic other' })
    const url = `http://agent:topsecret@127.0.0.1:${refusing.port}`
    const failure = (kind: 'secure' | 'plain', to: string): Promise<string> =>
      through(kind, to)
        .json('GET', '/x')
        .then(
          () => 'none',
          (error: Error) => error.message,
        )
    expect(await failure('secure', url)).toBe(
      `the proxy refused the connection to 127.0.0.1:${portOf('secure')}: it answered 407`,
    )
    expect(await failure('plain', url)).toBe('answered 407')
    refusing.close()
    expect(await failure('secure', url)).toMatch(/^the proxy: connect ECONNREFUSED/)
  })
})

describe('the proxy of the environment', () => {
  const server = 'https://stockade.example:8443'
  it.each([
    [{}, null],
    [{ https_proxy: 'http://proxy.example:3128' }, 'http://proxy.example:3128'],
    [{ HTTPS_PROXY: 'http://proxy.example:3128' }, 'http://proxy.example:3128'],
    [{ all_proxy: 'proxy.example:3128' }, 'proxy.example:3128'],
    [{ http_proxy: 'http://proxy.example:3128' }, null],
    [{ https_proxy: 'http://proxy.example:3128', no_proxy: 'localhost, .example' }, null],
    [{ https_proxy: 'http://proxy.example:3128', no_proxy: 'stockade.example' }, null],
    [{ https_proxy: 'http://proxy.example:3128', NO_PROXY: '*' }, null],
    [{ https_proxy: 'http://proxy.example:3128', no_proxy: 'kade.example' }, 'http://proxy.example:3128'],
    [{ https_proxy: ' ' }, null],
  ] as const)('%j', (env, expected) => {
    expect(proxyFromEnvironment(server, env)).toBe(expected)
  })
  it('of plain http is the lower case one only', () => {
    const env = { HTTP_PROXY: 'http://evil.example', http_proxy: '' }
    expect(proxyFromEnvironment('http://192.0.2.1:8420', env)).toBe(null)
    expect(proxyFromEnvironment('http://192.0.2.1:8420', { http_proxy: 'http://192.0.2.9' })).toBe('http://192.0.2.9')
    expect(proxyFromEnvironment('http://192.0.2.1', { http_proxy: 'http://192.0.2.9', no_proxy: '192.0.2.1' })).toBe(
      null,
    )
  })
  it('is shown without user and password', () => {
    expect(proxyName('http://user:secret@proxy.example:3128')).toBe('http://proxy.example:3128')
    expect(proxyName('http://[2001:db8::1]')).toBe('http://[2001:db8::1]:80')
  })
  it.each([
    'https://proxy.example',
    'socks5://proxy.example',
    'http://',
    'http://proxy.example/path',
    'http://a b',
    'x'.repeat(1001),
  ])('%j is refused in words that do not repeat it', text => {
    expect(() => readProxy(text)).toThrow(/^the proxy must have the form http:/)
  })
})
