import { expect, test } from 'vitest'
import { raw } from '../../src/testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../src/testing/index.ts'
import { aUser, withTwoHosts } from '../../src/testing/scene.ts'

/* Who has access to one server learns neither the names nor the exceptions of rules that concern others. */

let server: TestServer
let admin: Signed
let limited: Signed
let web: EnrolledHost
let db: EnrolledHost

withTwoHosts({}, async scene => {
  ;({ server, admin, web, db } = scene)
  limited = await aUser(server, admin.client, 'limited', 'Viewer', [web.id])
})
const here = () => ({ server_ids: [web.id] })
const elsewhere = () => ({ server_ids: [db.id] })

test('of sharing rules', async () => {
  const rule = (name: string, body: object) =>
    admin.client.call('POST /rules', { body: { name, exclude: ['203.0.113.7'], ...body } })
  const secret = await rule('payroll', { from: elsewhere(), target: elsewhere() })
  await rule('from here', { from: here(), target: elsewhere() })
  const mine = await rule('to here', { from: elsewhere(), target: here() })
  const { rules, total } = await limited.client.call('GET /rules')
  expect(rules.map(({ name }) => name)).toEqual(['from here', 'to here'])
  expect(total).toBe(2)
  expect(rules.flatMap(({ exclude }) => exclude)).toEqual([])
  for (const path of [`/rules/${secret.id}`, `/rules/${secret.id}/matches`])
    expect(await raw(server, 'GET', `/api/v1${path}`, { token: limited.token }), path).toMatchObject({ status: 404 })
  expect(await limited.client.call('GET /rules/{id}', { params: { id: mine.id } })).toMatchObject({ exclude: [] })
  expect(await admin.client.call('GET /rules/{id}', { params: { id: mine.id } })).toMatchObject({
    exclude: ['203.0.113.7'],
  })
})

test('of alert rules', async () => {
  const rule = (name: string, target: object) =>
    admin.client.call('POST /alerts/rules', {
      body: { name, kind: 'bans-over', conditions: { threshold: 9 }, target },
    })
  await rule('secret storm', elsewhere())
  await rule('own storm', here())
  const seen = (await limited.client.call('GET /alerts/rules')).rules.filter(({ builtin }) => !builtin)
  expect(seen.map(({ name }) => name)).toEqual(['own storm'])
  expect((await admin.client.call('GET /alerts/rules')).rules.filter(({ builtin }) => !builtin)).toHaveLength(2)
})
