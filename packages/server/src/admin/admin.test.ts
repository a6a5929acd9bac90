import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownAddresses } from '../core/own-addresses.ts'
import { readConfig } from '../config.ts'
import { stockade, stockadeProcess } from '../testing/command.ts'
import { engine, eventually, freshDatabase, password, raw, spawnServer } from '../testing/index.ts'
import type { Signed, SpawnedServer } from '../testing/index.ts'
import { stampSchema, storedSchema } from '../db/schema-state.ts'
import { openStorage } from './storage.ts'

const secretKey = 'test-secret-of-thirty-two-characters'

const run = (env: Record<string, string>, ...words: string[]) => stockade(env, words)

/** A folder and, where the tests run on PostgreSQL, a database; the environment that names both. */
const aPlace = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-admin-'))
  const database = await freshDatabase()
  const shared: Record<string, string> = database
    ? { STOCKADE_DATABASE_URL: database.url, STOCKADE_SECRET_KEY: secretKey }
    : {}
  return {
    dataDir,
    env: { STOCKADE_DATA_DIR: dataDir, ...shared },
    options: { dataDir, env: shared, ...(database ? { databaseUrl: database.url } : {}) },
    async cleanUp() {
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
type Place = Awaited<ReturnType<typeof aPlace>>

const recorded = async (place: Place, name: 'user.reset_password' | 'mfa.reset' | 'settings.update') => {
  const db = await openStorage(readConfig(place.env))
  try {
    return await db.read
      .selectFrom('events')
      .select(['actor', 'actor_user_id', 'actor_ip', 'data'])
      .where('name', '=', name)
      .orderBy('id')
      .execute()
  } finally {
    await db.close()
  }
}
const temporary = (out: string) => /^ {2}(\w{20,})$/m.exec(out)?.[1] ?? ''

describe('before there is anything', () => {
  test('a wrong folder is not taken for an empty installation', async () => {
    const dataDir = join(tmpdir(), 'stockade-admin-not-there')
    const done = await run({ STOCKADE_DATA_DIR: dataDir }, 'admin', 'setup-code')
    expect(done).toEqual({
      code: 1,
      out: '',
      err: `stockade: There is no database in ${dataDir}. Set STOCKADE_DATA_DIR as it is set for the server, and start the server once.\n`,
    })
  })

  test.each([
    [['admin'], 'Usage: stockade admin [options] [command]'],
    [['admin', 'format'], "stockade: unknown command 'format'"],
    [['admin', 'constructor'], "stockade: unknown command 'constructor'"],
    [['admin', 'reset-password'], "stockade: missing required argument 'username'"],
    [['admin', 'reset-mfa', 'a', 'b'], "stockade: too many arguments for 'reset-mfa'."],
    [['admin', 'setup-code', 'now'], "stockade: too many arguments for 'setup-code'."],
    [['admin', 'reset-mfa', 'a', '--password-login'], "stockade: unknown option '--password-login'"],
    [['doctor', 'please'], "stockade: too many arguments for 'doctor'."],
    [['admin', 'recount', '--force'], "stockade: unknown option '--force'"],
    [['serve', '--force'], "stockade: unknown option '--force'"],
  ])('%j is refused as a command over the API would be', async (args, message) => {
    const done = await run({}, ...args)
    expect(done).toMatchObject({ code: 2, out: '' })
    expect(done.err).toContain(message)
  })

  test('a bad setting is named', async () => {
    const done = await run({ STOCKADE_PORT: 'eighty' }, 'admin', 'setup-code')
    expect(done.code).toBe(1)
    expect(done.err).toBe(
      'stockade: the configuration: STOCKADE_PORT must be a whole number from 0 to 65535, not "eighty".\n',
    )
  })
})

describe('while the server runs', () => {
  let place: Place
  let server: SpawnedServer
  let admin: Signed
  beforeAll(async () => {
    place = await aPlace()
    server = await spawnServer(place.options)
  })
  afterAll(async () => {
    await server?.close()
    await place?.cleanUp()
  })

  test('a set-up link is printed for each address at which other machines reach the server', async () => {
    const env = { ...place.env, STOCKADE_HOST: '0.0.0.0', STOCKADE_PORT: '8420', STOCKADE_TLS: 'self' }
    const done = await run(env, 'admin', 'setup-code', '--json')
    const { url, other_urls: others } = JSON.parse(done.out) as { url: string; other_urls: string[] }
    const query = new URL(url).search
    expect(url).toBe(`https://localhost:8420/setup${query}`)
    expect(others).toEqual(
      ownAddresses()
        .slice(0, 3)
        .map(address => `https://${address.includes(':') ? `[${address}]` : address}:8420/setup${query}`),
    )
    const words = await run(env, 'admin', 'setup-code')
    if (others.length > 0) expect(words.out).toMatch(/From another machine:\n\n {2}https:/)
  })
  test('a new set-up code takes the place of the printed one', async () => {
    const env = { ...place.env, STOCKADE_BASE_URL: 'https://stockade.example/ban/' }
    const done = await stockadeProcess(env, ['admin', 'setup-code'])
    expect(done).toMatchObject({ code: 0, err: '' })
    const code = /^ {2}https:\/\/stockade\.example\/ban\/setup\?code=(\w{24})$/m.exec(done.out)?.[1] ?? ''
    const body = { username: 'admin', email: 'admin@stockade.example', password }
    const old = await raw(server, 'POST', '/api/v1/setup', { body: { ...body, code: server.setupCode } })
    expect(old.status).toBe(401)
    const reply = await server.client().call('POST /setup', { body: { ...body, code } })
    admin = { token: reply.access_token, client: server.client(reply.access_token) }
  })

  test('with an administrator there is none, and the way back in is named', async () => {
    const done = await run(place.env, 'admin', 'setup-code')
    expect(done).toEqual({
      code: 1,
      out: '',
      err: 'stockade: There is an administrator already (admin). To get back in use: stockade admin reset-password admin\n',
    })
  })

  test('an unknown user is refused, and administrators are named', async () => {
    for (const task of ['reset-password', 'reset-mfa'])
      expect(await run(place.env, 'admin', task, 'nobody')).toEqual({
        code: 1,
        out: '',
        err: 'stockade: There is no user "nobody". Administrators are: admin.\n',
      })
  })

  test('a reset password acts at once: old password and sessions are dead, the new one signs in', async () => {
    const { id } = await admin.client.call('POST /users', {
      body: { username: 'ben', email: 'ben@stockade.example', password },
    })
    const first = await server.client().call('POST /auth/login', { body: { username: 'ben', password } })
    if (!('access_token' in first)) throw new Error('no second factor is set up')
    expect((await raw(server, 'GET', '/api/v1/auth/me', { token: first.access_token })).status).toBe(200)

    // By name in any letter case, or by e-mail, as at the sign-in.
    const done = await run(place.env, 'admin', 'reset-password', 'BEN')
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(done.out).toContain('The temporary password of ben, shown this once:')
    expect(done.out).not.toContain('2FA')
    expect((await raw(server, 'GET', '/api/v1/auth/me', { token: first.access_token })).status).toBe(401)
    const refresh = await raw(server, 'POST', '/api/v1/auth/refresh', { body: { refresh_token: first.refresh_token } })
    expect(refresh.status).toBe(401)
    const login = (typed: string) =>
      raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'ben', password: typed } })
    expect((await login(password)).status).toBe(401)
    expect((await login(temporary(done.out))).status).toBe(200)
    // Nobody else is signed out.
    expect((await raw(server, 'GET', '/api/v1/auth/me', { token: admin.token })).status).toBe(200)

    const events = await recorded(place, 'user.reset_password')
    expect(events).toEqual([
      { actor: 'system', actor_user_id: null, actor_ip: null, data: JSON.stringify({ id, username: 'ben' }) },
    ])
  })

  test('the temporary password meets the policy, however long that asks for', async () => {
    await admin.client.call('PATCH /settings', { body: { security: { password_min_length: 64 } } })
    const done = await run(place.env, 'admin', 'reset-password', 'ben@stockade.example')
    expect(done.code).toBe(0)
    const made = temporary(done.out)
    expect(made).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)\w{64}$/)
    const reply = await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'ben', password: made } })
    expect(reply.status).toBe(200)
    await admin.client.call('PATCH /settings', { body: { security: { password_min_length: 8 } } })
  })

  test('a reset second factor acts at once, and the password stays', async () => {
    const { secret } = await admin.client.call('POST /auth/mfa/enable')
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
    await admin.client.call('POST /auth/mfa/confirm', { body: { code } })
    const login = () => server.client().call('POST /auth/login', { body: { username: 'admin', password } })
    const half = await login()
    expect(half).toMatchObject({ mfa_required: true })

    const reset = await run(place.env, 'admin', 'reset-password', 'admin')
    expect(reset.out).toContain('stockade admin reset-mfa admin')
    const made = temporary(reset.out)
    const done = await run(place.env, 'admin', 'reset-mfa', 'admin')
    expect(done).toEqual({
      code: 0,
      out: '2FA of admin is off, and all sessions of this user have ended.\n',
      err: '',
    })
    expect((await raw(server, 'GET', '/api/v1/auth/me', { token: admin.token })).status).toBe(401)
    const whole = await server.client().call('POST /auth/login', { body: { username: 'admin', password: made } })
    if (!('access_token' in whole)) throw new Error('the second factor is still on')
    admin = { token: whole.access_token, client: server.client(whole.access_token) }
    // The sign-in that had begun with the old password does not end with one.
    if (!('mfa_token' in half)) throw new Error('a second factor was set up')
    const late = await raw(server, 'POST', '/api/v1/auth/mfa/verify', { body: { mfa_token: half.mfa_token, code } })
    expect(late.status).toBe(401)
    expect(await recorded(place, 'mfa.reset')).toMatchObject([{ actor: 'system', actor_user_id: null, actor_ip: null }])
  })

  test('where the settings let providers only sign in, it says so and can open the door', async () => {
    // Stands for a sign-in through a provider that answers no more.
    const db = await openStorage(readConfig(place.env))
    await db.write
      .updateTable('users')
      .set({ oauth_provider: 'provider_a', oauth_subject: '1' })
      .where('username', '=', 'admin')
      .execute()
    await db.close()
    await admin.client.call('PATCH /settings/oauth', { body: { local_login_disabled: true } })
    const login = (typed: string) =>
      raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password: typed } })

    const shut = await run(place.env, 'admin', 'reset-password', 'admin')
    expect(shut.code).toBe(0)
    expect(shut.out).toContain('run this again with --password-login')
    expect((await login(temporary(shut.out))).status).toBe(403)

    const opened = await run(place.env, 'admin', 'reset-password', 'admin', '--password-login')
    expect(opened.out).not.toContain('run this again')
    expect((await recorded(place, 'settings.update')).at(-1)).toEqual({
      actor: 'system',
      actor_user_id: null,
      actor_ip: null,
      data: JSON.stringify({ field: 'oauth.local_login_disabled', old_value: true, new_value: false }),
    })
    if (engine === 'sqlite') {
      expect(opened.out).toContain('Passwords sign in again, once a server that runs is restarted.')
      expect(await server.stop()).toBe(0)
      server = await spawnServer({ ...place.options, port: server.port })
    } else expect(opened.out).toContain('Passwords sign in again.')
    const made = temporary(opened.out)
    const token = await eventually(async () => {
      const reply = await server.client().call('POST /auth/login', { body: { username: 'admin', password: made } })
      if (!('access_token' in reply)) throw new Error('the second factor was reset')
      return reply.access_token
    })
    admin = { token, client: server.client(token) }
  })

  test('many resets while the server writes: none fails, and none of its writes', async () => {
    let going = true
    const writing = (async () => {
      let written = 0
      for (; going; written++)
        await admin.client.call('GET /health').then(() =>
          server
            .client()
            .call('POST /auth/login', { body: { username: 'ben', password: 'Wrong-1234' } })
            .catch(error => {
              if ((error as { status?: number }).status !== 401 && (error as { status?: number }).status !== 429)
                throw error
            }),
        )
      return written
    })()
    const done = await Promise.all(Array.from({ length: 4 }, () => run(place.env, 'admin', 'reset-mfa', 'ben')))
    going = false
    expect(await writing).toBeGreaterThan(0)
    expect(done.map(({ code, err }) => ({ code, err }))).toEqual(
      Array.from({ length: 4 }, () => ({ code: 0, err: '' })),
    )
  })

  test('the doctor finds it well', async () => {
    const env = { ...place.env, STOCKADE_BASE_URL: 'https://stockade.example' }
    const done = await run(env, 'doctor')
    const lines = done.out.trim().split('\n')
    expect(done.out).not.toMatch(/^fail/m)
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(lines).toContain('ok    the configuration is readable')
    expect(lines).toContain(`ok    the data folder ${place.dataDir} has mode 0700`)
    expect(done.out).toMatch(
      new RegExp(`^ok    storage answers \\(${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, \\d+ ms\\)$`, 'm'),
    )
    expect(done.out).toMatch(/^ok {4}the schema is current \(\d{4}-[\w-]+\)$/m)
    expect(lines).toContain('ok    there is an administrator')
    expect(lines).toContain('ok    the base URL is https://stockade.example')
    expect(done.out).toMatch(/^ok {4}country data: .* of \d{4}-\d{2}-\d{2}, \d+ days old$/m)
    if (engine === 'sqlite') expect(lines).toContain('ok    secret.key has mode 0600')
    else expect(lines).toContain('ok    the secret key comes from the environment')
  })

  test.each([
    [{}, /^warn {2}the base URL is http:\/\/localhost:8420: other hosts can't reach that/m],
    [{ STOCKADE_BASE_URL: 'http://[::1]:8420' }, /^warn {2}the base URL is .* other hosts can't reach that/m],
    [{ STOCKADE_BASE_URL: 'http://192.0.2.7' }, /^warn {2}the base URL is http:\/\/192.0.2.7: .* unencrypted/m],
  ])('the doctor warns of the base URL of %j and passes', async (more, line) => {
    const done = await run({ ...place.env, ...more }, 'doctor')
    expect(done.out).toMatch(line)
    expect(done.code).toBe(0)
  })

  test('the doctor fails what is wrong, and goes on', async () => {
    chmodSync(place.dataDir, 0o755)
    if (engine === 'sqlite') chmodSync(join(place.dataDir, 'secret.key'), 0o644)
    const broken = join(place.dataDir, 'broken.mmdb')
    writeFileSync(broken, 'not a database of places')
    const done = await run({ ...place.env, STOCKADE_GEOIP_CITY: broken }, 'doctor')
    chmodSync(place.dataDir, 0o700)
    expect(done.code).toBe(1)
    expect(done.out).toContain(`fail  the data folder ${place.dataDir} has mode 0755`)
    if (engine === 'sqlite') expect(done.out).toMatch(/^fail {2}\S+secret\.key has mode 0644/m)
    expect(done.out).toMatch(/^fail {2}STOCKADE_GEOIP_CITY can't be read/m)
    expect(done.out).toMatch(/^ok {4}storage answers/m)
    const unread = await run({ ...place.env, STOCKADE_PORT: '-1' }, 'doctor')
    expect(unread.code).toBe(1)
    expect(unread.out).toMatch(/^fail {2}the configuration: STOCKADE_PORT must be/m)
    expect(unread.out).toMatch(/country data/)
  })

  test('the doctor and the recovery tell a newer schema', async () => {
    const db = await openStorage(readConfig(place.env))
    const table = db.write.withTables<{ kysely_migration: { name: string; timestamp: string } }>()
    const stored = await storedSchema(db)
    await stampSchema(db.write, '9.8.7', '9999-later')
    await table
      .insertInto('kysely_migration')
      .values({ name: '9999-later', timestamp: '2030-01-01T00:00:00.000Z' })
      .execute()
    const found = await run(place.env, 'doctor')
    const refused = await run(place.env, 'admin', 'reset-mfa', 'ben')
    await table.deleteFrom('kysely_migration').where('name', '=', '9999-later').execute()
    await stampSchema(db.write, stored.version ?? '', stored.minReader ?? '')
    await db.close()
    expect(found.code).toBe(1)
    expect(found.out).toContain('fail  the schema is of a newer Stockade, 9.8.7 (9999-later)')
    expect(refused).toMatchObject({
      code: 1,
      err: 'stockade: The database was used by a newer Stockade. Run the command of that version.\n',
    })
  })
})

test('while the server stands still it works the same, and the server starts with it', async () => {
  const place = await aPlace()
  try {
    const before = await spawnServer(place.options)
    await before.setUp()
    expect(await before.stop()).toBe(0)
    const done = await run(place.env, 'admin', 'reset-password', 'admin')
    expect(done).toMatchObject({ code: 0, err: '' })
    const after = await spawnServer(place.options)
    const reply = await raw(after, 'POST', '/api/v1/auth/login', {
      body: { username: 'admin', password: temporary(done.out) },
    })
    await after.close()
    expect(reply.status).toBe(200)
  } finally {
    await place.cleanUp()
  }
})

test('storage that does not answer is a fail, without a stack', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'stockade-admin-'))
  const env: Record<string, string> =
    engine === 'sqlite'
      ? { STOCKADE_DATA_DIR: dataDir }
      : {
          STOCKADE_DATA_DIR: dataDir,
          STOCKADE_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
          STOCKADE_SECRET_KEY: secretKey,
        }
  if (engine === 'sqlite') {
    writeFileSync(join(dataDir, 'stockade.sqlite3'), 'x'.repeat(5000))
    writeFileSync(join(dataDir, 'secret.key'), secretKey, { mode: 0o600 })
  }
  const found = await run(env, 'doctor')
  const refused = await run(env, 'admin', 'reset-mfa', 'admin')
  rmSync(dataDir, { recursive: true })
  expect(found.code).toBe(1)
  expect(found.out).toMatch(/^fail {2}storage does not answer \((SQLite|PostgreSQL)\): \S/m)
  expect(refused.code).toBe(1)
  expect(refused.err).toMatch(/^stockade: [^\n]+\n$/)
})
