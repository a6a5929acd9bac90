import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, raw, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, hasBrowser, overflows, settled, signIn } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* Locked out by one's own fleet, with a phone on mobile data in hand: two taps from any page. */

const { visit } = useBrowser()

describe.runIf(hasBrowser)('locked out', () => {
  let server: TestServer
  let admin: Signed
  let hosts: Host[]
  let page: Page
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.1', ...staysOnline } })
    admin = await server.setUp()
    const { client } = admin
    hosts = []
    for (const hostname of ['web-01', 'web-02']) {
      const host = await aNewHost(server, client, hostname)
      await host.beat()
      hosts.push(host)
    }
    // The desk's browser signed in from the office; the phone comes from elsewhere.
    await raw(server, 'POST', '/api/v1/auth/login', {
      body: { username: 'admin', password },
      headers: {
        'x-forwarded-for': '198.51.100.7',
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
      },
    })
    ;({ page, close } = await visit(server.url, {
      viewportName: 'phone',
      extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' },
    }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })

  it('is said on every page as soon as it happens, and is lifted in two taps', async () => {
    await page.goto('whitelist')
    await page.getByRole('heading', { name: 'Whitelist', level: 1 }).waitFor()
    for (const host of hosts) await host.ban('198.51.100.7', { jail: 'sshd', ban_duration: 3600 })
    const notice = page.getByRole('alert').filter({ hasText: '198.51.100.7' })
    await notice.getByText('Your other device is banned on 2 servers').waitFor()
    await notice
      .getByText(/Firefox.* last seen \d\d:\d\d, 198\.51\.100\.7\. Banned on web-0\d \(sshd\) and 1 more/)
      .waitFor()
    // A tap shows all times of the page exactly, and another one takes that back.
    await notice.locator('time').tap()
    await notice.getByText(/ last seen \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/).waitFor()
    expect(await overflows(page)).toBe(false)
    await notice.locator('time').tap()
    expect(await overflows(page)).toBe(false)
    expect(await breaches(page)).toEqual([])
    await notice.getByRole('button', { name: 'Unban everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unban on 2 servers' }).click()
    for (const host of hosts) {
      let order: Awaited<ReturnType<Host['orders']>>[number] | undefined
      await expect
        .poll(async () => (order ??= (await host.orders())[0]))
        .toMatchObject({
          type: 'unban-ip',
          params: { ip: '198.51.100.7', jail: '*' },
        })
      await host.answer(order?.id ?? '')
    }
    // Toasts go by themselves: first of all.
    await page.getByRole('region', { name: 'News' }).getByText('198.51.100.7 is unbanned on 2 servers').waitFor()
    // The notice goes with the ban; the dialog that it opened stays and says how it ended.
    await notice.waitFor({ state: 'detached' })
    await page.getByRole('dialog').getByText('Done on 2 servers').waitFor()
    // It was asked for every jail: the row names those that had it banned.
    await page
      .getByRole('listitem')
      .filter({ hasText: /^web-01sshdCompleted/ })
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Done', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('a Viewer lifts the ban of the address of the phone where it is allowed, and is told until when', async () => {
    const { client } = admin
    await client.call('POST /users', {
      body: { username: 'joe', email: 'joe@stockade.example', password, role: 'Viewer' },
    })
    const visited = await visit(server.url, {
      viewportName: 'phone',
      bypassCSP: true,
      extraHTTPHeaders: { 'x-forwarded-for': '198.51.100.77' },
    })
    try {
      await signIn(visited.page, 'joe', password)
      await hosts[0]?.ban('198.51.100.77', { jail: 'sshd', ban_duration: 3600 })
      const notice = visited.page.getByRole('alert').filter({ hasText: '198.51.100.77' })
      await notice.getByText('An Operator can unban it.').waitFor()
      await client.call('PATCH /settings', { body: { security: { own_unban: true } } })
      await visited.page.reload()
      const lift = notice.getByRole('button', { name: 'Unban for an hour' })
      await lift.waitFor()
      await settled(visited.page)
      expect(await overflows(visited.page)).toBe(false)
      expect(await breaches(visited.page)).toEqual([])
      await lift.click()
      await visited.page.getByText('Your address is whitelisted until').waitFor()
      const { whitelist } = await client.call('GET /whitelist', { query: { search: '198.51.100.77' } })
      expect(whitelist).toMatchObject([{ ip: '198.51.100.77', created_by: 'joe' }])
      const [order] = (await hosts[0]?.orders()) ?? []
      expect(order).toMatchObject({ type: 'unban-ip', params: { ip: '198.51.100.77', jail: '*' } })
      expect(visited.complaints).toEqual([])
    } finally {
      await visited.close()
    }
  })
})
