import { expect, test } from 'vitest'
import { aHost, raw } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'
import { withServer } from '../../src/testing/scene.ts'

/* Somebody with a stolen password, who has yet to set up the second factor that is required, read the metrics; so did the keys of that account. */

let server: TestServer
let admin: Signed
withServer({}, made => ({ server, admin } = made))

/** From elsewhere: the host itself may always ask. */
const metrics = async (token: string) =>
  (await raw(server, 'GET', '/metrics', { token, headers: { 'x-forwarded-for': '203.0.113.9' } })).status

test('metrics are refused like everything else that may be read', async () => {
  const made = (input: object) => admin.client.call('POST /keys', { body: { name: 'scrape', ...input } })
  const { key } = await made({})
  const scoped = await made({ scopes: ['metrics'] })
  const other = await made({ scopes: ['bans'] })
  const bound = await made({ server_id: (await aHost(server, admin.client)).id })
  expect([await metrics(admin.token), await metrics(key), await metrics(scoped.key)]).toEqual([200, 200, 200])
  expect([await metrics(other.key), await metrics(bound.key), await metrics('unknown')]).toEqual([403, 403, 403])
  await raw(server, 'PATCH', '/api/v1/users/1', { token: admin.token, body: { mfa_required: true } })
  expect([await metrics(admin.token), await metrics(key), await metrics(scoped.key)]).toEqual([403, 403, 403])
})
