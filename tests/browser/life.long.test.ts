import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { freePort, password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { go, hasBrowser, settled, signIn } from './browser.ts'
import { aNewHost, enrol } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

const { visit } = useBrowser()

describe.runIf(hasBrowser)('signing in', () => {
  let server: TestServer
  let page: Page
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_RATE_LIMIT_SENSITIVE: '10' } })
    await server.setUp()
  })
  afterAll(() => server?.close())
  beforeEach(async () => {
    ;({ page, close } = await visit(server.url))
    return () => close()
  })
  const fill = async (name: string, secret: string) => {
    await page.getByLabel('Username').fill(name)
    await page.getByLabel('Password', { exact: true }).fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  it('leads to the page that was asked for', async () => {
    await page.goto('bans?jail=sshd&from=now-7d')
    await page.waitForURL('**/login?next=*')
    await fill('admin', password)
    await page.waitForURL('**/bans?jail=sshd&from=now-7d')
    await page.getByRole('heading', { name: 'Bans' }).waitFor()
  })
  it('never leads to another host', async () => {
    await page.goto('login?next=//elsewhere.example/bans')
    await fill('admin', password)
    await page.waitForURL(`${server.url}/`)
  })
  it('says the same of a wrong name and of a wrong password, and keeps what was typed', async () => {
    await page.goto('login')
    await fill('admin', 'Wr0ng-password')
    await page.getByText('Wrong username or password.').waitFor()
    await expect.poll(() => page.getByLabel('Username').inputValue()).toBe('admin')
    await fill('nobody', 'Wr0ng-password')
    await page.getByText('Wrong username or password.').waitFor()
  })
  it.each(['css', 'js'])('loads the page anew where a .%s file of it does not come, once', async kind => {
    await signIn(page, 'admin', password)
    await settled(page)
    let lost = 0
    // Everything that is not there yet belongs to the next page.
    await page.route(`**/*.${kind}`, route => (lost++ === 0 ? route.abort('connectionreset') : route.continue()))
    await go(page, 'lists/blocklists')
    await page.getByRole('heading', { name: 'Lists', exact: true }).waitFor()
    expect(lost).toBeGreaterThan(1)
    expect(await page.getByText('This page broke').count()).toBe(0)
  })
  it('ends with the session, says so, and goes on where it was', async () => {
    await page.goto('login')
    await fill('admin', password)
    await page.waitForURL(`${server.url}/`)
    await page.goto('bans?jail=sshd')
    await page.getByText('Live', { exact: true }).waitFor()
    // Elsewhere the same session is logged out.
    await page.evaluate(`fetch('/api/v1/auth/logout', { method: 'POST' })`)
    await page.getByText('Your session ended.').waitFor()
    await fill('admin', password)
    await page.waitForURL('**/bans?jail=sshd')
  })
  it('logs out', async () => {
    await page.goto('login')
    await fill('admin', password)
    await page.getByRole('button', { name: 'Account of admin' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL('**/login')
    await page.goto('bans')
    await page.waitForURL('**/login?next=*')
  })
  // Last: it uses up the budget of this address.
  it('counts down when there were too many attempts', async () => {
    await page.goto('login')
    // The minute of the budget may end in the middle of it, or so soon that nobody could see it counted down.
    const isRefused = async () => {
      const reply = page.waitForResponse('**/auth/login')
      await fill('admin', 'Wr0ng-password')
      return Number((await (await reply).allHeaders())['retry-after'] ?? 0) > 10
    }
    for (let attempt = 0; attempt < 24 && !(await isRefused()); attempt++);
    const said = await page.getByText(/Too many attempts\. Try again in \d+ s\./).textContent()
    await expect.poll(() => page.getByRole('button', { name: 'Sign in' }).isDisabled()).toBe(true)
    await expect.poll(() => page.getByText(/Too many attempts/).textContent()).not.toBe(said)
  })
})

// Side by side: each has a server of its own, and nearly all of it is waiting.
describe.runIf(hasBrowser).concurrent('when the server goes away and comes back', () => {
  it('says so, keeps what is shown, and catches up without a reload', async ({ expect }) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'stockade-away-'))
    const port = await freePort()
    let server = await startServer({ dataDir, port })
    const admin: Signed = await server.setUp()
    const host = await aNewHost(server, admin.client, 'web-01')
    await host.beat()
    await host.ban('203.0.113.7')
    const { page, close } = await visit(server.url)
    try {
      await signIn(page, 'admin', password)
      await page.goto('bans')
      await page.getByText('Live', { exact: true }).waitFor()
      await page.getByText('203.0.113.7').waitFor()

      await server.close()
      await page.getByText(/Offline since \d\d:\d\d/).waitFor()
      await page.locator('main[data-stale]').waitFor()
      await page.getByText('203.0.113.7').waitFor()

      server = await startServer({ dataDir, port })
      await host.ban('198.51.100.23')
      await page.getByText('Live', { exact: true }).waitFor()
      // What came meanwhile waits above the list; what is read does not move.
      await page.getByRole('button', { name: '1 new' }).click()
      await page.getByText('198.51.100.23').waitFor()
      await expect.poll(() => page.locator('main[data-stale]').count()).toBe(0)
    } finally {
      await close()
      await server.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })

  it('notices a cut network within ten seconds, although the connection still looks open', async () => {
    const server = await startServer()
    await server.setUp()
    const { page, close } = await visit(server.url)
    try {
      await signIn(page, 'admin', password)
      await page.getByText('Live', { exact: true }).waitFor()
      await page.context().setOffline(true)
      await page.getByText(/Offline since/).waitFor()
      await page.context().setOffline(false)
      await page.getByText('Live', { exact: true }).waitFor()
    } finally {
      await close()
      await server.close()
    }
  })

  it('asks at intervals where no WebSocket gets through', async () => {
    const server = await startServer()
    const admin = await server.setUp()
    const { page, close } = await visit(server.url)
    try {
      await page.clock.install()
      await page.addInitScript(`WebSocket = class extends EventTarget {
        constructor() { super(); setTimeout(() => this.onclose?.({ code: 1006 })) }
        close() {}
      }`)
      await signIn(page, 'admin', password)
      await page.getByText('Live off, every 15 s').waitFor()
      await page.getByText('No servers yet').waitFor()
      await page.goto('servers')
      await page.getByText('Live off, every 15 s').waitFor()
      await admin.client.call('POST /servers', { body: { hostname: 'web-01' } })
      await page.clock.fastForward(15_000)
      await page.getByRole('link', { name: 'web-01', exact: true }).waitFor()
    } finally {
      await close()
      await server.close()
    }
  })
})

