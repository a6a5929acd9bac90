import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testAlone } from '../../testing/alone.ts'
import { password, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'

let server: TestServer
let admin: Signed
beforeAll(async () => {
  server = await startServer()
  admin = await server.setUp()
})
afterAll(() => server.close())
const patch = (body: object) => raw(server, 'PATCH', '/api/v1/settings', { token: admin.token, body })

const defaults = {
  security: {
    session_timeout: 604_800,
    mfa_required: false,
    passkey_required: 'off',
    password_min_length: 8,
    refuse_common_passwords: false,
    own_unban: false,
    self_tests: 'enrolment',
  },
  notifications: { chat_enabled: false, email_enabled: false, daily_summary: false, daily_summary_hour: 8 },
  integrations: { reputation_enabled: false, reputation_rate_limit: 1000 },
}

test('defaults are those of the decisions', async () => {
  expect(await admin.client.call('GET /settings')).toEqual({
    service: { site_name: 'Stockade', site_url: expect.stringMatching(/^http:\/\/localhost:\d+$/), timezone: 'UTC' },
    ...defaults,
  })
})

testAlone('what is changed is named, kept, and in force', async () => {
  expect(
    await patch({
      service: { site_name: 'Fence', site_url: 'https://fence.example/' },
      security: { password_min_length: 12, mfa_required: false },
    }),
  ).toMatchObject({
    status: 200,
    json: { updated_fields: ['service.site_name', 'service.site_url', 'security.password_min_length'] },
  })
  expect(await patch({})).toMatchObject({ status: 200, json: { updated_fields: [] } })
  expect(await admin.client.call('GET /settings')).toMatchObject({
    service: { site_name: 'Fence', site_url: 'https://fence.example' },
    security: { password_min_length: 12 },
  })
  expect(await server.client().call('GET /auth/options')).toMatchObject({
    site_name: 'Fence',
    base_url: 'https://fence.example',
  })
  expect(await admin.client.call('POST /servers', { body: { hostname: 'x' } })).toMatchObject({
    install_command: expect.stringContaining('https://fence.example/install.sh'),
  })
  await patch({ security: { password_min_length: 64 } })
  const { temporary_password } = await admin.client.call('POST /users/{userId}/reset-password', {
    params: { userId: 1 },
  })
  expect(temporary_password).toHaveLength(64)
  await patch({ security: { password_min_length: 12 } })
  const short = { username: 'short_one', email: 's@stockade.example', password: 'Sh0rt-word' }
  expect(await raw(server, 'POST', '/api/v1/users', { token: admin.token, body: short })).toMatchObject({
    status: 400,
    json: { message: expect.stringMatching(/12 characters/) },
  })
})

test.each([
  ['service.site_name', { service: { site_name: '' } }],
  ['service.site_url', { service: { site_url: 'ftp://x.example' } }],
  ['service.timezone', { service: { timezone: 'Moon/Sea' } }],
  ['security.session_timeout', { security: { session_timeout: 10 } }],
  ['security.session_timeout', { security: { session_timeout: 'long' } }],
  ['security.password_min_length', { security: { password_min_length: 7 } }],
  ['security.password_min_length', { security: { password_min_length: 129 } }],
  ['security.mfa', { security: { mfa: true } }],
  ['secrets', { secrets: {} }],
  ['service.site_name', { service: { site_name: 'x'.repeat(101) } }],
  ['security.session_timeout', { security: { session_timeout: 90 * 86_400 + 1 } }],
  ['notifications.daily_summary_hour', { notifications: { daily_summary_hour: 24 } }],
  ['notifications.daily_summary_hour', { notifications: { daily_summary_hour: -1 } }],
  ['notifications.daily_summary_hour', { notifications: { daily_summary_hour: 7.5 } }],
  ['notifications.chat_enabled', { notifications: { chat_enabled: 'yes' } }],
  ['integrations.reputation_rate_limit', { integrations: { reputation_rate_limit: 1_000_001 } }],
])('a bad %s is named', async (path, body) => {
  expect(await patch(body)).toMatchObject({ status: 400, json: { details: [{ path }] } })
})

describe('export and import', () => {
  const exported = async () => {
    const { status, json, text } = await raw(server, 'GET', '/api/v1/settings/export', { token: admin.token })
    expect(status).toBe(200)
    return { text, whole: json as { version: string; exported_at: string; settings: Record<string, object> } }
  }
  const bring = (body: unknown) => raw(server, 'POST', '/api/v1/settings/import', { token: admin.token, body })
  const pass = 'a-password-of-the-relay'

  test('an export comes back as it is, without any secret', async () => {
    await raw(server, 'PATCH', '/api/v1/settings/email', { token: admin.token, body: { smtp_pass: pass } })
    await raw(server, 'PATCH', '/api/v1/settings/chat', {
      token: admin.token,
      body: { webhook_url: 'http://127.0.0.1:9/services/T0/B0/hush', enabled: true },
    })
    await patch({ service: { site_name: 'Before' }, notifications: { daily_summary_hour: 5 } })
    const before = Date.now()
    const { whole, text } = await exported()
    expect(whole.version).toBe('1')
    expect(Date.parse(whole.exported_at)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(whole.exported_at)).toBeLessThanOrEqual(Date.now())
    expect(Object.keys(whole.settings)).toEqual(['service', 'security', 'notifications', 'integrations'])
    expect(text).not.toMatch(/hush|a-password/)
    await patch({ service: { site_name: 'After' }, notifications: { daily_summary_hour: 6 } })
    expect(await bring(whole)).toMatchObject({
      status: 200,
      json: { updated_sections: ['service', 'security', 'notifications', 'integrations'] },
    })
    expect((await exported()).whole.settings).toEqual(whole.settings)
  })
  testAlone('merging writes what is given, replacing resets the rest and keeps secrets', async () => {
    await patch({ service: { site_name: 'Merged' }, integrations: { reputation_rate_limit: 77 } })
    expect(await bring({ settings: { security: { password_min_length: 13 } }, merge: true })).toMatchObject({
      status: 200,
      json: { updated_sections: ['security'] },
    })
    expect(await admin.client.call('GET /settings')).toMatchObject({
      service: { site_name: 'Merged' },
      security: { password_min_length: 13 },
      integrations: { reputation_rate_limit: 77 },
    })
    expect(await bring({ settings: { service: { timezone: 'Asia/Kolkata' } }, merge: false })).toMatchObject({
      status: 200,
      json: { updated_sections: ['service', 'security', 'notifications', 'integrations'] },
    })
    expect(await admin.client.call('GET /settings')).toEqual({
      service: {
        site_name: 'Stockade',
        site_url: server.url.replace('127.0.0.1', 'localhost'),
        timezone: 'Asia/Kolkata',
      },
      ...defaults,
    })
    expect(await admin.client.call('GET /settings/email')).toMatchObject({ smtp_pass_set: true })
    expect(await admin.client.call('GET /settings/chat')).toMatchObject({
      enabled: false,
      webhook_url: 'http://127.0.0.1:9/services/T0/B0/hush',
    })
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'settings.import' } })
    expect(entries[0]?.details).toMatchObject({ merge: false })
  })
  test.each([
    ['version', { settings: {}, version: '2' }],
    ['version', { settings: {}, version: 1 }],
    ['settings', {}],
    ['settings', { settings: [] }],
    ['merge', { settings: {}, merge: 'yes' }],
    ['exported_at', { settings: {}, exported_at: 'yesterday' }],
    ['secrets', { settings: {}, secrets: {} }],
    ['settings.licence', { settings: { licence: {} } }],
    ['settings.security.smtp_pass', { settings: { security: { smtp_pass: 'x' } } }],
    [
      'settings.service.timezone',
      { settings: { security: { password_min_length: 20 }, service: { timezone: 'X/Y' } } },
    ],
    ['settings.service.site_url', { settings: { service: { site_url: 'javascript:1' } } }],
    ['settings.notifications.daily_summary_hour', { settings: { notifications: { daily_summary_hour: 24 } } }],
  ])('a bad %s changes nothing at all', async (path, body) => {
    const before = (await exported()).whole.settings
    expect(await bring(body)).toMatchObject({ status: 400, json: { details: [{ path }] } })
    expect((await exported()).whole.settings).toEqual(before)
  })
  test('a file that was cut off is told so', async () => {
    const { text } = await exported()
    const reply = await bring(text.slice(0, text.length / 2))
    expect(reply).toMatchObject({ status: 400, json: { message: expect.stringMatching(/JSON/) } })
  })
})

