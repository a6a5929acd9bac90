import { expect, test } from 'vitest'
import { raw } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { withHost } from '../../src/testing/scene.ts'

/* One request with millions of values stopped the server for seconds. The stall itself is measured by `npm run bench -- junk`. */

let server: TestServer
let admin: Signed
let host: EnrolledHost
withHost({}, made => ({ server, admin, host } = made))

const size = 4 * 1024 * 1024
const many = (value: string) => `${`${value},`.repeat(Math.floor(size / (value.length + 1)))}${value}`
const post = (path: string, body: string, token = admin.token) => raw(server, 'POST', `/api/v1${path}`, { token, body })

test.each([
  ['numbers', `{"entries":[${many('1')}]}`, /holds more than 1000000 values/],
  ['objects', `{"entries":[${many('{}')}]}`, /holds more than 1000000 values/],
  ['one object', `{"entries":[],"x":{${many('"k":1')}}}`, /entries|known field/],
  ['depth', '['.repeat(size / 2) + ']'.repeat(size / 2), /nested deeper than 64/],
  ['no JSON', `{"entries":[${many('"x')}]}`, /not valid JSON/],
  ['a prototype', `{"entries":[{"__proto__":{"x":"${'y'.repeat(100_000)}"}}]}`, /not valid JSON/],
])('is refused: %s', async (_, body, why) => {
  const reply = await post('/whitelist/bulk', body)
  expect(reply.status).toBe(400)
  expect(reply.json).toMatchObject({ error: 'Bad Request', message: expect.stringMatching(why) })
})

test('a large body that is wrong in many places is refused for one of them', async () => {
  const reply = await post('/whitelist/bulk', `{"entries":[${`{"ip":1},`.repeat(20_000)}{"ip":1}]}`)
  expect(reply.status).toBe(400)
  expect((reply.json as { details: unknown[] }).details).toEqual([
    { path: 'entries.0.ip', message: 'entries.0.ip must be of type string' },
  ])
})

test('more entries than the list takes in one request are refused', async () => {
  const reply = await post('/whitelist/bulk', JSON.stringify({ entries: Array(200_001).fill({ ip: '192.0.2.1' }) }))
  expect(reply).toMatchObject({ status: 400, json: { details: [{ path: 'entries' }] } })
})

test('what is large and meant is taken as ever', async () => {
  const bans = Array.from({ length: 50 }, (_, n) => ({
    ip: `198.51.100.${n}`,
    jail: 'sshd',
    log_lines: `first\0second ${'x'.repeat(4000)}`,
  }))
  const reply = await post('/bans/batch', JSON.stringify({ bans }), host.key)
  expect(reply.status).toBe(200)
  const { results } = reply.json as { results: { id: number; error: string | null }[] }
  expect(results.map(({ error }) => error)).toEqual(bans.map(() => null))
  const { log_lines } = await admin.client.call('GET /bans/{banId}', { params: { banId: results[0]?.id ?? 0 } })
  expect(log_lines).toMatch(/^first\ufffdsecond x{4000}$/)
})