describe.runIf(hasBrowser)('what strangers write', () => {
  let server: TestServer
  let host: Host
  const name = '<img src=x onerror=alert(1)>\u202emoc.elpmaxe'
  const lines = `<script>alert(1)</script> from 203.0.113.7\n${'A'.repeat(10_000)}\u202e\u0007`
  beforeAll(async () => {
    server = await startServer()
    const admin = await server.setUp()
    const made = await admin.client.call('POST /servers', {
      body: { hostname: name, description: `<b>${'x'.repeat(900)}</b>` },
    })
    host = await enrol(server, made.install_command, name)
    await host.beat()
    await host.protect(name)
  })
  afterAll(() => server?.close())

  it.each(['desktop', 'phone'] as const)('is shown as text on a %s', async viewportName => {
    const banId = await host.ban('203.0.113.7', { log_lines: lines })
    const { page, complaints, close } = await visit(server.url, { viewportName })
    page.on('dialog', () => complaints.push('a dialog opened'))
    try {
      await signIn(page, 'admin', password)
      for (const path of ['', 'servers', `servers/${host.id}`, 'bans?by=bans', 'ip/203.0.113.7', `bans/${banId}`]) {
        await page.goto(path)
        await page.locator('main').getByText('<img src=x').filter({ visible: true }).first().waitFor()
        await settled(page)
        await expect.poll(() => page.locator('img[src="x"], main script').count(), { message: path }).toBe(0)
        await expect
          .poll(
            () => page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth + 1'),
            { message: path },
          )
          .toBe(false)
        await expect.poll(() => page.locator('main').textContent(), { message: path }).not.toContain('\u202e')
      }
      const shown = await page.getByRole('region', { name: 'Log lines' }).textContent()
      expect(shown).toContain('<script>alert(1)</script>')
      expect(shown?.length).toBeLessThan(2100)
      await page.getByRole('button', { name: 'Show all' }).click()
      await expect
        .poll(async () => (await page.getByRole('region', { name: 'Log lines' }).textContent())?.length)
        .toBeGreaterThan(10_000)
      expect(complaints).toEqual([])
    } finally {
      await close()
    }
  })
})

