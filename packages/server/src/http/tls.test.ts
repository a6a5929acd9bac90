import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort, startServer } from '../testing/index.ts'
import { ownNames, pinOf, renewOwn } from './self-signed.ts'
import { openRedirect } from './redirect.ts'
import { createTlsReload, openTls } from './tls.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'stockade-tls-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)
/** A self-signed certificate for 127.0.0.1, by openssl. */
const issue = (name: string, days = 90) =>
  execFileSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days ${days} -subj /CN=${name} -addext subjectAltName=IP:127.0.0.1`
      .split(' ')
      .concat('-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)),
    { stdio: 'ignore' },
  )
const files = { certFile: at('served.pem'), keyFile: at('served.key'), isOwn: false }
const baseUrl = () => 'https://127.0.0.1:8420'
const serve = (name: string, key = name) => {
  copyFileSync(at(`${name}.pem`), files.certFile)
  copyFileSync(at(`${key}.key`), files.keyFile)
}
beforeAll(() => {
  issue('first')
  issue('second')
  issue('short', 7)
})
beforeEach(() => serve('first'))

/** Asks over TLS and trusts one certificate only; resolves to the status, the body and the name in the certificate. */
const ask = (url: string, trusted: string, agent = new Agent()) => {
  const ca = readFileSync(trusted.startsWith('/') ? join(trusted, 'tls.pem') : at(`${trusted}.pem`))
  return askWith(url, ca, agent)
}
const askWith = (url: string, ca: Buffer, agent: Agent) =>
  new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; name: unknown }>((resolve, reject) => {
    const asked = request(url, { ca, agent }, reply => {
      reply.resume()
      const { subject } = (reply.socket as TLSSocket).getPeerCertificate()
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, name: subject.CN }))
    })
    asked.on('error', reject)
    asked.end()
  })

describe('a server with a certificate of the operator', () => {
  it.skipIf(process.env.STOCKADE_TEST_PAIR === '1')(
    'leads browsers from plain http to https, and refuses programs and credentials there',
    async () => {
      const httpPort = await freePort()
      const server = await startServer({
        env: {
          STOCKADE_TLS_CERT: files.certFile,
          STOCKADE_TLS_KEY: files.keyFile,
          STOCKADE_HTTP_PORT: String(httpPort),
        },
      })
      const ask = async (path: string, init: RequestInit = {}) => {
        const reply = await fetch(`http://127.0.0.1:${httpPort}${path}`, { redirect: 'manual', ...init })
        return { status: reply.status, to: reply.headers.get('location'), text: await reply.text() }
      }
      const target = `https://127.0.0.1:${server.port}`
      try {
        expect(await ask('/bans?q=jail:sshd')).toMatchObject({ status: 308, to: `${target}/bans?q=jail:sshd` })
        expect(await ask('/', { method: 'HEAD' })).toMatchObject({ status: 308, to: `${target}/` })
        // No path chooses another host.
        for (const path of ['//evil.example/', '/%5cevil.example'])
          expect((await ask(path)).to).toMatch(new RegExp(`^${target}/`))
        for (const path of ['/api/v1/ready', '/agent/stockade-agent.mjs', '/install.sh', '/metrics'])
          expect(await ask(path)).toMatchObject({ status: 403, to: null, text: expect.stringContaining('use https') })
        expect(await ask('/', { method: 'POST', body: 'x' })).toMatchObject({ status: 403, to: null })
        for (const headers of [{ authorization: 'Bearer svc_x' }, { cookie: 'session=x' }])
          expect(await ask('/', { headers })).toMatchObject({
            status: 403,
            text: expect.stringContaining('replace it'),
          })
      } finally {
        await server.close()
      }
      await expect(fetch(`http://127.0.0.1:${httpPort}/`)).rejects.toThrow()
    },
  )
  it('leads to the base URL where one is set', async () => {
    const redirect = await openRedirect(
      { host: '127.0.0.1', port: 0 },
      { baseUrl: () => 'https://fleet.stockade.example', port: () => 443 },
    )
    try {
      const { port } = redirect.address() as AddressInfo
      const reply = await fetch(`http://127.0.0.1:${port}/\\\\evil.example`, { redirect: 'manual' })
      expect(reply.headers.get('location')).toMatch(/^https:\/\/fleet\.stockade\.example\//)
    } finally {
      redirect.close()
    }
  })
  it.skipIf(process.env.STOCKADE_TEST_PAIR === '1')(
    'serves https and nothing else, with secure cookies, from TLS 1.2 on',
    async () => {
      const server = await startServer({
        env: { STOCKADE_TLS_CERT: files.certFile, STOCKADE_TLS_KEY: files.keyFile },
      })
      try {
        const url = `https://127.0.0.1:${server.port}`
        const page = await ask(`${url}/`, 'first')
        expect(page).toMatchObject({ status: 200, name: 'first' })
        expect(page.headers['strict-transport-security']).toBe('max-age=31536000')
        expect((await ask(`${url}/api/v1/ready`, 'first')).status).toBe(200)
        await expect(ask(url, 'second')).rejects.toThrow()
        await expect(fetch(`http://127.0.0.1:${server.port}/api/v1/ready`)).rejects.toThrow()
        const old = connect({ port: server.port, host: '127.0.0.1', maxVersion: 'TLSv1.1', rejectUnauthorized: false })
        await expect(
          new Promise((resolve, reject) => old.on('secureConnect', resolve).on('error', reject)),
        ).rejects.toThrow()
      } finally {
        await server.close()
      }
    },
  )
  it.each([
    ['a key that belongs to another certificate', () => serve('first', 'second'), /does not belong/],
    ['a key that is none', () => writeFileSync(files.keyFile, 'no key'), /is not a PEM private key/],
    ['a certificate that is none', () => writeFileSync(files.certFile, 'none'), /is not a PEM certificate/],
    ['a missing file', () => rmSync(files.keyFile), /ENOENT/],
  ])('does not start with %s, and says so', (_, spoil, reason) => {
    spoil()
    expect(() => openTls(files, baseUrl, Date.now)).toThrow(reason)
    expect(() => openTls(files, baseUrl, Date.now)).toThrow(
      /^the certificate .*served\.pem and its key .*served\.key can't be used/,
    )
  })
  it('does not start with a certificate that has ended', () => {
    expect(() => openTls(files, baseUrl, () => Date.now() + 91 * 86_400_000)).toThrow(/the certificate ended on/)
  })
})

