import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort, raw, startServer } from '../../testing/index.ts'
import type { Signed, TestServer } from '../../testing/index.ts'

/* Against a real OpenID Connect provider, and a server that answers as GitHub's OAuth 2 and API do, both on loopback. */

interface Person {
  readonly id: number
  readonly login: string
  readonly emails: { email: string; primary: boolean; verified: boolean }[]
  readonly orgs: string[]
}
let person: Person
const codes = new Map<string, string>()

/** GitHub as far as a sign-in sees it: it checks the client, the code, PKCE and the redirect address. */
const github = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const json = (status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  let text = ''
  request.on('data', data => (text += String(data)))
  request.on('end', async () => {
    if (url.pathname === '/login/oauth/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '')
      back.searchParams.set('state', url.searchParams.get('state') ?? '')
      if (person.login === 'denies') back.searchParams.set('error', 'access_denied')
      else {
        const code = crypto.randomUUID()
        codes.set(code, url.searchParams.get('code_challenge') ?? '')
        back.searchParams.set('code', code)
      }
      return response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname === '/login/oauth/access_token') {
      const form = new URLSearchParams(text)
      const challenge = codes.get(form.get('code') ?? '')
      codes.delete(form.get('code') ?? '')
      const digest = Buffer.from(
        await crypto.subtle.digest('SHA-256', Buffer.from(form.get('code_verifier') ?? '')),
      ).toString('base64url')
      const right =
        form.get('client_id') === 'gh-id' && form.get('client_secret') === 'gh-secret' && challenge === digest
      return right
        ? json(200, { access_token: 'gh-token', token_type: 'bearer', scope: '' })
        : json(400, { error: 'bad_verification_code' })
    }
    if (request.headers.authorization !== 'Bearer gh-token') return json(401, {})
    if (url.pathname === '/api/user') return json(200, { id: person.id, login: person.login })
    if (url.pathname === '/api/user/emails') return json(200, person.emails)
    const org = /^\/api\/user\/memberships\/orgs\/(.+)$/.exec(url.pathname)?.[1]
    return org && person.orgs.includes(org)
      ? json(200, { state: 'active', organization: { login: org } })
      : json(404, {})
  })
})

let server: TestServer
let admin: Signed
let issuer: { url: string; close(): void }
let claims: Record<string, unknown>

const startIssuer = async (redirect: string) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'oidc-id',
        client_secret: 'oidc-secret',
        redirect_uris: [redirect],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, ...claims }) }),
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ['k'] },
  })
  const listening = createServer(provider.callback())
  await new Promise<void>(resolve => listening.listen(port, '127.0.0.1', resolve))
  return { url, close: () => listening.close() }
}

beforeAll(async () => {
  await new Promise<void>(resolve => github.listen(0, '127.0.0.1', resolve))
  const gh = `http://127.0.0.1:${(github.address() as AddressInfo).port}`
  const port = await freePort()
  issuer = await startIssuer(`http://127.0.0.1:${port}/api/v1/auth/provider_b/callback`)
  server = await startServer({
    port,
    env: {
      STOCKADE_BASE_URL: `http://127.0.0.1:${port}`,
      STOCKADE_PROVIDER_A_URL: gh,
      STOCKADE_PROVIDER_A_API_URL: `${gh}/api`,
      STOCKADE_PROVIDER_B_ISSUER: issuer.url,
    },
  })
  admin = await server.setUp()
  await set({
    provider_a: {
      enabled: true,
      client_id: 'gh-id',
      client_secret: 'gh-secret',
      allowed_users: ['Octo-Cat', 'second-cat'],
    },
    provider_b: {
      enabled: true,
      client_id: 'oidc-id',
      client_secret: 'oidc-secret',
      allowed_domains: ['stockade.example'],
    },
  })
})
afterAll(async () => {
  await server.close()
  github.close()
  issuer.close()
})
beforeEach(() => {
  person = {
    id: 7,
    login: 'octo-cat',
    emails: [{ email: 'octo@cats.example', primary: true, verified: true }],
    orgs: [],
  }
  claims = { email: 'anna@stockade.example', email_verified: true }
})
const set = (body: object) => admin.client.call('PATCH /settings/oauth', { body: body as never })

