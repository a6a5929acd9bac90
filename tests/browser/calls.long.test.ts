import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { aHost, password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { hasBrowser, settled, signIn } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* A cold page asks for little, and for nothing twice: the live feed goes on where `GET /bootstrap` was read. */

const most = 6

describe.runIf(hasBrowser)('what a page asks of the API', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let serverId: string
  let state: Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_RATE_LIMIT: '0' } })
    const { client } = await server.setUp()
    const host = await aHost(server, client, 'web-01')
    serverId = host.id
    await host.client.call('POST /servers/heartbeat', {
      body: { hostname: 'web-01', jails: [{ name: 'sshd', enabled: true }] },
    })
    await host.client.call('POST /bans', { body: { ip: '203.0.113.9', jail: 'sshd' } })
    const { page, close } = await visit(server.url)
    await signIn(page, 'admin', password)
    state = await page.context().storageState()
    await close()
  })
  afterAll(() => server?.close())

  /** The requests of a page that is loaded cold, until it is live and has all that it asked for. */
  const callsOf = async (path: string): Promise<string[]> => {
    const { page, close } = await visit(server.url, { storageState: state })
    const calls: string[] = []
    page.on('request', request => {
      const { pathname, search } = new URL(request.url())
      if (pathname.startsWith('/api/')) calls.push(pathname + search)
    })
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.getByRole('status', { name: 'Connection' }).getByText('Live', { exact: true }).waitFor()
    await settled(page)
    await close()
    return calls
  }

  const isLittle = async (path: string) => {
    const calls = await callsOf(path)
    expect(calls).toContain('/api/v1/bootstrap')
    expect(calls.toSorted()).toEqual([...new Set(calls)].sort())
    expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(most)
  }
  it.each([
    '',
    'bans',
    'bans?by=bans',
    'ip/203.0.113.9',
    'servers',
    'lists',
    'whitelist',
    'commands',
    'audit',
    'templates',
    'settings',
  ])('is little, and nothing twice: /%s', isLittle)
  it('is little, and nothing twice: the page of a server', () => isLittle(`servers/${serverId}`))

  /** A status, a connection that is cut, or a page of a proxy in place of the answer. */
  type Failure = number | 'cut' | 'strange'
  /**
   * What it says when all that it asks for, or one request of it, fails in this way. Requests fail until the page has
   * said so, where the words are given.
   */
  const failing = async (
    page: Page,
    path: string,
    isFailing: (pathname: string) => boolean,
    how: Failure,
    words?: Locator,
  ) => {
    const asked = new Set<string>()
    await page.route('**/api/v1/**', async route => {
      const { pathname } = new URL(route.request().url())
      asked.add(pathname)
      if (!isFailing(pathname)) return route.continue()
      if (how === 'cut') return route.abort('connectionreset')
      if (how === 'strange')
        return route.fulfill({ contentType: 'text/html', body: '<html>Sign in to the network</html>' })
      const headers: Record<string, string> = how === 429 ? { 'retry-after': '30' } : {}
      return route.fulfill({ status: how, headers, json: { error: 'Refused', message: 'Refused by the test.' } })
    })
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await words?.first().waitFor()
    await settled(page)
    await page.unroute('**/api/v1/**')
    return [...asked]
  }
  const refusals = [402, 403, 404, 429] as const
  /** What decides on all pages: whether `GET /users/me` is refused says that a second factor is missing. */
  const isOfShell = (pathname: string) => /^\/api\/v1\/(bootstrap|auth\/.*|users\/me)$/.test(pathname)
  it('may be refused: each page keeps its heading and says why', async () => {
    const { page, complaints, close } = await visit(server.url, { storageState: state, viewportName: 'phone' })
    const unexpected = () => complaints.filter(text => !/status of \d+/.test(text))
    try {
      for (const [index, path] of ['bans', 'ip/203.0.113.9', 'servers', 'whitelist', 'fleet-bans', 'audit'].entries()) {
        const status = refusals[index % refusals.length] ?? 403
        const said = page.getByRole('main').getByText(/Refused by the test\.|Retrying in/)
        const asked = await failing(page, path, pathname => !isOfShell(pathname), status, said)
        expect(unexpected(), path).toEqual([])
        if (process.env.STOCKADE_TEST_WHOLE !== '1') continue
        for (const one of asked.filter(pathname => !isOfShell(pathname)))
          for (const each of refusals) {
            await failing(page, path, pathname => pathname === one, each)
            expect(unexpected(), `${path}, ${one}, ${each}`).toEqual([])
          }
      }
    } finally {
      await close()
    }
  })
  const others = [
    ...['', 'bans?by=bans', 'lists', 'lists/blocklists', 'lists/rules', 'lists/feeds'],
    ...['templates', 'templates/sshd', 'templates/sshd/deploy', 'commands', 'alerts', 'reports', 'users'],
    ...['sequences', 'open', 'history', 'blocked', 'stats'].map(tab => `portknock/${tab}`),
    ...['destination', 'delivery', 'queue', 'replay'].map(tab => `siem/${tab}`),
    ...['profile', 'security', 'keys', 'preferences'].map(tab => `account/${tab}`),
    ...['general', 'security', 'oauth', 'notifications'].map(section => `settings/${section}`),
    ...['reputation', 'agents', 'backup', 'licence'].map(section => `settings/${section}`),
  ]
  it.runIf(process.env.STOCKADE_TEST_WHOLE === '1').each(others)(
    'may fail on /%s, which breaks nothing',
    async path => {
      const { page, complaints, close } = await visit(server.url, { storageState: state })
      try {
        for (const how of [...refusals, 500, 'cut', 'strange'] as const) {
          await failing(page, path, pathname => !isOfShell(pathname), how)
          await page.getByRole('navigation', { name: 'Main' }).or(page.getByRole('main')).first().waitFor()
          expect(await page.getByText('This page broke').count(), String(how)).toBe(0)
          expect(
            complaints.filter(text => !/status of \d+|net::ERR_CONNECTION_RESET/.test(text)),
            String(how),
          ).toEqual([])
        }
      } finally {
        await close()
      }
    },
  )
  it('may lack the log lines of an address, which it says', async () => {
    const { page, close } = await visit(server.url, { storageState: state })
    try {
      const said = page.getByText('Could not load the log lines')
      await failing(page, 'ip/203.0.113.9', pathname => pathname === '/api/v1/bans', 403, said)
      await page.getByRole('button', { name: 'Retry' }).click()
      await said.waitFor({ state: 'detached' })
    } finally {
      await close()
    }
  })
  it('is little on the page of a server too, and nothing twice', async () => {
    const calls = await callsOf(`servers/${serverId}`)
    expect(calls.toSorted()).toEqual([...new Set(calls)].sort())
    expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(most)
  })
})