describe.runIf(hasBrowser)('under a path of its own', () => {
  it('works behind a proxy that keeps the path', async () => {
    const port = await freePort()
    const server = await startServer({ port, env: { STOCKADE_BASE_URL: `http://127.0.0.1:${port}/stockade` } })
    await server.setUp()
    const { page, complaints, close } = await visit(`${server.url}/stockade/`)
    try {
      await page.goto('bans?active=true')
      await page.waitForURL('**/stockade/login?next=*')
      complaints.splice(0, complaints.length, ...complaints.filter(text => !text.includes('401')))
      await page.getByLabel('Username').fill('admin')
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL(`${server.url}/stockade/bans?active=true`)
      await page.getByText('Live', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Servers', exact: true }).click()
      await page.waitForURL(`${server.url}/stockade/servers`)
      await page.reload()
      await page.getByText('No servers yet').waitFor()
      expect(complaints).toEqual([])
    } finally {
      await close()
      await server.close()
    }
  })
})

describe.runIf(hasBrowser)('what a role may not do', () => {
  it('is hidden, and the reason stands where it would be', async () => {
    const server = await startServer()
    const admin = await server.setUp()
    const host = await aNewHost(server, admin.client, 'web-01')
    await host.beat()
    const banId = await host.ban('203.0.113.7')
    const { page, close } = await visit(server.url)
    try {
      // These two answers are all that the dashboard knows of a role.
      await page.route('**/auth/me', async route => {
        // The page may be closed while an answer is on its way; nobody misses that one.
        await (async () => {
          const reply = await route.fetch()
          await route.fulfill({ response: reply, json: { ...(await reply.json()), role: 'Viewer' } })
        })().catch(() => {})
      })
      await page.route('**/bootstrap', async route => {
        await (async () => {
          const reply = await route.fetch()
          const { me, ...others } = await reply.json()
          await route.fulfill({ response: reply, json: { ...others, me: { ...me, role: 'Viewer' } } })
        })().catch(() => {})
      })
      await signIn(page, 'admin', password)
      await page.getByRole('link', { name: 'web-01' }).waitFor()
      await expect.poll(() => page.getByRole('link', { name: 'Add a server' }).count()).toBe(0)
      await page.goto(`servers/${host.id}`)
      await page.getByText('Debian GNU/Linux 12').first().waitFor()
      await page.getByText('Operators can do this. You are a Viewer.').waitFor()
      for (const name of ['Delete…', 'Test now']) expect(await page.getByRole('button', { name }).count()).toBe(0)
      await page.goto(`bans/${banId}`)
      await page.getByText('Operators can do this. You are a Viewer.').first().waitFor()
      for (const name of ['Unban', 'Ban an address'])
        expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0)
      await page.goto('servers/new')
      await page.getByText('This page is for the role Admin. You are signed in as Viewer.').waitFor()
    } finally {
      await close()
      await server.close()
    }
  })
})