describe('a required second factor', () => {
  test('lets somebody without one do nothing but set it up', async () => {
    await admin.client.call('POST /users', {
      body: { username: 'viewer', email: 'v@stockade.example', password: 'L0ng-enough-word' },
    })
    await patch({ security: { mfa_required: true } })
    try {
      const reply = await raw(server, 'POST', '/api/v1/auth/login', {
        body: { username: 'viewer', password: 'L0ng-enough-word' },
      })
      expect(reply).toMatchObject({ status: 200, json: { mfa_setup_required: true } })
      const { access_token: token } = reply.json as { access_token: string }
      expect(await raw(server, 'GET', '/api/v1/servers', { token })).toMatchObject({
        status: 403,
        json: { message: expect.stringMatching(/MFA/) },
      })
      expect(await raw(server, 'GET', '/api/v1/users/me', { token })).toMatchObject({ status: 403 })
      expect(await raw(server, 'GET', '/api/v1/auth/me', { token })).toMatchObject({ status: 200 })
      expect(await raw(server, 'POST', '/api/v1/auth/mfa/enable', { token })).toMatchObject({ status: 200 })
      expect(await raw(server, 'POST', '/api/v1/auth/logout', { token })).toMatchObject({ status: 200 })
      // It counts for whoever is signed in already, too.
      expect(
        await raw(server, 'PATCH', '/api/v1/settings', {
          token: admin.token,
          body: { security: { mfa_required: false } },
        }),
      ).toMatchObject({ status: 403 })
    } finally {
      await server.close()
      server = await startServer()
      admin = await server.setUp()
    }
  })
})

