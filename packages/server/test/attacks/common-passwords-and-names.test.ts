import { afterAll, beforeAll, expect, test } from 'vitest'
import { password, raw, startServer } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'

/* Accounts whose password is guessed first, and accounts whose name looks like the system's own in the audit log. */

let server: TestServer
let admin: Signed
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
const common = ['Password1', 'Admin123', 'qwertY123', 'Welcome1']
const refused = { status: 400, json: { message: expect.stringContaining('most common') } }
let people = 0
const create = (body: object, username = `user_${++people}`) =>
  raw(server, 'POST', '/api/v1/users', {
    token: admin.token,
    body: { username, email: `mail${++people}@stockade.example`, ...body },
  })

test('the set-up page makes no administrator of a common password', async () => {
  const body = { code: server.setupCode ?? '', username: 'admin', email: 'admin@stockade.example', refuse_common: true }
  expect(await raw(server, 'POST', '/api/v1/setup', { body: { ...body, password: 'Password1' } })).toMatchObject(
    refused,
  )
  admin = await server.setUp()
})

test('where it is asked for, a common password is refused in any letter case, and others pass', async () => {
  for (const typed of common) {
    expect(await create({ password: typed, refuse_common: true }), typed).toMatchObject(refused)
    const change = { current_password: password, new_password: typed, refuse_common: true }
    expect(await raw(server, 'POST', '/api/v1/auth/password', { token: admin.token, body: change })).toMatchObject(
      refused,
    )
    expect(
      await raw(server, 'POST', '/api/v1/users/1/reset-password', {
        token: admin.token,
        body: { new_password: typed, refuse_common: true },
      }),
    ).toMatchObject(refused)
  }
  for (const typed of ['Seven-green-l4mps', 'kT9wqz-Ulm-44'])
    expect(await create({ password: typed, refuse_common: true }), typed).toMatchObject({ status: 201 })
  // The rules of the interface are complete: without the setting nothing else is refused.
  expect(await create({ password: 'Password1' })).toMatchObject({ status: 201 })
})

test('the setting refuses them whoever asks', async () => {
  await admin.client.call('PATCH /settings', { body: { security: { refuse_common_passwords: true } } })
  for (const typed of common) expect(await create({ password: typed }), typed).toMatchObject(refused)
  expect(await create({ password: 'Seven-green-l4mps' })).toMatchObject({ status: 201 })
})

test('nobody is called like the system', async () => {
  for (const name of ['system', 'System', 'engine', 'STOCKADE'])
    expect(await create({ password }, name), name).toMatchObject({ status: 409 })
  expect(await create({ password }, 'key:backup')).toMatchObject({ status: 400 })
})
