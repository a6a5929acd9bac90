import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { X509Certificate, createPrivateKey, randomUUID } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createOutgoing } from '../outgoing/outgoing.ts'
import { eventually, freePort, movableClock, startServer, within } from '../testing/index.ts'
import { createAcme, readAcmeState } from './acme.ts'
import { openRedirect } from './redirect.ts'

/*
 * Against Pebble, the test authority of the people behind Let's Encrypt, in its strict mode: it checks signatures, nonces and requests, and
 * fetches the challenge over http. It refuses three of ten nonces and never reuses an authorization.
 */

const name = 'fleet.stockade.example'
const other = 'stockade.example'
/** A name that leads nowhere. */
const strange = 'away.stockade.example'
const hasPebble = existsSync('/usr/bin/pebble')
if (!hasPebble) process.stderr.write('stockade: MISSING, so tests will be SKIPPED: pebble\n')
const folder = join(tmpdir(), `stockade-acme-${randomUUID()}`)
// Hooks of a file whose tests are all skipped do not run, so nothing is left behind then.
beforeAll(() => void mkdirSync(folder))
const at = (file: string) => join(folder, file)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Answers 127.0.0.1 for the names of this test, and that there is no other. */
const startNames = async () => {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5
    const question = query.subarray(12, end)
    const labels: string[] = []
    for (let place = 12; query[place]; place += (query[place] ?? 0) + 1)
      labels.push(query.toString('latin1', place + 1, place + 1 + (query[place] ?? 0)))
    const isKnown = [name, other].includes(labels.join('.').toLowerCase())
    const isAddress = query.readUInt16BE(end - 4) === 1
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(isKnown ? 0x81_80 : 0x81_83, 2)
    head.writeUInt16BE(isKnown && isAddress ? 1 : 0, 6)
    head.fill(0, 8, 12)
    const answer = Buffer.from('c00c00010001000000050004' + '7f000001', 'hex')
    socket.send(Buffer.concat([head, question, ...(isKnown && isAddress ? [answer] : [])]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { port: socket.address().port, close: () => socket.close() }
}

const certificateOf = (files: { readonly certFile: string }) => new X509Certificate(readFileSync(files.certFile))

describe.runIf(hasPebble && process.env.STOCKADE_TEST_ENGINE === 'sqlite')('an ACME authority', () => {
  let pebble: ChildProcess
  let names: Awaited<ReturnType<typeof startNames>>
  let directory: string
  let httpPort: number
  let root: string
  const ca = at('authority.pem')
  beforeAll(async () => {
    names = await startNames()
    const [port, management] = [await freePort(), await freePort()]
    httpPort = await freePort()
    execFileSync(
      'openssl',
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority -addext subjectAltName=IP:127.0.0.1'
        .split(' ')
        .concat('-keyout', at('authority.key'), '-out', ca),
      { stdio: 'ignore' },
    )
    const config = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      ...{ certificate: ca, privateKey: at('authority.key'), httpPort, tlsPort: await freePort() },
      ...{ ocspResponderURL: '', externalAccountBindingRequired: false },
    }
    writeFileSync(at('pebble.json'), JSON.stringify({ pebble: config }))
    pebble = spawn('pebble', ['-config', at('pebble.json'), '-strict', '-dnsserver', `127.0.0.1:${names.port}`], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, PEBBLE_WFE_NONCEREJECT: '30', PEBBLE_VA_NOSLEEP: '1', PEBBLE_AUTHZREUSE: '0' },
    })
    directory = `https://127.0.0.1:${port}/dir`
    const trusting = new Agent({ ca: readFileSync(ca) })
    const read = (url: string) =>
      new Promise<string>((resolve, reject) => {
        request(url, { agent: trusting }, reply => {
          let text = ''
          reply.setEncoding('utf8').on('data', (piece: string) => (text += piece))
          reply.on('end', () => resolve(text))
        })
          .on('error', reject)
          .end()
      })
    await eventually(async () => expect(await read(directory)).toContain('newOrder'))
    root = await read(`https://127.0.0.1:${management}/roots/0`)
  })
  afterAll(async () => {
    names?.close()
    if (pebble?.exitCode === null) {
      pebble.kill()
      await within(once(pebble, 'exit'), 'the end of pebble')
    }
  })

  const outgoing = createOutgoing({ ports: [], databases: [] })
  const filesIn = (place: string) => ({ certFile: join(place, 'acme.pem'), keyFile: join(place, 'acme.key') })
  /** A server's own part without the server: each test asks for other names or with another authority. */
  const anAcme = (place: string, more: { names?: string[]; directory?: string; clock?: () => number } = {}) => {
    const log: string[] = []
    const keep = (data: { reason?: string }, text: string) => log.push(data.reason ? `${text}: ${data.reason}` : text)
    const acme = createAcme({
      config: { directory: more.directory ?? directory, names: more.names ?? [name], email: null, caFile: ca },
      files: filesIn(place),
      outgoing,
      clock: more.clock ?? Date.now,
      log: { info: keep, warn: keep } as never,
      taken: () => Promise.resolve(),
    })
    return { acme, log }
  }

  it('certifies a server, which serves the certificate at once, keeps it, and shows nobody else a challenge', async () => {
    const dataDir = mkdtempSync(at('server-'))
    const env = {
      STOCKADE_TLS: 'acme',
      STOCKADE_BASE_URL: `https://${name}`,
      STOCKADE_ACME_NAMES: `${name}, ${other}`,
      STOCKADE_ACME_DIRECTORY: directory,
      STOCKADE_ACME_CA: ca,
      STOCKADE_ACME_EMAIL: 'ops@stockade.example',
      STOCKADE_HTTP_PORT: String(httpPort),
    }
    /** What a browser that trusts the authority only sees; rejects where it would warn. */
    const serial = (port: number, servername: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ port, host: '127.0.0.1', servername, ca: root }, () => {
          resolve(socket.getPeerCertificate().serialNumber)
          socket.destroy()
        })
        socket.on('error', reject)
      })
    const server = await startServer({ env, dataDir })
    let first: string
    try {
      await expect.poll(() => serial(server.port, name).catch(() => null)).toMatch(/^[0-9A-F]+$/)
      first = await serial(server.port, other)
      expect(certificateOf(filesIn(dataDir)).subjectAltName).toBe(`DNS:${name}, DNS:${other}`)
      for (const file of ['acme.key', 'acme-account.key', 'acme.json'])
        expect(statSync(join(dataDir, file)).mode & 0o777, file).toBe(0o600)
      const shown = await fetch(`http://127.0.0.1:${httpPort}/.well-known/acme-challenge/none`, { redirect: 'manual' })
      expect(shown.status).toBe(308)
    } finally {
      await server.close()
    }
    const again = await startServer({ env, dataDir })
    try {
      expect(await serial(again.port, name)).toBe(first)
    } finally {
      await again.close()
    }
  })

  describe('asked by a server', () => {
    let asked: ReturnType<typeof anAcme>
    let challenges: Server
    const start = async (...given: Parameters<typeof anAcme>) => {
      asked = anAcme(...given)
      challenges = await openRedirect(
        { host: '127.0.0.1', port: httpPort },
        { baseUrl: () => `https://${name}`, port: () => 443, challenge: token => asked.acme.answer(token) },
      )
      return asked
    }
    afterEach(async () => {
      asked.acme.close()
      challenges.closeAllConnections()
      await new Promise(resolve => challenges.close(resolve))
    })

    it('renews after two thirds of the life, with the same key, and not before', async () => {
      const place = mkdtempSync(at('renewed-'))
      const clock = movableClock()
      const { acme } = await start(place, { clock })
      await acme.run()
      const [first, key] = [certificateOf(filesIn(place)), readFileSync(filesIn(place).keyFile, 'utf8')]
      await acme.run()
      expect(certificateOf(filesIn(place)).serialNumber).toBe(first.serialNumber)
      const life = first.validToDate.getTime() - first.validFromDate.getTime()
      clock.forward((life * 0.66) / 1000)
      await acme.run()
      expect(certificateOf(filesIn(place)).serialNumber).toBe(first.serialNumber)
      clock.forward((life * 0.06) / 1000)
      await acme.run()
      const second = certificateOf(filesIn(place))
      expect(second.serialNumber).not.toBe(first.serialNumber)
      expect(second.publicKey.equals(first.publicKey)).toBe(true)
      expect(readFileSync(filesIn(place).keyFile, 'utf8')).toBe(key)
    })
    it('is asked again when a name is added, and after the key was spoiled', async () => {
      const place = mkdtempSync(at('changed-'))
      await (await start(place)).acme.run()
      asked = anAcme(place, { names: [name, other] })
      await asked.acme.run()
      const both = certificateOf(filesIn(place))
      expect(both.subjectAltName).toBe(`DNS:${name}, DNS:${other}`)
      writeFileSync(filesIn(place).keyFile, 'spoiled')
      await asked.acme.run()
      const mended = certificateOf(filesIn(place))
      expect(mended.serialNumber).not.toBe(both.serialNumber)
      expect(mended.checkPrivateKey(createPrivateKey(readFileSync(filesIn(place).keyFile)))).toBe(true)
    })
    it('that can not see the name says why, and is left alone for longer each time, over a restart too', async () => {
      const place = mkdtempSync(at('refused-'))
      const clock = movableClock()
      const { acme, log } = await start(place, { names: [strange], clock })
      await acme.run()
      expect(log).toEqual([expect.stringMatching(/^no certificate was fetched: the authority could not verify away\./)])
      expect(readAcmeState(filesIn(place))).toMatchObject({ failures: 1, error: expect.stringContaining(strange) })
      await acme.run()
      clock.forward(299)
      await acme.run()
      expect(log).toHaveLength(1)
      clock.forward(2)
      await acme.run()
      expect(log).toHaveLength(2)
      clock.forward(301)
      await acme.run()
      expect(log).toHaveLength(2)
      // A start may ask sooner than the ten minutes, but not at once.
      const fresh = anAcme(place, { names: [strange], clock: () => clock() - 10_000 })
      await fresh.acme.run()
      expect(fresh.log).toHaveLength(0)
      const later = anAcme(place, { names: [strange], clock })
      await later.acme.run()
      expect(later.log).toHaveLength(1)
      expect(readdirSync(place)).not.toContain('acme.pem')
    })
    it('that is none, or answers nothing, is told in a sentence, and a certificate that is there stays', async () => {
      const place = mkdtempSync(at('broken-'))
      await (await start(place)).acme.run()
      const before = readFileSync(filesIn(place).certFile, 'utf8')
      const clock = () => Date.now() + 5 * 365 * 86_400_000
      const nobody = await freePort()
      for (const [given, words] of [
        [`${directory}/none`, /is not the directory of an ACME authority \(HTTP 404\)/],
        [`https://127.0.0.1:${nobody}/dir`, /can't be reached: connect ECONNREFUSED/],
        [directory.replace('/dir', '/nonce-plz'), /is not the directory/],
      ] as const) {
        const { acme, log } = anAcme(place, { directory: given, clock })
        await acme.run()
        expect(log).toEqual([expect.stringMatching(words)])
      }
      expect(readFileSync(filesIn(place).certFile, 'utf8')).toBe(before)
    })
    it('is not asked where nothing can be written', async () => {
      const place = at('gone/deeper')
      writeFileSync(at('gone'), 'a file where the folder should be')
      const { acme, log } = await start(place)
      await acme.run()
      expect(log).toEqual([expect.stringMatching(/^no certificate was fetched: E/)])
    })
  })
})
