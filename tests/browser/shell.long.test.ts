import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, signIn } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* What surrounds every page: undoing, what goes on, keys, preferences, the live state, and several tabs of one browser. */
describe.runIf(hasBrowser)('the shell', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let host: Host
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_RATE_LIMIT: '0', ...staysOnline } })
    admin = await server.setUp()
    host = await aNewHost(server, admin.client, 'web-01')
    await host.beat(['sshd', 'postfix'])
    ;({ page, complaints, close } = await visit(server.url, { bypassCSP: true }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const news = () => page.getByRole('region', { name: 'News' })
  /** The host answers all that it has taken. */
  const finish = async () => {
    await host.orders()
    const { commands } = await admin.client.call('GET /commands', { query: { status: 'running' } })
    for (const { id } of commands) await host.answer(id)
  }
  const undo = () => news().getByRole('button', { name: 'Undo' })

  describe('undoing', () => {
    it('takes an unban back before the host has heard of it', async () => {
      await host.ban('203.0.113.7')
      await page.goto('bans?by=bans')
      await page.getByRole('button', { name: 'Unban 203.0.113.7 from sshd on web-01' }).click()
      await news().getByText('Unbanning 203.0.113.7 from sshd on web-01…').waitFor()
      // It stays under the pointer.
      await undo().hover()
      expect(await breaches(page)).toEqual([])
      await undo().click()
      await news().getByText('Undone before it ran.').waitFor()
      expect(await host.orders()).toEqual([])
    })
    it('bans again, for what was left, when the unban has run', async () => {
      await host.ban('203.0.113.8')
      await page.goto('bans?by=bans')
      await page.getByRole('button', { name: 'Unban 203.0.113.8 from sshd on web-01' }).click()
      await undo().waitFor()
      const [order] = await host.orders()
      await host.answer(order?.id ?? '')
      await news().getByText('203.0.113.8 is unbanned from sshd on web-01').waitFor()
      await undo().click()
      await news().getByText('Ban 203.0.113.8 in sshd').waitFor()
      const [again] = await host.orders()
      expect(again).toMatchObject({ type: 'ban-ip', params: { ip: '203.0.113.8', jail: 'sshd' } })
      expect(Number(again?.params.duration)).toBeGreaterThan(3000)
      expect(Number(again?.params.duration)).toBeLessThanOrEqual(3600)
      await host.answer(again?.id ?? '')
    })
    it('switches a jail on again, and says when the server refuses', async () => {
      await page.goto(`servers/${host.id}/jails`)
      await page.getByRole('button', { name: 'Disable: postfix' }).click()
      await undo().waitFor()
      const [order] = await host.orders()
      await host.answer(order?.id ?? '')
      // The toast changes its sentence then, and a click on what moves can be lost.
      await news().getByText('postfix is disabled on web-01').waitFor()
      await undo().click()
      await news().getByText('Enable postfix').waitFor()
      expect((await host.orders()).map(({ type, params }) => [type, params.jail])).toEqual([['jail-enable', 'postfix']])
      await page.getByRole('button', { name: 'Disable: sshd' }).click()
      await page.getByRole('button', { name: /^Disable sshd on / }).click()
      await undo().waitFor()
      await page.route('**/api/v1/commands/cancel', route =>
        route.fulfill({ status: 503, json: { error: 'Unavailable', message: 'Not now.' } }),
      )
      await undo().click()
      await page.getByRole('alert').getByText('Could not undo it: Not now.').waitFor()
      await page.unroute('**/api/v1/commands/cancel')
      complaints.splice(0, complaints.length, ...complaints.filter(text => !text.includes('503')))
      await page.getByRole('alert').getByRole('button', { name: 'Close this' }).click()
      await finish()
    })
    it('takes an address off the whitelist without a question, and puts it back as it was', async () => {
      const ends = new Date(Date.now() + 3_600_000).toISOString()
      await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.9', description: 'Anna', expires_at: ends } })
      await page.goto('whitelist')
      await page.getByRole('button', { name: 'Remove 192.0.2.9' }).click()
      await news().getByText('192.0.2.9 is off the whitelist.').waitFor()
      expect((await admin.client.call('GET /whitelist')).total).toBe(0)
      await undo().click()
      await news().getByText('192.0.2.9 is on the whitelist again.').waitFor()
      expect((await admin.client.call('GET /whitelist')).whitelist).toMatchObject([
        { ip: '192.0.2.9', description: 'Anna', expires_at: ends },
      ])
    })
    it('takes off again what an import of the whitelist has added, and nothing else', async () => {
      const { total } = await admin.client.call('GET /whitelist')
      const { id } = await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.30', description: '' } })
      await page.goto('whitelist')
      await page.getByRole('button', { name: 'Import' }).click()
      await page.getByRole('dialog').getByRole('textbox').first().fill('192.0.2.30\n192.0.2.31\n192.0.2.32')
      await page.getByRole('dialog').getByRole('button', { name: 'Preview' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Import 3' }).click()
      await news().getByText('2 entries are on the whitelist.').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
      await undo().click()
      await news().getByText('2 entries are off the whitelist again.').waitFor()
      expect(await admin.client.call('GET /whitelist/{id}', { params: { id } })).toMatchObject({ ip: '192.0.2.30' })
      expect((await admin.client.call('GET /whitelist')).total).toBe(total + 1)
      await admin.client.call('DELETE /whitelist/{id}', { params: { id } })
    })
    it('brings back what an unban with a whitelist entry has lifted', async () => {
      await host.ban('203.0.113.9')
      await page.goto('ip/203.0.113.9')
      await page.getByRole('button', { name: 'Unban everywhere' }).click()
      await page.getByRole('dialog').getByText('Whitelist it as well').click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Unban on 1 server/ })
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
      await undo().click()
      await news().getByText('203.0.113.9 is off the whitelist, and its bans are on their way back.').waitFor()
      const { whitelist } = await admin.client.call('GET /whitelist')
      expect(whitelist.some(({ ip }) => ip === '203.0.113.9')).toBe(false)
      expect((await host.orders()).at(-1)).toMatchObject({
        type: 'ban-ip',
        params: { ip: '203.0.113.9', jail: 'sshd' },
      })
      await finish()
    })
    it('shows three at most, and keeps them while the pointer is on them', async () => {
      const other = await visit(server.url)
      const mine = other.page
      const news = mine.getByRole('region', { name: 'News' })
      const undo = news.getByRole('button', { name: 'Undo' })
      try {
        await signIn(mine, 'admin', password)
        await mine.clock.install()
        await mine.goto('whitelist')
        for (const ip of ['192.0.2.11', '192.0.2.12', '192.0.2.13', '192.0.2.14']) {
          await mine.getByRole('button', { name: 'Add', exact: true }).click()
          const dialog = mine.getByRole('dialog')
          await dialog.getByLabel('Addresses and ranges').fill(ip)
          await dialog.getByRole('button', { name: 'Add' }).click()
          await dialog.getByRole('button', { name: 'Done' }).click()
          await news.getByText(`${ip} is on the whitelist.`).waitFor()
          // As if the pointer were there: the time of the first must not end before the last is asked for.
          await news.dispatchEvent('pointerover')
        }
        await expect.poll(() => undo.count()).toBe(3)
        await news.dispatchEvent('pointerout')
        await undo.last().hover()
        await mine.clock.fastForward(9000)
        await expect.poll(() => undo.count()).toBe(3)
        await mine.mouse.move(700, 100)
        await mine.clock.fastForward(9000)
        await expect.poll(() => undo.count()).toBe(0)
      } finally {
        await other.close()
      }
    })
  })

  describe('the activity', () => {
    const strip = () => page.getByRole('group', { name: 'Activity' })
    it('tells live what goes on, leads to the output, and keeps the way back', async () => {
      await page.goto('whitelist')
      await page.getByText('Live', { exact: true }).waitFor()
      const counted: string[] = []
      page.on('request', request => {
        if (new URL(request.url()).pathname === '/api/v1/commands') counted.push(request.url())
      })
      await admin.client.call('POST /servers/{serverId}/bans', {
        params: { serverId: host.id },
        body: { ip: '203.0.113.20' },
      })
      await strip().getByText('1 waiting').waitFor()
      const [order] = await host.orders()
      await strip().getByText('1 running').waitFor()
      await host.answer(order?.id ?? '', false, 'no such jail')
      await strip().getByText('1 failed').waitFor()
      await admin.client.call('POST /servers/{serverId}/bans', {
        params: { serverId: host.id },
        body: { ip: '203.0.113.21' },
      })
      await strip()
        .getByRole('button', { name: /1 waiting/ })
        .click()
      const sheet = strip().getByRole('region', { name: 'Activity' })
      await sheet.getByRole('link', { name: 'Ban 203.0.113.20 in stockade' }).waitFor()
      expect(await breaches(page)).toEqual([])
      await sheet.getByRole('button', { name: 'Cancel: Ban 203.0.113.21 in stockade, web-01' }).click()
      await news().getByText('Undone before it ran.').waitFor()
      expect(await host.orders()).toEqual([])
      await sheet.getByRole('link', { name: 'Ban 203.0.113.20 in stockade' }).click()
      await page.getByText('no such jail').first().waitFor()
      // By messages alone.
      expect(counted).toEqual([])
      await page.keyboard.press('Escape')
    })
    it('is a number and a list on a phone', async () => {
      const phone = await visit(server.url, { viewportName: 'phone', bypassCSP: true })
      try {
        await signIn(phone.page, 'admin', password)
        await phone.page.getByLabel('1 command is on its way or failed').waitFor()
        await phone.page.getByRole('link', { name: /^More/ }).click()
        await phone.page.getByRole('link', { name: 'Ban 203.0.113.20 in stockade' }).waitFor()
        expect(await overflows(phone.page)).toBe(false)
        expect(await breaches(phone.page)).toEqual([])
      } finally {
        await phone.close()
      }
    })
  })

  describe('the notices in the top bar', () => {
    const count = () => page.getByRole('banner').getByRole('button', { name: /^\d+ notices?$/ })
    const list = () => page.getByRole('region', { name: 'Notices' })
    const lines = () => list().getByRole('listitem')
    const dismissFirst = () =>
      lines()
        .first()
        .getByRole('button', { name: /^Dismiss/ })
        .click()
    it('are a count, and a list with the heaviest first, each dismissed for itself', async () => {
      await page.route('**/bootstrap', async route => {
        const reply = await route.fetch()
        const { me, options, summary, ...others } = await reply.json()
        const servers = summary.servers.map((server: object) => ({ ...server, status: 'offline' }))
        await route.fulfill({
          response: reply,
          json: {
            ...others,
            me: { ...me, version: '99.0.0' },
            options: { ...options, base_url: 'https://stockade.example' },
            summary: { ...summary, servers, counts: { ...summary.counts, online: 0, offline: 1 } },
          },
        })
      })
      // With the live feed the page reads once more what it has.
      await page.route('**/auth/me', async route => {
        const reply = await route.fetch()
        await route.fulfill({ response: reply, json: { ...(await reply.json()), version: '99.0.0' } })
      })
      await page.route('**/auth/options', async route => {
        const reply = await route.fetch()
        const json = { ...(await reply.json()), base_url: 'https://stockade.example' }
        await route.fulfill({ response: reply, json })
      })
      await page.route('**/servers/summary', async route => {
        const reply = await route.fetch()
        const { servers, counts, ...others } = await reply.json()
        const away = servers.map((server: object) => ({ ...server, status: 'offline' }))
        const json = { ...others, servers: away, counts: { ...counts, online: 0, offline: 1 } }
        await route.fulfill({ response: reply, json })
      })
      await page.goto('whitelist')
      // The server that is offline is counted in the navigation and in the title, and is no notice of its own.
      await expect.poll(() => count().textContent()).toBe('2')
      await expect.poll(() => page.title()).toBe('(1) Whitelist · Stockade')
      // Nothing of it stands above the page.
      expect(await page.getByText('There is a new version of this dashboard.').count()).toBe(0)
      await count().click()
      await lines().first().getByRole('link', { name: 'https://stockade.example' }).waitFor()
      expect(await breaches(page)).toEqual([])
      await dismissFirst()
      await lines().first().getByText('There is a new version of this dashboard.').waitFor()
      await page.keyboard.press('Escape')
      await list().waitFor({ state: 'detached' })
      await page.reload()
      await expect.poll(() => count().textContent()).toBe('1')
      await count().click()
      const loaded = page.waitForEvent('load')
      await lines().first().getByRole('button', { name: 'Reload' }).click()
      await loaded
      await count().click()
      await dismissFirst()
      await count().waitFor({ state: 'detached' })
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })
  })

  describe('the live state', () => {
    it('rests when the user wants to read, and catches up', async () => {
      await page.goto('bans')
      await page.getByText('Live', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Pause updates' }).click()
      await page.getByText('Paused', { exact: true }).waitFor()
      await host.ban('203.0.113.30')
      // An order is followed all the same.
      await admin.client.call('POST /servers/{serverId}/bans', {
        params: { serverId: host.id },
        body: { ip: '203.0.113.31' },
      })
      await page.getByRole('group', { name: 'Activity' }).getByText('1 waiting').waitFor()
      await expect.poll(() => page.getByText('203.0.113.30').count()).toBe(0)
      await page.getByRole('button', { name: 'Resume updates' }).click()
      await page.getByText('Live', { exact: true }).waitFor()
      await page.getByRole('button', { name: '1 new' }).click()
      await page.getByText('203.0.113.30').waitFor()
      await finish()
    })

    it('asks every 15 s where the live feed does not get through, and says so', async () => {
      // A proxy that knows nothing of WebSockets.
      const proxy = createServer((request, reply) => {
        const { method, url, headers } = request
        const on = ask(`${server.url}${url ?? ''}`, { method, headers }, answer => {
          reply.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(reply)
        })
        on.on('error', () => reply.destroy())
        request.pipe(on)
      })
      proxy.on('upgrade', (_, socket) => socket.destroy())
      await new Promise<void>(done => proxy.listen(0, '127.0.0.1', done))
      const { port } = proxy.address() as AddressInfo
      const other = await visit(`http://127.0.0.1:${port}`)
      try {
        await signIn(other.page, 'admin', password)
        await other.page.clock.install()
        await other.page.goto('whitelist')
        await other.page.getByText('Live off, every 15 s').waitFor()
        await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.77' } })
        await expect.poll(() => other.page.getByText('192.0.2.77').count()).toBe(0)
        await other.page.clock.fastForward(15_000)
        await other.page.getByText('192.0.2.77').waitFor()
      } finally {
        await other.close()
        proxy.closeAllConnections()
        proxy.close()
      }
    })

    it('needs one connection for all tabs, which the next one takes over', async () => {
      const first = await visit(server.url)
      const sockets: string[] = []
      const watch = (page: Page, name: string) => page.on('websocket', () => sockets.push(name))
      try {
        watch(first.page, 'first')
        await signIn(first.page, 'admin', password)
        await first.page.getByText('Live', { exact: true }).waitFor()
        const second = await first.page.context().newPage()
        watch(second, 'second')
        await second.goto('bans')
        await second.getByText('Live', { exact: true }).waitFor()
        await second.locator('[data-ban]').first().waitFor()
        await host.ban('203.0.113.40')
        await second.getByRole('button', { name: '1 new' }).waitFor()
        expect(sockets).toEqual(['first'])
        await first.page.close()
        await expect.poll(() => sockets).toEqual(['first', 'second'])
        await second.getByText('Live', { exact: true }).waitFor()
        await host.ban('203.0.113.41')
        await second.getByRole('button', { name: '2 new' }).waitFor()
        // Whoever logs out in one tab is out in all of them.
        const third = await first.page.context().newPage()
        await third.goto('whitelist')
        await third.getByText('Live', { exact: true }).waitFor()
        await third.getByRole('button', { name: 'Account of admin' }).click()
        await third.getByRole('menuitem', { name: 'Sign out' }).click()
        await second.waitForURL('**/login?*')
        expect(sockets).toEqual(['first', 'second'])
      } finally {
        await first.close()
      }
    })
  })

  describe('keys and preferences', () => {
    beforeAll(async () => {
      await host.ban('203.0.113.50')
      for (const type of ['reload-all', 'service-restart'] as const)
        await admin.client.call('POST /servers/{serverId}/commands', { params: { serverId: host.id }, body: { type } })
      await finish()
    })
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    const focusedRow = () => page.evaluate<string>("document.activeElement.closest('[data-row]')?.textContent ?? ''")
    /** The link of the focused row. Its text changes while time passes. */
    const focusedLink = () => page.evaluate<string>('document.activeElement.href')
    /** The keys come with the second part of the shell. */
    const ready = () => page.getByRole('group', { name: 'Activity' }).waitFor()
    it('go through pages, lists and what a row offers; never while one types', async () => {
      await page.goto('commands')
      await page.locator('[data-row]').first().waitFor()
      await ready()
      await page.keyboard.press('j')
      await expect.poll(focusedRow).toContain('web-01')
      const first = await focusedLink()
      await page.keyboard.press('j')
      await expect.poll(focusedLink).not.toBe(first)
      await page.keyboard.press('k')
      await expect.poll(focusedLink).toBe(first)
      const what = await focused()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: what }).waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('s')
      await page.waitForURL('**/servers')
      await page.locator('[data-row]').first().waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('gwtj?')
      await expect.poll(() => page.getByLabel('Search by name or address').inputValue()).toBe('gwtj?')
      await page.getByLabel('Search by name or address').blur()
      await page.keyboard.press('?')
      await page.getByRole('dialog').getByText('Search on this page').waitFor()
      expect(await breaches(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.goto('ip/203.0.113.50')
      const time = page.locator('time').first()
      await time.waitFor()
      await ready()
      await expect.poll(() => time.textContent()).not.toContain('UTC')
      await page.keyboard.press('t')
      await expect.poll(() => time.textContent()).toContain('UTC')
      await page.keyboard.press('t')
    })
    it('unban the row that has the focus, and take it back', async () => {
      await page.goto(`servers/${host.id}/bans`)
      await page.locator('[data-ban]').first().waitFor()
      await ready()
      await page.getByRole('link', { name: /203\.0\.113\.50/ }).focus()
      await page.keyboard.press('u')
      await news().getByText('Unbanning 203.0.113.50 from sshd on web-01…').waitFor()
      await page.keyboard.press('z')
      await news().getByText('Undone before it ran.').waitFor()
    })
    it('are kept in the browser at once and with the account, also for another browser', async () => {
      await page.goto('account/preferences')
      await page.getByRole('heading', { name: 'Preferences' }).waitFor()
      expect(await breaches(page)).toEqual([])
      await page.getByLabel('Dense').check()
      await page.getByLabel('UTC', { exact: true }).check()
      await page.getByLabel('12 hours').check()
      await page.getByLabel('Dark').check()
      await page.getByLabel('First page').selectOption('Servers')
      await page.getByLabel('Single-key shortcuts').uncheck()
      await page.getByText(/^Now: [\d-]+ \d\d:\d\d:\d\d [ap]m UTC$/i).waitFor()
      await page.getByRole('heading', { name: 'Preferences' }).focus()
      await page.keyboard.press('g')
      await page.keyboard.press('b')
      const keptBy = async (tab: Page) => {
        const cookies = await tab.context().cookies()
        const headers = { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') }
        const reply = await fetch(`${server.url}/api/v1/users/me/preferences`, { headers })
        return ((await reply.json()) as { preferences: unknown }).preferences
      }
      await expect
        .poll(() => keptBy(page))
        .toMatchObject({ density: 'dense', zone: 'utc', clock: '12', theme: 'dark', start: '/servers', keys: false })
      expect(page.url()).toMatch(/preferences$/)
      const other = await visit(server.url)
      try {
        await signIn(other.page, 'admin', password)
        await expect
          .poll(() => other.page.evaluate('({ ...document.documentElement.dataset })'))
          .toMatchObject({ density: 'dense', mantineColorScheme: 'dark' })
        await other.page.goto('')
        await other.page.waitForURL('**/servers')
        await other.page.getByRole('link', { name: 'Overview', exact: true }).click()
        await other.page.waitForURL(`${server.url}/`)
        await other.page.goto('account/preferences')
        await other.page.getByLabel('Single-key shortcuts').check()
        await other.page.getByLabel('Light').check()
        await other.page.getByLabel('First page').selectOption('Overview')
        await expect.poll(() => keptBy(other.page)).toMatchObject({ theme: 'light', start: '/', keys: true })
      } finally {
        await other.close()
      }
      await page.reload()
      await expect.poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('light')
    })
    it('hold views of lists by name', async () => {
      await page.goto('servers?q=status:offline web')
      await page.getByRole('button', { name: 'Save this view' }).click()
      await page.getByLabel('Name of the view').fill('Web, away')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.goto('servers')
      await page.getByRole('link', { name: 'Web, away' }).click()
      await page.waitForURL('**/servers?q=status*web')
      await page.getByRole('button', { name: 'Edit the views' }).click()
      await page.getByLabel('Name of the view Web, away').fill('Gone')
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('link', { name: 'Gone' }).waitFor()
      expect(await breaches(page)).toEqual([])
      await page.getByRole('button', { name: 'Edit the views' }).click()
      await page.getByRole('button', { name: 'Remove the view Gone' }).click()
      await undo().click()
      await page.getByRole('button', { name: 'Remove the view Gone' }).waitFor()
    })
  })

  describe('where there is nothing to show', () => {
    it('offers to find it', async () => {
      await page.goto('nowhere/at/all')
      const main = page.getByRole('main')
      await main.getByRole('heading', { name: 'Nothing here' }).waitFor()
      await main.getByRole('button', { name: 'Find an address, server or page' }).click()
      await page.getByRole('combobox').fill('web-01')
      await page
        .getByRole('option', { name: /web-01/ })
        .first()
        .waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/servers/*/overview')
    })
    it('says so in words at every address that names nothing, with a way back', async () => {
      const main = page.getByRole('main')
      const uuid = '01934f9e-0000-7000-8000-000000000000'
      for (const [path, text, way] of [
        ['bans/abc', 'There is no page at this address.', 'Go to the bans'],
        ['bans/99999999999999999999', 'There is no page at this address.', 'Go to the bans'],
        ['servers/x', 'There is no such server.', 'All servers'],
        [`servers/${uuid}`, 'There is no such server.', 'Its bans'],
        ['servers/new?id=x', 'This server does not exist.', 'Add a server'],
        ['commands/x', 'There is no such command.', 'All commands'],
        [`batches/${uuid}`, 'There is no such batch.', 'All commands'],
        ['users/1.5', 'This user does not exist.', 'Go to the users'],
        ['templates/nope/edit', 'This template does not exist.', 'All templates'],
        ['settings/nothing', 'There is no page at this address.', 'Go to the servers'],
        ['whitelist?page=99', 'There is nothing on this page any more.', 'To the first page'],
        ['servers?page=99', 'There is nothing on this page any more.', 'To the first page'],
      ] as const) {
        await go(page, path)
        await main
          .getByRole('link', { name: way })
          .or(main.getByRole('button', { name: way }))
          .waitFor()
        await main.getByText(text).waitFor()
      }
      // What a page does not read of its address it does not keep.
      await page.goto('commands?server=x&status=failed&elsewhere=1')
      await page.waitForURL(url => url.search === '?q=status%3Afailed')
    })
    it('waits as long as the server says, and goes on by itself', async () => {
      let refuses = true
      await page.route('**/bootstrap', route =>
        refuses
          ? route.fulfill({
              status: 429,
              headers: { 'retry-after': '2' },
              json: { error: 'Too many requests', message: 'Slow down.' },
            })
          : route.continue(),
      )
      await page.goto('whitelist')
      await page.getByText(/Too many requests\. Retrying in [123] s\./).waitFor()
      refuses = false
      await page.getByRole('heading', { name: 'Whitelist', level: 1 }).waitFor()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })
    it('says what broke, with a report to copy', async () => {
      await page.route('**/bootstrap', route =>
        route.fulfill({
          status: 500,
          json: { error: 'Internal error', message: 'The log has it under request id abc-1.' },
        }),
      )
      await page.goto('whitelist')
      await page.getByText('The log has it under request id abc-1.', { exact: true }).waitFor()
      await expect
        .poll(() => page.locator('main textarea').inputValue())
        .toMatch(/^Stockade \d[^]*\n\/whitelist\n[^]*\n500 Internal error: The log has it under request id abc-1\.$/)
      await page.getByRole('button', { name: 'Copy report' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    })
  })
})
