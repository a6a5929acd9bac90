import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isPlainHttp, refusePlainHttp } from '../src/config.ts'
import { checkPins, pinOf } from '../src/pins.ts'
import { createBudget } from '../src/schedule.ts'
import { createTransport } from '../src/transport.ts'

/** A self-signed certificate for 127.0.0.1, by the openssl that is here. */
const certificate = (directory: string, name: string): { key: string; cert: string } => {
  const [key, cert] = [join(directory, `${name}.key`), join(directory, `${name}.pem`)]
  const subject = ['-subj', '/CN=stockade.example', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '30']
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert]
  execFileSync('openssl', ['req', '-x509', ...made, ...subject], { stdio: 'ignore' })
  return { key: fs.readFileSync(key, 'utf8'), cert: fs.readFileSync(cert, 'utf8') }
}
const pinOfPem = (pem: string): string => pinOf(new X509Certificate(pem).raw)

describe('a pinned server', () => {
  let server: Server
  let directory = ''
  let own = ''
  let requests = 0
  beforeAll(async () => {
    directory = fs.mkdtempSync(join(tmpdir(), 'stockade-pins-'))
    const made = certificate(directory, 'own')
    own = pinOfPem(made.cert)
    server = createServer(made, (_, response) => {
      requests += 1
      response.end('{"status":"ok"}')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
    fs.rmSync(directory, { recursive: true, force: true })
  })
  const asked = async (
    pins: readonly string[],
    alone: boolean,
    trusted: { ca?: string; authorities?: readonly string[] } = {},
  ): Promise<unknown> => {
    const transport = createTransport({
      baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      apiKey: 'svc_secret',
      ca: null,
      authorities: [],
      ...trusted,
      pins,
      budget: createBudget({ perMinute: 1000, now: () => performance.now() }),
      now: Date.now,
      userAgent: 'test',
    })
    try {
      return await transport.json('GET', '/x', { alone })
    } finally {
      transport.close()
    }
  }
  const strangers = (): string => pinOfPem(certificate(directory, 'stranger').cert)

  it.each([false, true])(
    'is talked to with its own pin, and with the next one (connection of its own: %s)',
    async alone => {
      await expect(asked([own], alone)).resolves.toEqual({ status: 'ok' })
      await expect(asked([strangers(), own], alone)).resolves.toEqual({ status: 'ok' })
    },
  )

  it.each([false, true])('with another key gets no byte of a request (connection of its own: %s)', async alone => {
    const before = requests
    await expect(asked([strangers()], alone)).rejects.toThrow(/is not pinned: nothing was sent to it/)
    expect(requests).toBe(before)
  })

  it('is trusted without a pin if its authority is given or stands in the store of the host', async () => {
    const store = join(directory, 'store.crt')
    const pem = fs.readFileSync(join(directory, 'own.pem'), 'utf8')
    const elsewhere = certificate(directory, 'elsewhere').cert
    fs.writeFileSync(store, `${elsewhere}\n${pem}`)
    await expect(asked([], false)).rejects.toThrow(/self-signed certificate/)
    expect(await asked([], false, { ca: pem })).toEqual({ status: 'ok' })
    expect(await asked([], true, { authorities: [join(directory, 'absent.crt'), store] })).toEqual({ status: 'ok' })
    // A given authority replaces the store.
    await expect(asked([], false, { ca: elsewhere, authorities: [store] })).rejects.toThrow(/self-signed certificate/)
  })
  it('without a pin the authority decides, and there is none', async () => {
    await expect(asked([], false)).rejects.toThrow(/self-signed|self signed/i)
  })

  it('says the pin as openssl does', () => {
    const shell = `openssl x509 -in ${join(directory, 'own.pem')} -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`
    expect(own).toBe(`sha256//${execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).trim()}`)
  })

  it.each(['sha256//short=', `sha256//${'A'.repeat(44)}`, 'sha1//AAAA', ''])('%j is no pin', pin => {
    expect(() => checkPins([pin])).toThrow(/not a pin/)
  })
  it('three pins are too many', () => {
    expect(() => checkPins([own, own, own])).toThrow(/3 pins/)
  })
})

describe('plain http', () => {
  it.each([
    'http://10.0.0.5:8420',
    'http://stockade.example',
    'http://localhost.example',
    'http://[2001:db8::1]:8420',
    'http://127.example',
  ])('to %s is refused unless told', url => {
    expect(isPlainHttp(url)).toBe(true)
    expect(() => refusePlainHttp(url, false)).toThrow(/plain http.*--insecure-http/)
    expect(() => refusePlainHttp(url, true)).not.toThrow()
  })
  it.each(['https://stockade.example', 'http://localhost:8420', 'http://127.0.0.1:8420', 'http://[::1]:8420'])(
    '%s is fine',
    url => {
      expect(() => refusePlainHttp(url, false)).not.toThrow()
    },
  )
})
