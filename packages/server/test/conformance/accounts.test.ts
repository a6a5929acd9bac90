import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { extended, id, integer, like, orNull, text, time } from './kinds.ts'
import { listedKey, newKey, newUserKey, oneUser, onePage, role, session, signedIn, user } from './resources.ts'
import {
  aPlace,
  passwords,
  refuses,
  refusesEach,
  same,
  says,
  saysDone,
  takesEach,
  totp,
  unknownId,
  notDecimal,
} from './talk.ts'
import type { Caller, Place } from './talk.ts'

/* docs/spec/access.md: signing in, keys, users. */

let place: Place
beforeAll(async () => {
  place = await aPlace()
})
afterAll(() => place.close())
/** Ids of the users that the place has: in the order in which they were made. */
const [adminId, operatorId, viewerId] = [1, 2, 3]

const signIn = (username: string, password: string) =>
  place.nobody('POST /auth/login', { body: { username, password } })
/** One more session of the viewer. */
const again = async () => says(signIn('viewer', passwords.viewer), 200, signedIn)

describe('spec access: Auth', { retry: 0 }, () => {
  const me = extended(
    {
      id,
      username: 'viewer',
      email: 'viewer@corp.example',
      role: 'Viewer',
      mfa_enabled: false,
      created_at: time,
      last_login: time,
    },
    {
      'spec endpoints': {
        backup_codes_left: orNull(integer),
        ip_address: '127.0.0.1',
        version: text,
        server_access: 'all',
        server_count: integer,
        tags: [text],
        own_unban: false,
        addresses: [
          {
            ip: text,
            user_agent: text,
            last_activity: time,
            current: true,
            whitelisted: false,
            active_bans: [{ id, jail: text, server: text }],
          },
        ],
      },
    },
  )

  test('signing in, refreshing, signing out', async () => {
    const { nobody, as } = place
    const tokens = await says(
      nobody('POST /auth/login', { body: { username: 'viewer', password: passwords.viewer } }),
      200,
      signedIn,
    )
    const { refresh_token } = tokens
    await says(as(tokens.access_token)('GET /auth/me'), 200, me)
    await says(as(tokens.access_token)('GET /users/me'), 200, oneUser, 'spec access: answers the single-user read')
    const refreshed = await says(nobody('POST /auth/refresh', { body: { refresh_token } }), 200, {
      access_token: text,
      expires_in: 3600,
    })
    await says(
      nobody('POST /auth/refresh', { body: { refresh_token } }),
      200,
      { access_token: text, expires_in: 3600 },
      'spec access: keeps the same refresh token',
    )
    await says(as(refreshed.access_token)('GET /auth/me'), 200, me)
    await saysDone(as(tokens.access_token)('POST /auth/logout'), 'invalidates the current session')
    for (const token of [tokens.access_token, refreshed.access_token])
      await refuses(as(token)('GET /auth/me'), 401, 'spec access: logout acts at once')
    await refuses(
      nobody('POST /auth/refresh', { body: { refresh_token } }),
      401,
      'spec access: of a terminated session',
    )
  })

  test('what is refused', async () => {
    const { nobody, as } = place
    const why = 'spec errors: no credential, an unknown one, a wrong password'
    for (const token of ['rubbish', `svc_${'a'.repeat(32)}`, '']) await refuses(as(token)('GET /auth/me'), 401, why)
    await refuses(nobody('GET /auth/me', { headers: { authorization: 'Basic YTpi' } }), 401, why)
    const wrong = await refuses(signIn('viewer', 'wrong'), 401, why)
    const unknown = await refuses(signIn('nobody_here', 'wrong'), 401, why)
    same('spec access: the same answer for an unknown user and a wrong password', unknown.text, wrong.text)
    await refuses(nobody('POST /auth/refresh', { body: { refresh_token: 'x' } }), 401, why)
    await refusesEach(
      'spec errors: failed validation',
      [
        ['password', { username: 'viewer' }],
        ['username', { password: 'x' }],
        ['username', { username: 5, password: 'x' }],
        ['extra', { username: 'viewer', password: 'x', extra: 1 }],
      ],
      body => nobody('POST /auth/login', { body }),
    )
    await refusesEach('spec errors: failed validation', [['refresh_token', {}]], body =>
      nobody('POST /auth/refresh', { body }),
    )
    await refusesEach('spec errors: failed validation', [['code', { mfa_token: 'x' }]], body =>
      nobody('POST /auth/mfa/verify', { body }),
    )
  })

  test('ten failures for one account', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 10; n++) statuses.push((await signIn('ghost', 'wrong')).status)
    same('spec errors: wrong password', new Set(statuses), new Set([401]))
    const why = 'spec access: after 10 failures that account answers 429, existing or not (spec access)'
    const refused = await refuses(signIn('ghost', 'wrong'), 429, why)
    const wait = Number(refused.headers.get('retry-after'))
    same('spec access: for 15 minutes', wait > 60 && wait <= 900, true)
    same('spec access: that account', (await signIn('viewer', passwords.viewer)).status, 200)
  })

  test('the second factor', async () => {
    const operator = place.as(await place.signIn('operator', passwords.operator))
    const confirm = (code: string) => operator('POST /auth/mfa/confirm', { body: { code } })
    await refuses(confirm('123456'), 409, 'spec access: enable prepares a secret')
    const made = await says(operator('POST /auth/mfa/enable'), 200, {
      secret: like(/^[A-Z2-7]+$/, 'a TOTP secret in base 32'),
      qr_code: like(/^data:image\/png;base64,iVBORw0KGgo/, 'a PNG as a data URI'),
      backup_codes: [text],
    })
    same('spec access: 10 backup codes', made.backup_codes.length, 10)
    const enabled = async () => ((await operator('GET /auth/me')).json as { mfa_enabled: unknown }).mfa_enabled
    same('spec access: MFA is on only after confirm', await enabled(), false)
    const wrong = ['000000', '111111'].find(code => code !== totp(made.secret) && code !== totp(made.secret, -1)) ?? ''
    await refuses(confirm(wrong), 401, 'spec errors: wrong code')
    const used = totp(made.secret, -1)
    await says(
      operator('POST /auth/mfa/confirm', { body: { code: used } }),
      200,
      { message: text, mfa_enabled: true },
      'spec access: one step of drift',
    )
    await refuses(operator('POST /auth/mfa/enable'), 409, 'spec access: when it is on already')

    const asked = async () =>
      (
        await says(
          signIn('operator', passwords.operator),
          200,
          extended({ mfa_required: true, mfa_token: text }, { 'no page': { methods: ['totp'] } }),
          'spec access',
        )
      ).mfa_token
    const verify = (mfa_token: string, code: string) =>
      place.nobody('POST /auth/mfa/verify', { body: { mfa_token, code } })
    const token = await asked()
    await refuses(verify(token, used), 401, 'spec access: a code works once')
    await refuses(verify('x', totp(made.secret)), 401, 'spec errors: an unknown mfa_token')
    await says(place.nobody('POST /auth/mfa/verify', { body: { mfa_token: token, code: totp(made.secret) } }), 200, {
      ...signedIn,
      user: extended({ id, username: 'operator', role: 'Operator' }, { 'no page': { email: text } }),
    })
    const [first = '', second = ''] = made.backup_codes
    same('spec access: backup codes are accepted as code', (await verify(await asked(), first)).status, 200)
    const tries = await asked()
    await refuses(verify(tries, first), 401, 'spec access: backup codes, each once')
    for (let n = 0; n < 4; n++) await verify(tries, '12345a')
    await refuses(verify(tries, second), 401, 'spec access: mfa_token lives 5 tries')
    const disable = (password: string) => operator('POST /auth/mfa/disable', { body: { password } })
    await refuses(disable('wrong'), 401, 'spec errors: wrong password')
    await says(operator('POST /auth/mfa/disable', { body: { password: passwords.operator } }), 200, {
      message: text,
      mfa_enabled: false,
    })
  })

  test('a new password', async () => {
    const own = place.as((await again()).access_token)
    const other = place.as((await again()).access_token)
    const change = (current_password: string, new_password: string) =>
      own('POST /auth/password', { body: { current_password, new_password } })
    await refuses(change('wrong', 'N3w-password'), 401, 'spec errors: wrong password')
    await refuses(change(passwords.viewer, 'weak'), 400, 'spec endpoints: User, password', 'new_password')
    await saysDone(
      own('POST /auth/password', { body: { current_password: passwords.viewer, new_password: 'N3w-password' } }),
    )
    same('spec access: a change ends the other sessions', (await other('GET /auth/me')).status, 401)
    same('spec access: and not its own', (await own('GET /auth/me')).status, 200)
    const { admin } = place
    await admin('POST /users/{userId}/reset-password', { userId: viewerId, body: { new_password: passwords.viewer } })
    same('spec access: a reset ends sessions', (await own('GET /auth/me')).status, 401)
    place = { ...place, viewer: place.as((await again()).access_token) }
  })
})

