import { createServer } from 'node:http'
import { createServer as createTcp } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aLicence } from '../../src/testing/index.ts'
import { extended, number, text, time, yesNo } from './kinds.ts'
import {
  auditEntry,
  chatSettings,
  emailSettings,
  features,
  licence,
  oauthSettings,
  oneUser,
  onePage,
  reputationSettings,
  systemSettings,
} from './resources.ts'
import {
  aPlace,
  listening,
  passwords,
  refuses,
  refusesEach,
  same,
  says,
  saysDone,
  takesEach,
  notDecimal,
} from './talk.ts'
import type { Place, Reply } from './talk.ts'

/* docs/spec/settings.md and access.md: settings, and signing in with the two external providers. */

/** A webhook's receiver, and what the first provider answers once a person has agreed. */
const posts: string[] = []
let person = { id: 77, login: 'octo-cat', email: 'octo@corp.example' }
const outside = createServer((request, reply) => {
  const path = (request.url ?? '').split('?')[0] ?? ''
  const json = (body: unknown, status = 200) =>
    reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  request.resume().on('end', () => {
    if (path === '/login/oauth/access_token') return json({ access_token: 'gho', token_type: 'bearer', scope: '' })
    if (path === '/user') return json(person)
    if (path === '/user/emails') return json([{ email: person.email, primary: true, verified: true }])
    // The second provider, as far as the redirect to it needs.
    if (path === '/.well-known/openid-configuration')
      return json({
        issuer: outsideUrl,
        authorization_endpoint: `${outsideUrl}/authorize`,
        token_endpoint: `${outsideUrl}/token`,
        jwks_uri: `${outsideUrl}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      })
    posts.push(`${request.method ?? ''} ${path}`)
    return json({}, path === '/fails' ? 500 : 200)
  })
})
let outsideUrl = ''
/** A mail server that takes everything; it knows who was written to. */
const recipients: string[] = []
const mail = createTcp(socket => {
  let inData = false
  socket.on('error', () => {})
  socket.write('220 mx.example\r\n')
  socket.on('data', received => {
    for (const line of String(received).split('\r\n').filter(Boolean)) {
      if (inData && line !== '.') continue
      const wasIn = inData
      inData = /^DATA/i.test(line)
      const to = /^RCPT TO:<(.*)>/i.exec(line)?.[1]
      if (to) recipients.push(to)
      if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
      else socket.write(inData && !wasIn ? '354 go on\r\n' : '250 ok\r\n')
    }
  })
})

let place: Place
let mailPort = 0
beforeAll(async () => {
  outsideUrl = `http://127.0.0.1:${await listening(outside)}`
  mailPort = await listening(mail)
  place = await aPlace({
    env: {
      STOCKADE_PROVIDER_A_URL: outsideUrl,
      STOCKADE_PROVIDER_A_API_URL: outsideUrl,
      STOCKADE_PROVIDER_B_ISSUER: outsideUrl,
    },
  })
})
afterAll(async () => {
  await place.close()
  outside.close()
  mail.close()
})

describe('spec settings: Settings', { retry: 0 }, () => {
  test('the four sections', async () => {
    const { admin } = place
    await says(
      admin('GET /settings'),
      200,
      {
        service: { site_name: 'Stockade', site_url: text, timezone: 'UTC' },
        security: extended(
          { session_timeout: 604_800, mfa_required: false, password_min_length: 8 },
          {
            'no page': {
              passkey_required: 'off',
              refuse_common_passwords: false,
              own_unban: false,
              self_tests: 'enrolment',
            },
          },
        ),
        notifications: { chat_enabled: false, email_enabled: false, daily_summary: false, daily_summary_hour: 8 },
        integrations: { reputation_enabled: false, reputation_rate_limit: 1000 },
      },
      'spec settings: defaults',
    )
    const change = (body: object) => admin('PATCH /settings', { body })
    const { updated_fields } = await says(
      admin('PATCH /settings', {
        body: {
          service: { site_name: 'Fort' },
          security: { password_min_length: 10 },
          notifications: { daily_summary_hour: 7, daily_summary: true },
          integrations: { reputation_rate_limit: 500 },
        },
      }),
      200,
      { message: text, updated_fields: [text] },
    )
    same('spec settings: array of dotted paths', [...updated_fields].sort(), [
      'integrations.reputation_rate_limit',
      'notifications.daily_summary',
      'notifications.daily_summary_hour',
      'security.password_min_length',
      'service.site_name',
    ])
    same('spec conventions: an empty PATCH changes nothing', (await change({})).json, {
      message: expect.any(String),
      updated_fields: [],
    })
    const short = { username: 'short', email: 's@corp.example', password: 'Abcdefg12' }
    await refuses(
      admin('POST /users', { body: short }),
      400,
      'spec access: password_min_length from settings',
      'password',
    )
    await refusesEach(
      'spec endpoints: System settings; spec access: password_min_length 8 to 128',
      [
        ['servic', { servic: {} }],
        ['colour', { service: { colour: 1 } }],
        ['site_name', { service: { site_name: 5 } }],
        ['timezone', { service: { timezone: 'Mars/Olympus' } }],
        ['site_url', { service: { site_url: 'nowhere' } }],
        ['password_min_length', { security: { password_min_length: 7 } }],
        ['password_min_length', { security: { password_min_length: 129 } }],
        ['session_timeout', { security: { session_timeout: 0 } }],
        ['mfa_required', { security: { mfa_required: 'yes' } }],
        ['daily_summary_hour', { notifications: { daily_summary_hour: 24 } }],
        ['daily_summary_hour', { notifications: { daily_summary_hour: -1 } }],
        ['reputation_rate_limit', { integrations: { reputation_rate_limit: -1 } }],
      ],
      change,
    )
    await takesEach(
      'spec access: password_min_length 8 to 128; spec endpoints: hour',
      [
        { security: { password_min_length: 128 } },
        { security: { password_min_length: 8 } },
        { notifications: { daily_summary_hour: 0 } },
        { notifications: { daily_summary_hour: 23 } },
        { notifications: { daily_summary_hour: 7 } },
      ],
      change,
    )
  })

  test('chat', async () => {
    const { admin } = place
    const change = (body: object) => admin('PATCH /settings/chat', { body })
    const check = () => admin('POST /settings/chat/test')
    const first = chatSettings.but({
      enabled: false,
      webhook_url: null,
      notify_bans: true,
      notify_syncs: false,
      notify_errors: true,
      daily_summary: true,
      daily_summary_hour: 7,
    })
    await says(
      admin('GET /settings/chat'),
      200,
      first,
      'spec settings: daily_summary_hour is one value; writing daily_summary writes both',
    )
    await refuses(check(), 409, 'spec errors: not configured or disabled')
    await saysDone(
      admin('PATCH /settings/chat', { body: { enabled: true } }),
      'spec settings: enabled without a target is stored',
    )
    await refuses(check(), 409, 'spec settings: the test is 409')
    await saysDone(change({ webhook_url: `${outsideUrl}/hook` }))
    const step = { name: text, ok: yesNo, ms: number, detail: text } as const
    await says(
      admin('POST /settings/chat/test'),
      200,
      extended({ message: text }, { 'spec endpoints': { steps: [step] } }),
    )
    same('spec settings: the webhook was called', posts.includes('POST /hook'), true)
    await change({ webhook_url: `${outsideUrl}/fails` })
    const failed = await check()
    same(
      'spec errors: 502 Bad Gateway when it failed',
      [failed.status, (failed.json as { error: unknown }).error],
      [502, 'Bad Gateway'],
    )
    await refusesEach(
      'spec settings: never link-local or metadata addresses, nor our own listener; spec conventions: unknown fields',
      [
        ['webhook_url', { webhook_url: 'http://169.254.169.254/x' }],
        ['webhook_url', { webhook_url: 'http://[fe80::1]/x' }],
        ['webhook_url', { webhook_url: 'ftp://chat.example/' }],
        ['webhook_url', { webhook_url: 'nowhere' }],
        ['notify', { notify: true }],
        ['notify_bans', { notify_bans: 1 }],
      ],
      change,
    )
    const views = async () =>
      ((await admin('GET /settings')).json as { notifications: Record<string, unknown> }).notifications
    same('spec settings: notifications.* are views', (await views()).chat_enabled, true)
    await admin('PATCH /settings', { body: { notifications: { chat_enabled: false, daily_summary: false } } })
    await says(
      admin('GET /settings/chat'),
      200,
      chatSettings.but({ enabled: false, daily_summary: false }),
      'spec settings: changing one changes the other',
    )
  })

  test('e-mail', async () => {
    const { admin } = place
    const change = (body: object) => admin('PATCH /settings/email', { body })
    const check = (recipient: string) => admin('POST /settings/email/test', { body: { recipient } })
    await says(
      admin('GET /settings/email'),
      200,
      emailSettings.but({ enabled: false, smtp_host: null, smtp_user: null, from_address: null, recipients: [text] }),
    )
    await refuses(check('ops@corp.example'), 409, 'spec errors: not configured or disabled')
    const body = {
      enabled: true,
      smtp_host: '127.0.0.1',
      smtp_port: mailPort,
      smtp_tls: false,
      from_address: 'fort@corp.example',
      recipients: ['ops@corp.example'],
      smtp_pass: 'a-secret',
    }
    await saysDone(admin('PATCH /settings/email', { body }))
    const read = await admin('GET /settings/email')
    await says(
      Promise.resolve(read),
      200,
      emailSettings.but({ enabled: true, smtp_host: '127.0.0.1', smtp_port: mailPort, smtp_tls: false }),
    )
    same(
      'spec endpoints: smtp_pass never returned; spec settings: *_set',
      [read.text.includes('a-secret'), (read.json as { smtp_pass_set: unknown }).smtp_pass_set],
      [false, true],
    )
    await change({ smtp_user: '', smtp_pass: '' })
    const step = { name: text, ok: yesNo, ms: number, detail: text } as const
    await says(
      admin('POST /settings/email/test', { body: { recipient: 'who@corp.example' } }),
      200,
      extended({ message: text }, { 'spec endpoints': { steps: [step] } }),
    )
    same('spec settings: { recipient }', recipients.includes('who@corp.example'), true)
    await refuses(check('x'), 400, 'spec settings: { recipient }', 'recipient')
    await refusesEach(
      'spec endpoints: E-mail settings',
      [
        ['smtp_port', { smtp_port: 0 }],
        ['smtp_port', { smtp_port: 65_536 }],
        ['recipients', { recipients: ['x'] }],
        ['recipients', { recipients: 'a@corp.example' }],
        ['from_address', { from_address: 'x' }],
      ],
      change,
    )
  })

  test('reputation', async () => {
    const { admin } = place
    await says(
      admin('GET /settings/reputation'),
      200,
      reputationSettings.but({
        enabled: false,
        api_key_set: false,
        rate_limit: 500,
        reports_today: 0,
        last_report: null,
      }),
    )
    await saysDone(admin('PATCH /settings/reputation', { body: { enabled: true, api_key: 'a-key', rate_limit: 300 } }))
    const read = await says(
      admin('GET /settings/reputation'),
      200,
      reputationSettings.but({ enabled: true, api_key_set: true, rate_limit: 300 }),
    )
    same('spec endpoints: api_key (input only)', 'api_key' in read, false)
    await refusesEach(
      'spec endpoints: Reputation settings',
      [
        ['api_key_set', { api_key_set: true }],
        ['rate_limit', { rate_limit: 'x' }],
      ],
      body => admin('PATCH /settings/reputation', { body }),
    )
  })

  test('the licence', async () => {
    const { admin } = place
    await says(
      admin('GET /settings/license'),
      200,
      licence.but({
        tier: 'pro',
        servers_used: 0,
        expires_at: null,
        registered_to: 'Tests',
        features: { reputation: true, custom_templates: true, siem: true, terminal: false, port_knocking: true },
      }),
      'spec settings: everything on except terminal',
    )
    const good = aLicence({ serverLimit: 25, expiresAt: Date.now() + 86_400_000 })
    const activate = (license_key: string) => admin('POST /settings/license', { body: { license_key } })
    for (const bad of ['rubbish', `${good.slice(0, -6)}AAAAAA`, aLicence({ expiresAt: Date.now() - 1000 })])
      await refuses(activate(bad), 400, 'spec settings: invalid, expired or tampered: 400')
    await refuses(admin('POST /settings/license', { body: {} }), 400, 'spec settings: { license_key }', 'license_key')
    await says(admin('POST /settings/license', { body: { license_key: good } }), 200, {
      message: text,
      tier: 'pro',
      server_limit: 25,
      features,
    })
    await says(admin('GET /settings/license'), 200, licence.but({ server_limit: 25, expires_at: time }))
  })

  test('export and import', async () => {
    const { admin } = place
    const exported = await says(admin('GET /settings/export'), 200, {
      version: '1',
      exported_at: time,
      settings: systemSettings,
    })
    expect.soft(JSON.stringify(exported), 'spec settings: export has no secrets').not.toMatch(/a-secret|a-key/)
    const load = (body: object) => admin('POST /settings/import', { body })
    const done = { message: text, updated_sections: [text] } as const
    const service = { site_name: 'Imported' }
    const merged = await says(
      admin('POST /settings/import', { body: { settings: { service }, merge: true } }),
      200,
      done,
    )
    same('spec settings: names the sections written', merged.updated_sections, ['service'])
    const settings = async () => await says(admin('GET /settings'), 200, systemSettings)
    same(
      'spec settings: merge true updates only provided settings',
      (await settings()).integrations.reputation_rate_limit,
      300,
    )
    const replaced = await says(load({ settings: { service }, merge: false }), 200, done)
    same('spec settings: with merge: false all four', [...replaced.updated_sections].sort(), [
      'integrations',
      'notifications',
      'security',
      'service',
    ])
    const after = await settings()
    same(
      'spec settings: merge: false resets what is absent to defaults',
      [after.integrations.reputation_rate_limit, after.notifications.daily_summary_hour, after.service.site_name],
      [1000, 8, 'Imported'],
    )
    same(
      'spec settings: but keeps stored secrets',
      ((await admin('GET /settings/reputation')).json as { api_key_set: unknown }).api_key_set,
      true,
    )
    await says(load(exported), 200, done, 'spec settings: takes an export as it is; merge true')
    await refusesEach(
      'spec settings: another version: 400; validates everything before changing anything',
      [
        ['version', { ...exported, version: '2' }],
        ['settings', {}],
        ['foo', { settings: { foo: {} } }],
        ['password_min_length', { settings: { service: { site_name: 'New' }, security: { password_min_length: 1 } } }],
      ],
      load,
    )
    same('spec settings: before changing anything', (await settings()).service.site_name, 'Fort')
  })

  test('the audit log', async () => {
    const { admin } = place
    const { entries, total } = await says(admin('GET /settings/audit'), 200, { entries: [auditEntry], ...onePage(50) })
    const ids = entries.map(({ id }) => id)
    same(
      'spec conventions: newest first',
      ids,
      [...ids].sort((a, b) => b - a),
    )
    const list = async (query: string) =>
      (
        (await admin('GET /settings/audit', { query })).json as {
          entries: { user: string; action: string; details: object }[]
        }
      ).entries
    const all = await list('limit=100')
    same('spec conventions: total', total >= all.length, true)
    for (const action of ['auth.login', 'user.create', 'settings.update', 'license.activate'])
      same(
        `spec settings: ${action}`,
        all.some(entry => entry.action === action),
        true,
      )
    const changes = all.filter(({ action }) => action === 'settings.update')
    same(
      'spec endpoints: field, old_value, new_value',
      changes.every(({ details }) => ['field', 'old_value', 'new_value'].every(name => name in details)),
      true,
    )
    expect.soft(JSON.stringify(all), 'spec settings: secrets as "***"').not.toMatch(/a-secret|a-key/)
    expect.soft(JSON.stringify(changes), 'spec settings: secrets as "***"').toContain('"***"')
    same(
      'spec settings: a prefix ending in .',
      (await list('action=auth.')).every(({ action }) => action.startsWith('auth.')),
      true,
    )
    same('spec settings: user_id', [...new Set((await list('user_id=3')).map(({ user }) => user))], ['viewer'])
    same('spec conventions: to exclusive', await list('to=2026-01-01T00:00:00Z'), [])
    await refusesEach(
      'spec settings: filters; spec conventions: audit maximum 100; spec errors: unknown id in a query',
      [
        ['limit', 'limit=101'],
        ...notDecimal,
        ['user_id', 'user_id=x'],
        ['user_id', 'user_id=9999'],
        ['from', 'from=x'],
        ['action', 'action='],
      ],
      query => admin('GET /settings/audit', { query }),
    )
    await refuses(admin('DELETE /settings/audit'), 405, 'spec settings: no endpoint changes or deletes entries')
  })
})

describe('spec access: external providers', { retry: 0 }, () => {
  const locationOf = (reply: Reply) => new URL(reply.headers.get('location') ?? '', place.server.url)
  /** A redirect to there; the interface does not say which of them. */
  const saysRedirect = async (asked: Promise<Reply>, why: string) => {
    const reply = await asked
    same(why, [302, 303, 307].includes(reply.status) && reply.headers.get('location') !== null, true)
    return reply
  }
  const cookiesOf = (reply: Reply) =>
    reply.headers
      .getSetCookie()
      .map(set => set.split(';')[0])
      .join('; ')
  const change = (body: object) => place.admin('PATCH /settings/oauth', { body })

  test('their settings', async () => {
    const { admin, nobody } = place
    await says(
      admin('GET /settings/oauth'),
      200,
      oauthSettings.but({ default_role: 'Viewer', local_login_disabled: false }),
    )
    await refuses(change({ local_login_disabled: true }), 409, "spec access: it can't lock everyone out")
    await refusesEach(
      'spec endpoints: OAuth settings',
      [
        ['default_role', { default_role: 'x' }],
        ['x', { provider_a: { x: 1 } }],
        ['allowed_users', { provider_a: { allowed_users: 'octo' } }],
      ],
      change,
    )
    const provider = { enabled: true, client_id: 'an-id', client_secret: 'a-secret' }
    await saysDone(admin('PATCH /settings/oauth', { body: { provider_a: provider, provider_b: provider } }))
    const read = await admin('GET /settings/oauth')
    expect
      .soft(read.text, 'spec endpoints: client_id_set; input adds client_id, client_secret')
      .not.toMatch(/an-id|a-secret/)
    same(
      'spec endpoints: client_id_set',
      (read.json as { provider_a: { client_id_set: unknown } }).provider_a.client_id_set,
      true,
    )
    const { providers } = (await nobody('GET /auth/options')).json as { providers: { id: string; label: string }[] }
    same(
      'spec service: providers: [ { id, label } ]',
      providers.map(({ id }) => id),
      ['provider_a', 'provider_b'],
    )
  })

  test('redirects to them, with state and PKCE', async () => {
    const { nobody } = place
    for (const [asked, path] of [
      [
        saysRedirect(nobody('GET /auth/provider_a'), 'spec access: redirect to the external identity provider'),
        '/login/oauth/authorize',
      ],
      [
        saysRedirect(nobody('GET /auth/provider_b'), 'spec access: redirect to the external identity provider'),
        '/authorize',
      ],
    ] as const) {
      const { origin, pathname, searchParams } = locationOf(await asked)
      same(
        'spec access: authorization code with state and PKCE',
        [
          origin,
          pathname,
          searchParams.get('client_id'),
          searchParams.get('code_challenge_method'),
          (searchParams.get('state') ?? '').length > 15,
        ],
        [outsideUrl, path, 'an-id', 'S256', true],
      )
    }
    for (const asked of [
      saysRedirect(
        nobody('GET /auth/provider_a/callback', { query: 'code=x&state=bad&iss=a&scope=b&whatever=1' }),
        'spec conventions: the OAuth callbacks ignore unknown parameters',
      ),
      saysRedirect(
        nobody('GET /auth/provider_b/callback', { query: 'error=access_denied&state=bad' }),
        'spec conventions: and take error in place of code',
      ),
    ])
      same(
        'spec access: redirect to the login page with an error code',
        locationOf(await asked).searchParams.has('error'),
        true,
      )
  })

  test('sign people in', async () => {
    const { nobody } = place
    const comeBack = async () => {
      const away = await nobody('GET /auth/provider_a')
      const state = locationOf(away).searchParams.get('state') ?? ''
      return saysRedirect(
        nobody('GET /auth/provider_a/callback', {
          query: `code=abc&state=${state}`,
          headers: { cookie: cookiesOf(away) },
        }),
        'spec access: redirect to the dashboard',
      )
    }
    const errorOf = async () => locationOf(await comeBack()).searchParams.get('error')
    same('spec access: empty allow-lists admit nobody', typeof (await errorOf()), 'string')
    await change({ provider_a: { allowed_users: ['octo-cat'] }, default_role: 'admin' })
    const signed = await comeBack()
    same(
      'spec access: ends in a session cookie and a redirect to the dashboard',
      [locationOf(signed).searchParams.has('error'), /HttpOnly/i.test(signed.headers.getSetCookie().join())],
      [false, true],
    )
    const cookie = cookiesOf(signed)
    await says(
      nobody('GET /users/me', { headers: { cookie } }),
      200,
      oneUser.but({ username: 'octo_cat', oauth_provider: 'provider_a', role: 'Admin' }),
      'spec access: a new user gets default_role; other characters to _',
    )
    const own = { cookie, origin: place.server.url }
    await refuses(
      nobody('POST /auth/password', { headers: own, body: { current_password: 'x', new_password: passwords.admin } }),
      409,
      'spec access: a user without a password',
    )
    await refuses(
      nobody('POST /auth/mfa/disable', { headers: own, body: { password: 'x' } }),
      409,
      'spec access: a user without a password',
    )
    person = { id: 78, login: 'octo-cat', email: 'admin@corp.example' }
    same('spec access: e-mail taken', await errorOf(), 'account_exists')
    await saysDone(change({ local_login_disabled: true }))
    await refuses(
      nobody('POST /auth/login', { body: { username: 'admin', password: passwords.admin } }),
      403,
      'spec access: password login answers 403',
    )
    await change({ local_login_disabled: false })
  })
})
