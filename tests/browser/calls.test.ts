import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { aHost, password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { built, hasBrowser, launch, settled, signIn, visit } from './browser.ts'

/* A cold page asks for little, and for nothing twice: the live feed goes on where `GET /bootstrap` was read. */

const most = 6

describe.runIf(hasBrowser)('what a page asks of the API', () => {
  let browser: Browser
  let server: TestServer
  let serverId: string
  let state: Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>
  beforeAll(async () => {
    await built()
    browser = await launch()
    server = await startServer({ env: { STOCKADE_RATE_LIMIT: '0' } })
    const { client } = await server.setUp()
    const host = await aHost(server, client, 'web-01')
    serverId = host.id
    await host.client.call('POST /servers/heartbeat', {
      body: { hostname: 'web-01', jails: [{ name: 'sshd', enabled: true }] },
    })
    await host.client.call('POST /bans', { body: { ip: '203.0.113.9', jail: 'sshd' } })
    const { page, close } = await visit(browser, server.url)
    await signIn(page, 'admin', password)
    state = await page.context().storageState()
    await close()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  /** The requests of a page that is loaded cold, until it is live and has all that it asked for. */
  const callsOf = async (path: string): Promise<string[]> => {
    const { page, close } = await visit(browser, server.url, { storageState: state })
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

  it.each([
    '',
    'bans',
    'bans?by=bans',
    'ip/203.0.113.9',
    'servers',
    'whitelist',
    'commands',
    'audit',
    'templates',
    'settings',
  ])('is little, and nothing twice: /%s', async path => {
    const calls = await callsOf(path)
    expect(calls).toContain('/api/v1/bootstrap')
    expect(calls.toSorted()).toEqual([...new Set(calls)].sort())
    expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(most)
  })
  it('is little on the page of a server too, and nothing twice', async () => {
    const calls = await callsOf(`servers/${serverId}`)
    expect(calls.toSorted()).toEqual([...new Set(calls)].sort())
    expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(most)
  })
})