describe('spec access: API keys', { retry: 0 }, () => {
  test('keys for the fleet', async () => {
    const { admin, as } = place
    const least = await says(
      admin('POST /keys', { body: { name: 'least' } }),
      201,
      newKey.but({ name: 'least', permissions: 'read' }),
      'spec limits: permissions: read',
    )
    same('spec access: read = view servers', (await as(least.key)('GET /servers')).status, 200)
    const { id: serverId } = await place.host('keyed.example')
    await says(
      admin('POST /keys', { body: { name: 'bound', permissions: 'write', server_id: serverId } }),
      201,
      newKey.but({ permissions: 'write' }),
    )
    await refusesEach(
      'spec limits: Bounds, spec errors: an unknown id',
      [
        ['name', {}],
        ['name', { name: '' }],
        ['name', { name: 'x'.repeat(101) }],
        ['permissions', { name: 'x', permissions: 'god' }],
        ['server_id', { name: 'x', server_id: unknownId }],
        ['server_id', { name: 'x', server_id: '7' }],
      ],
      body => admin('POST /keys', { body }),
    )
    await takesEach('spec limits: names to 100', [{ name: 'x'.repeat(100) }], body => admin('POST /keys', { body }))
    await saysDone(admin('DELETE /keys/{keyId}', { keyId: least.id }), 'spec access: 200 { message }')
    await refuses(as(least.key)('GET /servers'), 401, 'spec errors: a revoked credential')
    await refuses(admin('DELETE /keys/{keyId}', { keyId: 99_999 }), 404, 'spec errors: unknown id in the path')
  })

  test('keys of a user', async () => {
    const { admin, viewer, as } = place
    const operator = as(await place.signIn('operator', passwords.operator))
    const ask = (body: object, caller: Caller = operator) =>
      caller('POST /users/{userId}/keys', { userId: operatorId, body })
    const made = await says(
      operator('POST /users/{userId}/keys', {
        userId: operatorId,
        body: { name: 'mine', permissions: 'write', expires_at: '2099-01-01T02:00:00+02:00' },
      }),
      201,
      newUserKey.but({ name: 'mine', permissions: 'write', expires_at: '2099-01-01T00:00:00.000Z' }),
      'spec conventions: any ISO 8601 with an offset',
    )
    await says(
      admin('POST /users/{userId}/keys', { userId: operatorId, body: { name: 'his' } }),
      201,
      newUserKey.but({ permissions: 'read', expires_at: null }),
    )
    await refuses(ask({ name: 'more', permissions: 'admin' }), 403, "spec access: no higher than one's own role")
    await refuses(ask({ name: 'not mine' }, viewer), 403, 'spec access: oneself, or admin')
    await refusesEach(
      'spec conventions: ISO 8601 with an offset or Z',
      [
        ['expires_at', { name: 'x', expires_at: 'tomorrow' }],
        ['expires_at', { name: 'x', expires_at: '2099-01-01T00:00:00' }],
      ],
      ask,
    )
    const { keys } = await says(operator('GET /users/{userId}/keys', { userId: operatorId }), 200, {
      keys: [listedKey],
    })
    const prefix = keys.find(({ id }) => id === made.id)?.prefix.replace(/\W+$/, '') ?? 'none'
    expect.soft(made.key.startsWith(prefix), 'spec access: later listings return only a prefix').toBe(true)
    expect.soft(prefix.length, 'spec access: only a prefix').toBeLessThan(20)
    await refuses(viewer('GET /users/{userId}/keys', { userId: operatorId }), 403, 'spec access: oneself, or admin')
    await refuses(viewer('DELETE /keys/{keyId}', { keyId: made.id }), 403, "spec access: of one's own key")
    await refuses(admin('GET /users/{userId}/keys', { userId: 777 }), 404, 'spec errors: unknown id in the path')
    await admin('PATCH /users/{userId}', { userId: operatorId, body: { role: 'Viewer' } })
    const held = as(made.key)
    await refuses(
      held('POST /whitelist', { body: { ip: '192.0.2.1' } }),
      403,
      "spec access: never exceeds the user's present role",
    )
    await admin('PATCH /users/{userId}', { userId: operatorId, body: { role: 'Operator' } })
    await says(operator('DELETE /keys/{keyId}', { keyId: made.id }), 200, { message: text })
    await refuses(held('GET /servers'), 401, 'spec errors: a revoked credential')
  })
})

