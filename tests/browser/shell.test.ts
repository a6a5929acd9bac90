import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, built, hasBrowser, launch, signIn, visit } from './browser.ts'
import { enrol } from './host.ts'
import type { Host } from './host.ts'

/* What surrounds every page: undoing, what goes on, keys, preferences, the live state, and several tabs of one browser. */
describe.runIf(hasBrowser)('the shell', () => {
  let browser: Browser
  let server: TestServer
  let admin: Signed
  let host: Host
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  beforeAll(async () => {
    await built()
    browser = await launch()
    server = await startServer({ env: { STOCKADE_RATE_LIMIT: '0' } })
    admin = await server.setUp()
    const made = await admin.client.call('POST /servers', { body: { hostname: 'web-01' } })
    host = await enrol(server, made.install_command)
    await host.beat(['sshd', 'postfix'])
    ;({ page, complaints, close } = await visit(browser, server.url, { bypassCSP: true }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await browser?.close()
    await server?.close()
  })
  const news = () => page.getByRole('region', { name: 'News' })
  const undo = () => news().getByRole('button', { name: 'Undo' })

  describe('undoing', () => {
    it('takes an unban back before the host has heard of it', async () => {
      await host.ban('203.0.113.7')
      await page.goto('ip/203.0.113.7')
      await page.getByRole('button', { name: 'Unban 203.0.113.7 from sshd on web-01' }).click()
      await news().getByText('Unban of 203.0.113.7 from sshd on web-01 is on its way.').waitFor()
      expect(await breaches(page)).toEqual([])
      await undo().click()
      await news().getByText('Undone before it ran.').waitFor()
      expect(await host.orders()).toEqual([])
    })
    it('bans again, for what was left, when the unban has run', async () => {
      await host.ban('203.0.113.8')
      await page.goto('ip/203.0.113.8')
      await page.getByRole('button', { name: 'Unban 203.0.113.8 from sshd on web-01' }).click()
      await undo().waitFor()
      const [order] = await host.orders()
      await host.answer(order?.id ?? '')
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
      await undo().click()
      await expect
        .poll(async () => (await host.orders()).map(({ type, params }) => [type, params.jail]))
        .toEqual([['jail-enable', 'postfix']])
      await page.getByRole('button', { name: 'Disable: sshd' }).click()
      await undo().waitFor()
      await page.route('**/api/v1/commands/*', route =>
        route.request().method() === 'DELETE'
          ? route.fulfill({ status: 503, json: { error: 'Unavailable', message: 'Not now.' } })
          : route.continue(),
      )
      await undo().click()
      await page.getByRole('alert').getByText('Could not undo it: Not now.').waitFor()
      await page.unroute('**/api/v1/commands/*')
      complaints.splice(0, complaints.length, ...complaints.filter(text => !text.includes('503')))
      await page.getByRole('alert').getByRole('button', { name: 'Close this' }).click()
      for (const { id } of await host.orders()) await host.answer(id)
    })
    it('takes an address off the whitelist without a question, and puts it back as it was', async () => {
      await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.9', description: 'Anna' } })
      await page.goto('whitelist')
      await page.getByRole('button', { name: 'Remove 192.0.2.9' }).click()
      await news().getByText('192.0.2.9 is off the whitelist.').waitFor()
      expect((await admin.client.call('GET /whitelist')).total).toBe(0)
      await undo().click()
      await news().getByText('192.0.2.9 is on the whitelist again.').waitFor()
      expect((await admin.client.call('GET /whitelist')).whitelist).toMatchObject([
        { ip: '192.0.2.9', description: 'Anna' },
      ])
    })
    it('shows three at most, and keeps them while the pointer is on them', async () => {
      await page.clock.install()
      await page.goto('whitelist')
      const wait = async (ip: string) => {
        await page.getByRole('button', { name: 'Add', exact: true }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Addresses and ranges').fill(ip)
        await dialog.getByRole('button', { name: 'Add' }).click()
        await dialog.getByRole('button', { name: 'Done' }).click()
        await news().getByText(`${ip} is on the whitelist.`).waitFor()
      }
      for (const last of [11, 12, 13, 14]) await wait(`192.0.2.${last}`)
      expect(await undo().count()).toBe(3)
      await undo().last().hover()
      await page.clock.fastForward(9000)
      expect(await undo().count()).toBeGreaterThan(0)
      await page.mouse.move(700, 100)
      await page.clock.fastForward(9000)
      await expect.poll(() => undo().count()).toBe(0)
    })
  })
})
