import jsQRModule from 'jsqr'
import { PNG } from 'pngjs'
import { Secret, TOTP } from 'otpauth'
import { describe, expect, test } from 'vitest'
import { movableClock, password, raw } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'
import { withServer } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
withServer({ clock }, made => ({ server, admin } = made))

const codeOf = (secret: string, ahead = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock() + ahead * 1000 })
const wrongOf = (secret: string) => String((Number(codeOf(secret)) + 500_000) % 1_000_000).padStart(6, '0')
const login = async (username = 'admin') =>
  (await raw(server, 'POST', '/api/v1/auth/login', { body: { username, password } })).json as {
    mfa_required?: boolean
    mfa_token: string
  }
const verify = (mfa_token: string, code: string) =>
  raw(server, 'POST', '/api/v1/auth/mfa/verify', { body: { mfa_token, code } })
let users = 0
/** Somebody with a second factor. */
const guarded = async () => {
  const username = `mfa_${++users}`
  const { id } = await admin.client.call('POST /users', {
    body: { username, email: `${username}@stockade.example`, password },
  })
  const reply = await server.client().call('POST /auth/login', { body: { username, password } })
  if (!('access_token' in reply)) throw new Error('no factor is on yet')
  const client = server.client(reply.access_token)
  const enabled = await client.call('POST /auth/mfa/enable')
  await client.call('POST /auth/mfa/confirm', { body: { code: codeOf(enabled.secret) } })
  clock.forward(61)
  return { id, username, client, token: reply.access_token, ...enabled }
}

test('enabling shows a key that an authenticator reads, and is in force once confirmed', async () => {
  const { secret, qr_code, backup_codes } = await admin.client.call('POST /auth/mfa/enable')
  expect(backup_codes).toHaveLength(10)
  expect(new Set(backup_codes).size).toBe(10)
  const png = PNG.sync.read(Buffer.from(qr_code.replace('data:image/png;base64,', ''), 'base64'))
  const jsQR = jsQRModule as unknown as (
    data: Uint8ClampedArray,
    width: number,
    height: number,
  ) => { data: string } | null
  const address = jsQR(new Uint8ClampedArray(png.data), png.width, png.height)?.data ?? ''
  expect(new URL(address).searchParams.get('secret')).toBe(secret)
  expect(address).toMatch(/^otpauth:\/\/totp\/Stockade:admin\?/)
  // Prepared is not on.
  expect(await admin.client.call('GET /auth/me')).toMatchObject({ mfa_enabled: false, backup_codes_left: null })
  expect((await login()).mfa_required).toBeUndefined()
  expect(
    await raw(server, 'POST', '/api/v1/auth/mfa/confirm', { token: admin.token, body: { code: wrongOf(secret) } }),
  ).toMatchObject({ status: 401 })
  expect(await admin.client.call('POST /auth/mfa/confirm', { body: { code: codeOf(secret) } })).toEqual({
    message: expect.any(String),
    mfa_enabled: true,
  })
  expect((await admin.client.call('GET /auth/me')).mfa_enabled).toBe(true)
  expect(await raw(server, 'POST', '/api/v1/auth/mfa/enable', { token: admin.token })).toMatchObject({ status: 409 })
  const half = await login()
  expect(half).toEqual({ mfa_required: true, mfa_token: expect.any(String), methods: ['totp'] })
  // The half-way token opens nothing.
  expect(await raw(server, 'GET', '/api/v1/servers', { token: half.mfa_token })).toMatchObject({ status: 401 })
  clock.forward(31)
  const whole = await verify(half.mfa_token, codeOf(secret))
  expect(whole).toMatchObject({
    status: 200,
    json: {
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      expires_in: 3600,
      user: { id: 1, username: 'admin', role: 'Admin' },
    },
  })
  expect(whole.headers.get('set-cookie')).toMatch(/stockade_session=/)
  expect(
    await raw(server, 'POST', '/api/v1/auth/mfa/disable', { token: admin.token, body: { password: 'Wrong-secret-1' } }),
  ).toMatchObject({ status: 401 })
  expect(await admin.client.call('POST /auth/mfa/disable', { body: { password } })).toEqual({
    message: expect.any(String),
    mfa_enabled: false,
  })
  expect((await login()).mfa_required).toBeUndefined()
  expect(
    await raw(server, 'POST', '/api/v1/auth/mfa/confirm', { token: admin.token, body: { code: codeOf(secret) } }),
  ).toMatchObject({ status: 409 })
})