describe('a renewed certificate', () => {
  let server: Server
  let url: string
  let reload: () => Promise<void>
  let now: number
  let log: string[]
  beforeEach(async () => {
    now = Date.now()
    log = []
    const started = openTls(files, baseUrl, () => now)
    server = createServer({ cert: started.cert, key: started.key }, (_, reply) => reply.end())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const keep = (_: unknown, text: string) => log.push(text)
    reload = createTlsReload({
      ...files,
      baseUrl,
      started,
      server,
      clock: () => now,
      log: { info: keep, warn: keep } as never,
    })
    await reload()
  })
  afterEach(() => new Promise(resolve => server.close(resolve).closeAllConnections()))

  it('is given to new connections, and open ones go on', async () => {
    const kept = new Agent({ keepAlive: true })
    await ask(url, 'first', kept)
    serve('second')
    await reload()
    expect((await ask(url, 'second')).name).toBe('second')
    expect((await ask(url, 'first', kept)).name).toBe('first')
    expect(log).toEqual(['the certificate was read again'])
    kept.destroy()
  })
  it('is not taken while its key is not there yet, which is told once', async () => {
    serve('second', 'first')
    await reload()
    await reload()
    expect((await ask(url, 'first')).name).toBe('first')
    expect(log).toEqual(['the certificate was not read, the one before is kept'])
    serve('second')
    await reload()
    expect((await ask(url, 'second')).name).toBe('second')
  })
  it('is asked for once a day from 14 days before the end', async () => {
    serve('short')
    await reload()
    await reload()
    now += 86_400_001
    await reload()
    const asked = 'the certificate ends soon: renew it'
    expect(log).toEqual(['the certificate was read again', asked, asked])
  })
})

describe('a server that signs its certificate itself', () => {
  const day = 86_400_000
  const own = { certFile: at('own.pem'), keyFile: at('own.key'), isOwn: true }
  const openssl = (...args: string[]) => execFileSync('openssl', args, { encoding: 'utf8' })
  beforeEach(() => {
    rmSync(own.certFile, { force: true })
    rmSync(own.keyFile, { force: true })
  })

  // Several processes need one certificate, so it is refused with PostgreSQL.
  it.runIf(process.env.STOCKADE_TEST_ENGINE === 'sqlite')(
    'serves it, and hosts are bound to its key, which curl checks before it sends anything',
    async () => {
      const server = await startServer({ env: { STOCKADE_TLS: 'self' } })
      try {
        const { status, headers } = await ask(`https://127.0.0.1:${server.port}/`, server.dataDir)
        expect(status).toBe(200)
        expect(headers['strict-transport-security']).toBeUndefined()
        const files = { certFile: '', keyFile: join(server.dataDir, 'tls.key'), isOwn: true }
        const url = `https://127.0.0.1:${server.port}/api/v1/ready`
        const curl = async (pin: string) => (await run('curl', ['-sk', '--pinnedpubkey', pin, url])).stdout
        expect(await curl(pinOf(files))).toBe('{"status":"ok"}')
        await expect(curl(`sha256//${Buffer.alloc(32).toString('base64')}`)).rejects.toThrow()
      } finally {
        await server.close()
      }
    },
  )
  it('does not start with a spoiled key, and says what hangs on it', () => {
    writeFileSync(own.keyFile, 'spoiled')
    expect(() => pinOf(own)).toThrow(
      /own\.key can't be used: it is not a private key in PEM\. Restore it: hosts are bound to this key/,
    )
    expect(readFileSync(own.keyFile, 'utf8')).toBe('spoiled')
  })
  it('is read and verified by openssl, with every name and address', () => {
    renewOwn(own, 'https://stockade.example:8420', Date.now)
    const text = openssl('x509', '-in', own.certFile, '-noout', '-text')
    for (const name of ['DNS:stockade.example', 'DNS:localhost', 'IP Address:127.0.0.1', 'IP Address:0:0:0:0:0:0:0:1'])
      expect(text).toContain(name)
    expect(text).toContain('TLS Web Server Authentication')
    expect(openssl('verify', '-CAfile', own.certFile, own.certFile)).toContain('OK')
    expect(ownNames('https://[2001:db8::1]/')).toContain('2001:db8::1')
  })
  it('keeps the key, and the certificate until it ends within 30 days or lacks a name', () => {
    const content = () => readFileSync(own.certFile, 'utf8')
    renewOwn(own, 'https://stockade.example', Date.now)
    const [pin, first] = [pinOf(own), content()]
    renewOwn(own, 'https://stockade.example', () => Date.now() + 300 * day)
    expect(content()).toBe(first)
    renewOwn(own, 'https://stockade.example', () => Date.now() + 370 * day)
    const second = content()
    expect(second).not.toBe(first)
    renewOwn(own, 'https://new.stockade.example', Date.now)
    expect(content()).not.toBe(second)
    expect(pinOf(own)).toBe(pin)
  })
})