describe.runIf(hasBrowser)('what the URL says', () => {
  let server: TestServer
  let page: Page
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer()
    const admin = await server.setUp()
    for (const hostname of ['web-01', 'web-02', 'db-01'])
      await admin.client.call('POST /servers', { body: { hostname } })
    const host = await aNewHost(server, admin.client, 'mail-01')
    for (let index = 1; index <= 60; index++)
      await host.ban(`198.51.100.${index}`, { jail: index % 2 ? 'sshd' : 'postfix' })
    ;({ page, close } = await visit(server.url))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const addresses = () => page.locator('[data-ban]').allTextContents()

  it('follows the typing, and Back undoes it', async () => {
    await page.goto('servers?status=pending')
    await page.getByText('web-01').waitFor()
    const field = page.getByLabel('Search by name or address')
    await expect.poll(() => field.inputValue()).toBe('status:pending')
    await field.press('End')
    await field.pressSequentially(' web-0', { delay: 60 })
    await page.waitForURL(url => url.searchParams.get('q') === 'status:pending web-0')
    await expect.poll(() => field.inputValue()).toBe('status:pending web-0')
    await expect.poll(() => page.locator('[data-row]').count()).toBe(2)
    await field.fill('status:offline web-0')
    await page.getByText('No server matches.').waitFor()
    await field.blur()
    await page.goBack()
    await expect.poll(() => field.inputValue()).toBe('status:pending')
  })

  it('filters by a value that is clicked, and every chip takes one filter off', async () => {
    await page.goto('bans?by=bans')
    await page.getByText('1–50 of 60').first().waitFor()
    await page.getByRole('button', { name: 'postfix', exact: true }).first().click()
    await page.getByRole('menuitem', { name: 'Show only this' }).click()
    await page.getByText('1–30 of 30').first().waitFor()
    const search = page.getByRole('combobox', { name: 'Search the bans' })
    await search.fill('jail:postfix ip:198.51.100.0/29')
    await page.getByText('1–3 of 3').waitFor()
    expect(await addresses()).toEqual(['198.51.100.6', '198.51.100.4', '198.51.100.2'])
    expect(page.url()).toMatch(/\/bans\?by=bans&q=jail%3Apostfix\+ip%3A198\.51\.100\.0%2F29$/)
    await page.reload()
    await page.getByText('1–3 of 3').waitFor()
    await page.getByRole('button', { name: 'Remove jail:postfix' }).click()
    await page.getByText('1–7 of 7').waitFor()
    await expect.poll(() => search.inputValue()).toBe('ip:198.51.100.0/29')
    await page.getByRole('button', { name: /^Remove ip:/ }).click()
    await page.getByText('1–50 of 60').first().waitFor()
    await expect.poll(() => search.inputValue()).toBe('')
  })

  it('pins the second page, so that new bans push nothing over its edge', async () => {
    await page.goto('bans')
    await page.getByRole('button', { name: 'Next' }).first().click()
    await page.getByText('51–60 of 60').waitFor()
    expect(page.url()).toMatch(/page=2/)
    expect(page.url()).toMatch(/to=2/)
    expect(await addresses()).toEqual(Array.from({ length: 10 }, (_, index) => `198.51.100.${10 - index}`))
    await page.getByRole('button', { name: 'First', exact: true }).first().click()
    await page.getByText('1–50 of 60').first().waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.waitForURL('**/bans')
  })

  it('names a wrong address instead of showing an empty list', async () => {
    await page.goto('bans?ip=198.51.100.300')
    await page.getByText('Not an address or range.').waitFor()
    await page.getByRole('button', { name: 'Remove Address 198.51.100.300' }).waitFor()
  })
})

describe.runIf(hasBrowser)('by keyboard alone', () => {
  it('goes from the list into a ban and back, and the focus is where it was', async () => {
    const server = await startServer()
    const admin = await server.setUp()
    const host = await aNewHost(server, admin.client, 'web-01')
    await host.ban('203.0.113.7')
    const { page, close } = await visit(server.url)
    try {
      await signIn(page, 'admin', password)
      await page.goto('bans?by=bans')
      await page.locator('[data-ban]').waitFor()
      await page.keyboard.press('Tab')
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
      await page.keyboard.press('Enter')
      await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content')
      for (let presses = 0; presses < 30; presses++) {
        await page.keyboard.press('Tab')
        if (await page.evaluate('document.activeElement.hasAttribute("data-ban")')) break
      }
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: '203.0.113.7' }).waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('203.0.113.7')
      await page.keyboard.press('Escape')
      await page.waitForURL('**/bans?by=bans')
      await expect.poll(() => page.evaluate('document.activeElement.hasAttribute("data-ban")')).toBe(true)
      // A dialog keeps the focus and gives it back.
      await page.getByRole('button', { name: 'Ban an address' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByLabel('Address or range').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Ban an address')
    } finally {
      await close()
      await server.close()
    }
  })
})
