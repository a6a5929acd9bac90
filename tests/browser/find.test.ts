import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { password, startServer, within } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { breaches, hasBrowser, overflows, signIn } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* Ctrl K: from anywhere to an address, a server, a page or an action. */

const { visit } = useBrowser()

describe.runIf(hasBrowser)('the find box', () => {
  let server: TestServer
  let host: Host
  let admin: Client
  let page: Page
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer({ env: staysOnline })
    const { client } = await server.setUp()
    admin = client
    host = await aNewHost(server, client, 'web-01')
    await host.beat()
    await host.hold()
    await host.ban('203.0.113.7')
    ;({ page, close } = await visit(server.url))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const box = () => page.getByRole('combobox', { name: 'Find an address, server or page' })
  /** Only once the last box is gone: the keys would close that one. */
  const open = async () => {
    await box().waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await box().waitFor()
  }
  const fleetBans = async () =>
    (await admin.call('GET /fleet/bans', { query: { active: true } })).fleet_bans.map(({ entry }) => entry)
  const find = async (typed: string) => {
    await open()
    await box().fill(typed)
  }

  it('goes to an address by keyboard alone, and gives the focus back', async () => {
    await find('Failed password from 203.0.113.7 port 22')
    await page.getByRole('option', { name: 'About 203.0.113.7' }).waitFor()
    expect(await breaches(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.waitForURL('**/ip/203.0.113.7?taken=1')
    await page.getByText('Banned on 1 server').first().waitFor()
    await page.keyboard.press('Control+k')
    await box().waitFor()
    await page.keyboard.press('Escape')
    await box().waitFor({ state: 'detached' })
  })
  it('bans from wherever one is, with two more keys', async () => {
    await find('198.51.100.9')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.getByLabel('Address or range', { exact: true }).inputValue()).toBe('198.51.100.9')
    await dialog.getByRole('button', { name: 'Ban on all servers' }).click()
    await expect.poll(fleetBans).toContain('198.51.100.9')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })
  it('bans on all servers with one click, unless the address is one that must get in', async () => {
    await find('198.51.100.10')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Ban on all servers' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Banning 198.51.100.10 on all servers…').first().waitFor()
    expect(await fleetBans()).toContain('198.51.100.10')
    await page.getByRole('region', { name: 'News' }).getByRole('button', { name: 'Undo' }).last().click()
    await expect.poll(fleetBans).not.toContain('198.51.100.10')
    await admin.call('POST /whitelist', { body: { ip: '198.51.100.11' } })
    await find('198.51.100.11')
    await dialog.getByText('Whitelisted').first().waitFor()
    expect(await dialog.getByRole('button', { name: /^Ban/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
  })
  it('loses no key that is typed while it loads, and lets none act on the page', async () => {
    const slow = await visit(server.url)
    const held = Promise.withResolvers<void>()
    try {
      await signIn(slow.page, 'admin', password)
      await slow.page.route(/find-dialog/, async route => {
        await within(held.promise, 'the end of the typing')
        await route.continue()
      })
      // Its key `a` adds an entry, and `z` takes the last change back.
      await slow.page.goto('whitelist')
      await slow.page.getByRole('heading', { name: 'Whitelist', level: 1 }).waitFor()
      await slow.page.getByText('Live', { exact: true }).waitFor()
      await slow.page.keyboard.press('Control+k')
      await slow.page.keyboard.type('azanna 203.0.113.66', { delay: 20 })
      await slow.page.keyboard.press('Backspace')
      await slow.page.getByText('azanna 203.0.113.6', { exact: true }).waitFor()
      expect(await slow.page.getByRole('dialog').count()).toBe(0)
      held.resolve()
      const typed = slow.page.getByRole('combobox', { name: 'Find an address, server or page' })
      await expect.poll(() => typed.inputValue()).toBe('azanna 203.0.113.6')
      await slow.page.keyboard.type('6')
      await expect.poll(() => typed.inputValue()).toBe('azanna 203.0.113.66')
      expect(await slow.page.getByRole('dialog').count()).toBe(1)
    } finally {
      held.resolve()
      await slow.close()
    }
  })
  it('offers the ways of an address that is banned, also to lift it', async () => {
    await find('203.0.113.7')
    await page.getByRole('option', { name: 'Unban 203.0.113.7 everywhere…' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Unban on 1 server/ })
      .waitFor()
    await page.keyboard.press('Escape')
  })
  it('copies what a page asks of the API as a line that works', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('bans?jail=sshd&by=bans')
    await page.getByText('203.0.113.7').first().waitFor()
    await find('curl')
    await page.keyboard.press('Enter')
    await page
      .getByText(/^Copied the (\d+ requests|request) of this page/)
      .first()
      .waitFor()
    const lines = (await page.evaluate<string>('navigator.clipboard.readText()')).split('\n')
    for (const line of lines)
      expect(line).toMatch(/^curl -sS -H "Authorization: Bearer \$STOCKADE_API_KEY" 'http[^']+'$/)
    const line = lines.find(line => line.includes('/api/v1/bans?')) ?? ''
    const { key } = await admin.call('POST /keys', { body: { name: 'curl', permissions: 'read' } })
    const env = { PATH: process.env.PATH, STOCKADE_API_KEY: key }
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env })
    expect(JSON.parse(stdout)).toMatchObject({ total: 1, bans: [{ ip: '203.0.113.7', jail: 'sshd' }] })
  })
  it('finds servers, settings and actions, and remembers', async () => {
    await find('web-')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/servers/*/overview')
    await find('session')
    await page.getByRole('option', { name: 'Sign out after inactivity' }).click()
    await page.waitForURL('**/settings/security')
    await find('dark')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.documentElement.dataset.mantineColorScheme')).toBe('dark')
    await open()
    // Of the box: the page below it has lists of its own.
    const options = page.getByRole('dialog').getByRole('option')
    await options.filter({ hasText: 'web-01' }).first().waitFor()
    await expect.poll(() => options.first().textContent()).toBe('web-01')
    await box().fill('nothing of that name')
    await page.getByText('Nothing is called “nothing of that name”.').waitFor()
    await page.keyboard.press('Escape')
  })
  it('fills the screen of a phone, which has room for it in its bar', async () => {
    const phone = await visit(server.url, { viewportName: 'phone' })
    try {
      await signIn(phone.page, 'admin', password)
      await phone.page.getByRole('button', { name: 'Find an address, server or page' }).click()
      await phone.page.getByRole('combobox').fill('203.0.113.7')
      await phone.page.getByRole('option', { name: 'Unban 203.0.113.7 everywhere…' }).waitFor()
      expect(await overflows(phone.page)).toBe(false)
      expect(await breaches(phone.page)).toEqual([])
      await phone.page.getByRole('option', { name: 'About 203.0.113.7' }).click()
      await phone.page.waitForURL('**/ip/203.0.113.7')
    } finally {
      await phone.close()
    }
  })
})