/** A browser that follows redirects and keeps cookies by host and port. */
const browser = () => {
  const jars = new Map<string, Map<string, string>>()
  const go = async (
    address: string,
    init: { method?: string; body?: URLSearchParams } = {},
  ): Promise<{ url: URL; reply: Response }> => {
    let url = new URL(address)
    for (let hop = 0; hop < 20; hop++) {
      const jar = jars.get(url.host) ?? new Map<string, string>()
      jars.set(url.host, jar)
      const reply = await fetch(url, {
        ...(hop === 0 ? init : {}),
        redirect: 'manual',
        headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      })
      for (const line of reply.headers.getSetCookie()) {
        const [pair = ''] = line.split(';')
        const at = pair.indexOf('=')
        if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(pair.slice(0, at))
        else jar.set(pair.slice(0, at), pair.slice(at + 1))
      }
      const location = reply.headers.get('location')
      if (!location) return { url, reply }
      url = new URL(location, url)
      // The dashboard's page is where it ends.
      if (url.host === new URL(server.url).host && !url.pathname.startsWith('/api/')) return { url, reply }
    }
    throw new Error('it goes round in circles')
  }
  const cookies = () =>
    [...(jars.get(new URL(server.url).host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  return { go, cookies }
}
const me = async (cookie: string) =>
  (await raw(server, 'GET', '/api/v1/users/me', { headers: { cookie } })).json as Record<string, unknown>

describe('provider_a, plain OAuth 2', () => {
  const visit = async (from = browser()) => ({
    ...(await from.go(`${server.url}/api/v1/auth/provider_a`)),
    cookies: from.cookies(),
  })

  test('lets a listed person in, with the default role, and knows them again', async () => {
    const first = await visit()
    expect(first.url.pathname).toBe('/')
    expect(await me(first.cookies)).toMatchObject({
      username: 'octo_cat',
      email: 'octo@cats.example',
      role: 'Viewer',
      oauth_provider: 'provider_a',
      mfa_enabled: false,
    })
    // Matched by what never changes, not by name or address.
    person = { ...person, login: 'Octo-Cat', emails: [{ email: 'moved@cats.example', primary: true, verified: true }] }
    const again = await visit()
    expect(await me(again.cookies)).toMatchObject({ id: (await me(first.cookies)).id, username: 'octo_cat' })
  })
  test('admits a member of the allowed organisation, and nobody else', async () => {
    person = {
      id: 8,
      login: 'member',
      emails: [{ email: 'm@cats.example', primary: true, verified: true }],
      orgs: ['fence'],
    }
    expect((await visit()).url.search).toBe('?error=not_allowed')
    await set({ provider_a: { allowed_org: 'fence' } })
    expect((await visit()).url.pathname).toBe('/')
    person = { ...person, id: 9, login: 'other', orgs: ['elsewhere'] }
    expect((await visit()).url.search).toBe('?error=not_allowed')
    await set({ provider_a: { allowed_org: null } })
  })
  test.each([
    ['denied', { login: 'denies' }],
    [
      'email_unverified',
      { id: 10, login: 'octo-cat', emails: [{ email: 'x@cats.example', primary: true, verified: false }] },
    ],
    [
      'account_exists',
      { id: 11, login: 'second-cat', emails: [{ email: 'ADMIN@stockade.example', primary: true, verified: true }] },
    ],
  ])('says %s', async (code, change) => {
    person = { ...person, ...change } as Person
    const { url, cookies } = await visit()
    expect(url.pathname + url.search).toBe(`/login?error=${code}`)
    expect(cookies).not.toContain('stockade_session')
  })
})

/** A session's and a key's replies, of somebody who came by a provider. */
const standing = async (cookie: string, key: string) =>
  Promise.all([
    raw(server, 'GET', '/api/v1/users/me', { headers: { cookie } }).then(({ status }) => status),
    raw(server, 'GET', '/api/v1/servers', { token: key }).then(({ status }) => status),
  ])
const ownKey = async (cookie: string) => {
  const { id } = await me(cookie)
  const made = await raw(server, 'POST', `/api/v1/users/${String(id)}/keys`, {
    headers: { cookie, origin: server.url },
    body: { name: 'mine', permissions: 'read' },
  })
  return (made.json as { key: string }).key
}
const audited = async (action: string) => (await admin.client.call('GET /settings/audit', { query: { action } })).total

describe('who is no longer vouched for', () => {
  const visit = async (from = browser()) => {
    await from.go(`${server.url}/api/v1/auth/provider_a`)
    return from.cookies()
  }
  test('is out with sessions and keys when taken off the allow-list, and back when listed again', async () => {
    const cookie = await visit()
    const key = await ownKey(cookie)
    expect(await standing(cookie, key)).toEqual([200, 200])
    await set({ provider_a: { allowed_users: ['somebody-else'] } })
    expect(await standing(cookie, key)).toEqual([401, 401])
    await set({ provider_a: { allowed_users: ['OCTO-cat'] } })
    expect(await standing(cookie, key)).toEqual([200, 200])
  })
  test('is out for good when the provider is turned off', async () => {
    const cookie = await visit()
    const key = await ownKey(cookie)
    const before = await audited('key.delete')
    await set({ provider_a: { enabled: false } })
    expect(await standing(cookie, key)).toEqual([401, 401])
    await set({ provider_a: { enabled: true } })
    expect(await standing(cookie, key)).toEqual([401, 401])
    expect(await audited('key.delete')).toBeGreaterThan(before)
  })
  test('proves by signing in again who it is, in the same session', async () => {
    const same = browser()
    const cookie = await visit(same)
    const before = await audited('auth.step_up')
    expect(await visit(same)).toBe(cookie)
    expect(await audited('auth.step_up')).toBe(before + 1)
  })
})

describe('provider_b, OpenID Connect', () => {
  /** Signs in at the provider's own pages, as the given subject. */
  const visit = async (subject: string, from = browser()) => {
    let step = await from.go(`${server.url}/api/v1/auth/provider_b`)
    for (let n = 0; n < 4 && step.url.origin === issuer.url; n++) {
      const page = await step.reply.text()
      const action = /action="([^"]+)"/.exec(page)?.[1] ?? ''
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? ''
      step = await from.go(action, {
        method: 'POST',
        body: new URLSearchParams({ prompt, login: subject, password: 'x' }),
      })
    }
    return { ...step, cookies: from.cookies() }
  }

  test('lets a verified address of an allowed domain in', async () => {
    const { url, cookies } = await visit('anna')
    expect(url.pathname + url.search).toBe('/')
    expect(await me(cookies)).toMatchObject({
      username: 'anna',
      email: 'anna@stockade.example',
      oauth_provider: 'provider_b',
    })
    const again = await visit('anna')
    expect((await me(again.cookies)).id).toBe((await me(cookies)).id)
    // Without a password there is none to change.
    expect(
      await raw(server, 'POST', '/api/v1/auth/password', {
        headers: { cookie: cookies, origin: server.url },
        body: { current_password: 'x', new_password: 'L0ng-enough' },
      }),
    ).toMatchObject({ status: 409 })
  })
  test.each([
    ['not_allowed', { email: 'eve@evil.example' }],
    ['not_allowed', { email: 'eve@not-stockade.example' }],
    ['not_allowed', { email: 'eve@stockade.example.evil.example' }],
    ['email_unverified', { email: 'bob@stockade.example', email_verified: false }],
    ['email_unverified', { email_verified: undefined }],
  ])('says %s for %o', async (code, change) => {
    claims = { ...claims, ...change }
    expect((await visit(`s-${code}-${JSON.stringify(change).length}`)).url.search).toBe(`?error=${code}`)
  })
  test('a name that is taken gets a number', async () => {
    claims = { email: 'admin@stockade.example', email_verified: true }
    expect((await visit('s-admin')).url.search).toBe('?error=account_exists')
    await set({ provider_b: { allowed_domains: ['stockade.example', 'two.example'] } })
    claims = { email: 'admin@two.example', email_verified: true }
    const { cookies } = await visit('s-admin-2')
    expect(await me(cookies)).toMatchObject({ username: 'admin2' })
  })
})

test("a provider's sign-in stands for the second factor, a password of the same person does not", async () => {
  const from = browser()
  await from.go(`${server.url}/api/v1/auth/provider_a`)
  const { id, username } = await me(from.cookies())
  const { temporary_password } = await admin.client.call('POST /users/{userId}/reset-password', {
    params: { userId: Number(id) },
  })
  const enabled = await admin.client.call('POST /auth/mfa/enable')
  const code = new TOTP({ secret: Secret.fromBase32(enabled.secret) }).generate()
  await admin.client.call('POST /auth/mfa/confirm', { body: { code } })
  await admin.client.call('PATCH /settings', { body: { security: { mfa_required: true } } })
  try {
    const again = browser()
    await again.go(`${server.url}/api/v1/auth/provider_a`)
    expect((await raw(server, 'GET', '/api/v1/servers', { headers: { cookie: again.cookies() } })).status).toBe(200)
    const typed = { username: String(username), password: temporary_password ?? '' }
    const { access_token: token } = (await raw(server, 'POST', '/api/v1/auth/login', { body: typed })).json as {
      access_token: string
    }
    expect((await raw(server, 'GET', '/api/v1/servers', { token })).status).toBe(403)
  } finally {
    await admin.client.call('PATCH /settings', { body: { security: { mfa_required: false } } })
  }
})

describe('a return that did not begin here', () => {
  const callback = (query: string, headers: Record<string, string> = {}) =>
    raw(server, 'GET', `/api/v1/auth/provider_a/callback${query}`, { headers })
  const refused = (reply: { status: number; headers: Headers }) => [
    reply.status,
    new URL(reply.headers.get('location') ?? '').search,
  ]

  test('without, with a foreign, with a stolen, with a used state', async () => {
    expect(refused(await callback(''))).toEqual([302, '?error=state'])
    expect(refused(await callback('?code=x&state=made-up&unknown=1'))).toEqual([302, '?error=state'])
    const begun = await raw(server, 'GET', '/api/v1/auth/provider_a')
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(begun.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/)
    // Another browser has no cookie of it; and trying used the state up.
    expect(refused(await callback(`?code=x&state=${state}`))).toEqual([302, '?error=state'])
    expect(refused(await callback(`?code=x&state=${state}`, { cookie }))).toEqual([302, '?error=state'])
    const other = await raw(server, 'GET', '/api/v1/auth/provider_a')
    const theirs = new URL(other.headers.get('location') ?? '').searchParams.get('state') ?? ''
    expect(
      refused(
        await raw(server, 'GET', `/api/v1/auth/provider_b/callback?code=x&state=${theirs}`, {
          headers: { cookie: other.headers.get('set-cookie')?.split(';')[0] ?? '' },
        }),
      ),
    ).toEqual([302, '?error=state'])
  })
  test('with a code that the provider does not know', async () => {
    const begun = await raw(server, 'GET', '/api/v1/auth/provider_a')
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect(refused(await callback(`?code=forged&state=${state}`, { cookie }))).toEqual([
      302,
      '?error=provider_unavailable',
    ])
  })
})

test('a provider that claims to be another one is not believed', async () => {
  const port = await freePort()
  const liar = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        issuer: 'https://accounts.stockade.example',
        authorization_endpoint: `http://127.0.0.1:${port}/auth`,
        token_endpoint: `http://127.0.0.1:${port}/token`,
      }),
    ),
  )
  await new Promise<void>(resolve => liar.listen(port, '127.0.0.1', resolve))
  const other = await startServer({ env: { STOCKADE_PROVIDER_B_ISSUER: `http://127.0.0.1:${port}` } })
  try {
    const { client } = await other.setUp()
    await client.call('PATCH /settings/oauth', {
      body: {
        provider_b: { enabled: true, client_id: 'x', client_secret: 'y', allowed_domains: ['stockade.example'] },
      },
    })
    const begun = await raw(other, 'GET', '/api/v1/auth/provider_b')
    expect(new URL(begun.headers.get('location') ?? '').search).toBe('?error=provider_unavailable')
  } finally {
    await other.close()
    liar.close()
  }
})

test('a provider that is away or turned off is said so, and the page lists what is on', async () => {
  expect((await server.client().call('GET /auth/options')).providers).toEqual([
    { id: 'provider_a', label: 'GitHub' },
    { id: 'provider_b', label: 'Single sign-on' },
  ])
  issuer.close()
  const away = await raw(server, 'GET', '/api/v1/auth/provider_b')
  expect(new URL(away.headers.get('location') ?? '').search).toMatch(/^\?error=provider_unavailable$/)
  await set({ provider_a: { enabled: false } })
  const off = await raw(server, 'GET', '/api/v1/auth/provider_a')
  expect(new URL(off.headers.get('location') ?? '').search).toBe('?error=disabled')
})