test('sign-in providers keep their secrets, and passwords stay while no administrator comes by one', async () => {
  expect(
    await raw(server, 'PATCH', '/api/v1/settings/oauth', {
      token: admin.token,
      body: {
        provider_a: { enabled: true, client_id: 'id-1', client_secret: 'hush-hush', allowed_users: ['anna'] },
        default_role: 'operator',
      },
    }),
  ).toMatchObject({ status: 200, json: { message: expect.any(String) } })
  const read = await raw(server, 'GET', '/api/v1/settings/oauth', { token: admin.token })
  expect(read.json).toEqual({
    provider_a: {
      enabled: true,
      client_id_set: true,
      client_secret_set: true,
      allowed_users: ['anna'],
      allowed_org: null,
    },
    provider_b: { enabled: false, client_id_set: false, client_secret_set: false, allowed_domains: [] },
    default_role: 'Operator',
    local_login_disabled: false,
  })
  expect(read.text).not.toContain('hush')
  expect(
    await raw(server, 'PATCH', '/api/v1/settings/oauth', { token: admin.token, body: { local_login_disabled: true } }),
  ).toMatchObject({ status: 409 })
  expect(
    await raw(server, 'PATCH', '/api/v1/settings/oauth', { token: admin.token, body: { provider_a: { colour: 1 } } }),
  ).toMatchObject({ status: 400, json: { details: [{ path: 'provider_a.colour' }] } })
  expect(await raw(server, 'POST', '/api/v1/auth/login', { body: { username: 'admin', password } })).toMatchObject({
    status: 200,
  })
})