describe('spec access: Users', { retry: 0 }, () => {
  const fresh = { username: 'fresh', email: 'fresh@corp.example', password: 'Fr3sh-password' }

  test('making, reading, changing and deleting users', async () => {
    const { admin, viewer } = place
    const newUser = extended(
      { id, username: 'fresh', email: 'fresh@corp.example', role: 'Viewer', created_at: time },
      { 'spec endpoints': { setup_url: null }, 'no page': { invite_expires_at: null } },
    )
    const made = await says(admin('POST /users', { body: fresh }), 201, newUser, 'spec limits: role: Viewer')
    const userId = made.id
    await says(admin('GET /users/{userId}', { userId }), 200, oneUser.but({ last_login: null, oauth_provider: null }))
    await says(viewer('GET /users/{userId}', { userId: viewerId }), 200, oneUser, 'spec access: oneself')
    const changed = extended(
      { id, username: 'fresh', email: 'new@corp.example', role: 'Operator', updated_at: time } as const,
      { 'no page': { revoked_keys: integer } },
    )
    await says(
      admin('PATCH /users/{userId}', { userId, body: { email: 'new@corp.example', role: 'oPERATOR' } }),
      200,
      changed,
      'spec access: input is accepted in any letter case',
    )
    await says(
      admin('PATCH /users/{userId}', { userId, body: {} }),
      200,
      changed,
      'spec conventions: an empty PATCH is 200',
    )
    await says(admin('PATCH /users/{userId}', { userId }), 200, changed, 'spec errors: an absent body counts as {}')
    await says(
      admin('PUT /users/{userId}/server-access', { userId, body: { access_type: 'all' } }),
      200,
      { message: text, access_type: 'all', server_count: 1 },
      'spec access: the number of servers',
    )
    await saysDone(admin('DELETE /users/{userId}', { userId }))
    for (const endpoint of [
      'GET /users/{userId}',
      'PATCH /users/{userId}',
      'DELETE /users/{userId}',
      'GET /users/{userId}/sessions',
      'POST /users/{userId}/reset-mfa',
      'POST /users/{userId}/reset-password',
    ])
      await refuses(admin(endpoint, { userId }), 404, 'spec errors: unknown id in the path')
    const access = { userId, body: { access_type: 'all' } }
    await refuses(admin('PUT /users/{userId}/server-access', access), 404, 'spec errors: unknown id in the path')
    for (const bad of ['0', 'abc', '1.5', '-1'])
      await refuses(admin('GET /users/{userId}', { userId: bad }), 400, 'spec conventions: integer ids start at 1')
  })

  test('what is refused', async () => {
    const { admin } = place
    const ask = (changes: object) => admin('POST /users', { body: { ...fresh, ...changes } })
    await refusesEach(
      'spec endpoints: User, spec limits: username 3-50, password minimum; spec access: at most 256',
      [
        ['username', { username: 'ab' }],
        ['username', { username: 'a'.repeat(51) }],
        ['username', { username: 'a-b-c' }],
        ['email', { email: 'nowhere' }],
        ['password', { password: 'Ab1defg' }],
        ['password', { password: 'lower-case-1' }],
        ['password', { password: 'UPPER-CASE-1' }],
        ['password', { password: 'No-digits-here' }],
        ['password', { password: `Aa1${'x'.repeat(254)}` }],
        ['role', { role: 'King' }],
        ['username', { username: undefined }],
        ['email', { email: undefined }],
        ['password', { password: undefined }],
      ],
      ask,
    )
    await takesEach(
      'spec limits: username 3-50, password minimum 8; spec access: at most 256',
      [
        { username: 'abc', email: 'abc@corp.example', password: 'Abcdefg1' },
        { username: 'a'.repeat(50), email: 'a50@corp.example', password: `Aa1${'x'.repeat(253)}` },
      ],
      ask,
    )
    await refuses(ask({ username: 'VIEWER' }), 409, 'spec errors: username taken')
    await refuses(ask({ email: 'viewer@corp.example' }), 409, 'spec errors: e-mail taken')
    const change = (userId: number, body: object) => admin('PATCH /users/{userId}', { userId, body })
    await refuses(change(viewerId, { email: 'operator@corp.example' }), 409, 'spec errors: e-mail taken')
    await refuses(change(viewerId, { username: 'renamed' }), 400, 'spec access: { email?, role? }', 'username')
    await refuses(change(adminId, { role: 'Viewer' }), 409, 'spec errors: demoting the last admin')
    await refuses(
      admin('DELETE /users/{userId}', { userId: adminId }),
      409,
      'spec access: own account cannot be deleted',
    )
    await refusesEach(
      'spec errors: unknown id in a body; spec access: all or specific',
      [
        [unknownId, { access_type: 'specific', server_ids: [unknownId] }],
        ['access_type', { access_type: 'some' }],
        ['access_type', {}],
      ],
      body => admin('PUT /users/{userId}/server-access', { userId: viewerId, body }),
    )
  })

  test('the list', async () => {
    const { admin } = place
    const { users, total } = await says(admin('GET /users'), 200, { users: [user], ...onePage(20) })
    const names = users.map(({ username }) => username)
    same('spec conventions: by username', names, [...names].sort())
    same('spec conventions: total', total, 5)
    for (const [query, found] of [
      ['role=Viewer', 3],
      ['role=viewer', 3],
      ['search=OPERA', 1],
      ['search=a50@corp', 1],
      ['limit=100', 5],
      ['page=2&limit=3', 5],
    ] as const)
      await says(
        admin('GET /users', { query }),
        200,
        { users: [user], total: found, page: integer, limit: integer },
        query,
      )
    await says(
      admin('GET /users', { query: 'page=99' }),
      200,
      { users: [text], total: 5, page: 99, limit: 20 },
      'spec conventions: a page past the end is an empty list with the right total',
    )
    await refusesEach(
      'spec conventions: page, limit; spec conventions: empty query values are 400',
      [
        ['limit', 'limit=101'],
        ...notDecimal,
        ['limit', 'limit=0'],
        ['limit', 'limit=x'],
        ['limit', 'limit=1.5'],
        ['page', 'page=0'],
        ['page', 'page=-1'],
        ['page', 'page='],
        ['role', 'role=King'],
        ['role', 'role='],
      ],
      query => admin('GET /users', { query }),
    )
  })

  test('passwords and second factors are reset', async () => {
    const { admin } = place
    const { temporary_password } = await says(
      admin('POST /users/{userId}/reset-password', { userId: viewerId }),
      200,
      extended({ message: text, temporary_password: text }, { 'no page': { revoked_keys: integer } }),
      'a random password is generated when none is sent',
    )
    same('spec access: temporary_password', (await signIn('viewer', temporary_password)).status, 200)
    await says(
      admin('POST /users/{userId}/reset-password', { userId: viewerId, body: { new_password: passwords.viewer } }),
      200,
      extended({ message: text, temporary_password: null }, { 'no page': { revoked_keys: integer } }),
      'spec access: null when a password was sent',
    )
    const weak = { userId: viewerId, body: { new_password: 'weak' } }
    await refuses(
      admin('POST /users/{userId}/reset-password', weak),
      400,
      'spec endpoints: User, password',
      'new_password',
    )
    await says(
      admin('POST /users/{userId}/reset-mfa', { userId: viewerId }),
      200,
      extended({ message: text, mfa_enabled: false }, { 'no page': { revoked_keys: integer } }),
    )
  })

  test('sessions', async () => {
    const own = place.as((await again()).access_token)
    const other = await again()
    const { sessions } = await says(own('GET /users/{userId}/sessions', { userId: viewerId }), 200, {
      sessions: [session],
    })
    same("spec endpoints: current is true for the caller's own", sessions.map(({ current }) => current).sort(), [
      false,
      true,
    ])
    const asAdmin = await says(place.admin('GET /users/{userId}/sessions', { userId: viewerId }), 200, {
      sessions: [{ ...session, current: false }],
    })
    same('spec access: listed by user id', asAdmin.sessions.length, 2)
    const sessionId = sessions.find(({ current }) => !current)?.id
    const end = { userId: viewerId, sessionId }
    await saysDone(own('DELETE /users/{userId}/sessions/{sessionId}', end))
    await refuses(place.as(other.access_token)('GET /auth/me'), 401, 'spec access: termination acts at once')
    await refuses(own('DELETE /users/{userId}/sessions/{sessionId}', end), 404, 'spec errors: unknown id in the path')
    await refuses(
      own('DELETE /users/{userId}/sessions', { userId: viewerId, query: 'except_current=perhaps' }),
      400,
      'spec access: boolean',
      'except_current',
    )
    await again()
    await says(
      own('DELETE /users/{userId}/sessions', { userId: viewerId }),
      200,
      { message: text, terminated_count: 1 },
      'except_current: default true',
    )
    same('spec access: except_current', (await own('GET /auth/me')).status, 200)
    await says(own('DELETE /users/{userId}/sessions', { userId: viewerId, query: 'except_current=false' }), 200, {
      message: text,
      terminated_count: 1,
    })
    await refuses(own('GET /auth/me'), 401, 'spec access: except_current=false')
  })

  test('a second factor may be demanded of everybody', async () => {
    const demand = (mfa_required: boolean) => place.admin('PATCH /settings', { body: { security: { mfa_required } } })
    await demand(true)
    const held = await says(
      place.nobody('POST /auth/login', { body: { username: 'viewer', password: passwords.viewer } }),
      200,
      { ...signedIn, user: { id, username: text, email: text, role }, mfa_setup_required: true },
      'spec access: login adds mfa_setup_required',
    )
    const viewer = place.as(held.access_token)
    const refused = await refuses(viewer('GET /servers'), 403, 'spec access: all else 403')
    expect.soft(refused.text, 'spec access: a message that says to enable MFA').toMatch(/MFA|second factor|two-factor/i)
    await refuses(viewer('GET /users/me'), 403, 'spec access: good only for /auth/me, ...')
    same('spec access: good for /auth/me', (await viewer('GET /auth/me')).status, 200)
    same('spec access: good for /auth/mfa/*', (await viewer('POST /auth/mfa/enable')).status, 200)
    await viewer('POST /auth/logout')
  })
})