describe('a code', () => {
  test('works once, with one step of drift', async () => {
    const user = await guarded()
    const [first, second] = [await login(user.username), await login(user.username)]
    const code = codeOf(user.secret, -30)
    expect((await verify(first.mfa_token, code)).status).toBe(200)
    expect((await verify(second.mfa_token, code)).status).toBe(401)
    expect((await verify(second.mfa_token, codeOf(user.secret, 90))).status).toBe(401)
    expect((await verify(second.mfa_token, codeOf(user.secret, 30))).status).toBe(200)
  })
  test('of many tries in the same moment gets in once', async () => {
    const user = await guarded()
    const tokens = await Promise.all([1, 2, 3, 4].map(() => login(user.username)))
    const code = codeOf(user.secret)
    const replies = await Promise.all(tokens.map(({ mfa_token }) => verify(mfa_token, code)))
    expect(replies.filter(reply => reply.status === 200)).toHaveLength(1)
  })
  test('from the backup list works once each', async () => {
    const user = await guarded()
    const [one = '', two = ''] = user.backup_codes
    const left = async () => (await user.client.call('GET /auth/me')).backup_codes_left
    expect(await left()).toBe(10)
    expect((await verify((await login(user.username)).mfa_token, one)).status).toBe(200)
    expect((await verify((await login(user.username)).mfa_token, one)).status).toBe(401)
    expect((await verify((await login(user.username)).mfa_token, two.toUpperCase().replace('-', ' '))).status).toBe(200)
    expect(await left()).toBe(8)
    const renewed = await user.client.call('POST /auth/mfa/backup-codes', { body: { password } })
    expect(renewed.backup_codes).toHaveLength(10)
    expect(await left()).toBe(10)
    expect((await verify((await login(user.username)).mfa_token, user.backup_codes[2] ?? '')).status).toBe(401)
    expect((await verify((await login(user.username)).mfa_token, renewed.backup_codes[0] ?? '')).status).toBe(200)
  })
})

describe('a sign-in that waits for its second factor', () => {
  test('has five tries, also when they come at once, and five minutes', async () => {
    const user = await guarded()
    const { mfa_token } = await login(user.username)
    const replies = await Promise.all(Array.from({ length: 12 }, () => verify(mfa_token, wrongOf(user.secret))))
    expect(replies.every(reply => reply.status === 401)).toBe(true)
    expect((await verify(mfa_token, codeOf(user.secret))).status).toBe(401)
    const late = await login(user.username)
    clock.forward(301)
    expect((await verify(late.mfa_token, codeOf(user.secret))).status).toBe(401)
    const used = await login(user.username)
    expect((await verify(used.mfa_token, codeOf(user.secret))).status).toBe(200)
    clock.forward(31)
    expect((await verify(used.mfa_token, codeOf(user.secret))).status).toBe(401)
    expect((await verify('nonsense', '000000')).status).toBe(401)
  })
  test('over all tokens, ten wrong codes shut the door for 15 minutes, until a reset', async () => {
    const user = await guarded()
    const statuses: number[] = []
    for (let n = 0; n < 3; n++) {
      const { mfa_token } = await login(user.username)
      for (let m = 0; m < 5; m++) statuses.push((await verify(mfa_token, wrongOf(user.secret))).status)
    }
    expect(statuses.slice(0, 10).every(status => status === 401)).toBe(true)
    expect(statuses.slice(10).every(status => status === 429)).toBe(true)
    expect(await verify((await login(user.username)).mfa_token, codeOf(user.secret))).toMatchObject({ status: 429 })
    expect(await admin.client.call('POST /users/{userId}/reset-mfa', { params: { userId: user.id } })).toEqual({
      message: expect.any(String),
      mfa_enabled: false,
      revoked_keys: 0,
    })
    expect((await login(user.username)).mfa_required).toBeUndefined()
    expect(await raw(server, 'GET', '/api/v1/auth/me', { token: user.token })).toMatchObject({ status: 401 })
  })
})
