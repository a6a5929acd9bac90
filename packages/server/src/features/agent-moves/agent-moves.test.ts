import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressClaimText } from '@stockade/contract/address-proof.ts'
import { aHost, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'

const baseUrl = 'https://stockade.example/fort'
let server: TestServer
let admin: Signed
let web: EnrolledHost
beforeAll(async () => {
  server = await startServer({ env: { STOCKADE_BASE_URL: baseUrl } })
  admin = await server.setUp()
  web = await aHost(server, admin.client)
})
afterAll(() => server.close())

describe('the proof of a server to a host', () => {
  const nonce = randomBytes(32).toString('base64url')
  const prove = (server_id: string, address = baseUrl) =>
    server.client().call('POST /agent/challenge', { body: { server_id, nonce, address } })
  /** What a host of this key expects. */
  const wanted = (key: string, claim: { known_as: 'configuration' | 'settings' | null }, address = baseUrl) =>
    createHmac('sha256', createHash('sha256').update(key).digest())
      .update(addressClaimText({ nonce, serverId: web.id, address, knownAs: claim.known_as, tlsKey: null }))
      .digest('hex')

  test('names its own addresses, and covers what it says of them', async () => {
    await admin.client.call('PATCH /settings', { body: { service: { site_url: 'https://site.example' } } })
    for (const [address, known_as] of [
      [baseUrl, 'configuration'],
      ['https://site.example', 'settings'],
      ['https://other.example', null],
      ['https://stockade.example', null],
    ] as const) {
      const reply = await prove(web.id.toUpperCase(), address)
      expect(reply).toEqual({ proof: wanted(web.key, { known_as }, address), known_as, tls_key: null })
    }
  })
  test('tells nobody which servers exist', async () => {
    const stranger = randomUUID()
    const [known, unknown] = [await prove(web.id), await prove(stranger)]
    expect(unknown).toEqual({ ...known, proof: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(unknown.proof).not.toBe(known.proof)
    expect(await prove(stranger)).toEqual(unknown)
    expect(await prove(web.id)).toEqual(known)
  })
  test('is made with the key of the newest agent', async () => {
    const params = { serverId: web.id }
    const { install_command } = await admin.client.call('POST /servers/{serverId}/regenerate-token', { params })
    const { api_key } = await server.client().call('POST /agent/enroll', {
      body: { token: install_command.split(' ').at(-1) ?? '', hostname: 'web-01', agent_id: randomUUID() },
    })
    expect((await prove(web.id)).proof).toBe(wanted(api_key, { known_as: 'configuration' }))
  })
  test.each([
    [{ nonce: 'short' }, 'nonce'],
    [{ nonce: `${nonce}A` }, 'nonce'],
    [{ server_id: 'web-01' }, 'server_id'],
    [{ address: 'ftp://stockade.example' }, 'address'],
    [{ address: 'https://a.example\nhttps://b.example' }, 'address'],
    [{ address: `https://a.example/${'a'.repeat(2048)}` }, 'address'],
  ])('refused: %j', async (wrong, path) => {
    const body = { server_id: web.id, nonce, address: baseUrl, ...wrong }
    expect(await raw(server, 'POST', '/api/v1/agent/challenge', { body })).toMatchObject({
      status: 400,
      json: { details: [{ path }] },
    })
  })
})
