import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aHost, password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* A feed from its preview to its new token. */

describe.runIf(hasBrowser)('feeds', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let desktop: Visit
  beforeAll(async () => {
    server = await startServer()
    admin = await server.setUp()
    const web = await aHost(server, admin.client, 'web-01')
    for (const [ip, jail] of [
      ['198.51.100.7', 'sshd'],
      ['203.0.113.9', 'nginx'],
    ] as const)
      await web.client.call('POST /bans/batch', { body: { bans: [{ ip, jail, ban_duration: 600 }] } })
    desktop = await visit(server.url, { bypassCSP: true })
    await signIn(desktop.page, 'admin', password)
  })
  afterAll(async () => {
    await desktop?.close()
    await server?.close()
  })

  it('is found from the page of all lists', async () => {
    await go(desktop.page, 'lists')
    for (const name of ['No fleet bans yet', 'No blocklists yet', 'No sharing rules yet'])
      await desktop.page.getByRole('heading', { name }).waitFor()
    await desktop.page.getByRole('link', { name: 'Feeds' }).click()
    await desktop.page.waitForURL('**/lists/feeds')
  })
  it('is previewed, created, and shows its URL once, with lines for a program', async () => {
    const { page, complaints } = desktop
    await go(page, 'lists/feeds')
    await page.getByRole('heading', { name: 'No feeds yet' }).waitFor()
    await page.getByRole('button', { name: 'New feed' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New feed' })
    await dialog.getByLabel('Only bans that match').fill('jail:sshd')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('Holds 1 entry now (1 IPv4, 0 IPv6).').waitFor()
    await dialog.getByRole('button', { name: 'Create feed' }).click()
    await dialog.getByText('Give the feed a name.').waitFor()
    await dialog.getByLabel('Name').fill('Office firewall')
    await dialog.getByRole('button', { name: 'Create feed' }).click()
    const once = page.getByRole('dialog', { name: 'URL of Office firewall' })
    const url = await once.getByLabel('URL of the feed').inputValue()
    await once.getByLabel('Program').first().selectOption('nginx')
    const lines = await once.getByLabel('Lines for the program').inputValue()
    expect(lines).toContain(`${url}?format=nginx`)
    expect(await (await fetch(`${server.url}${new URL(url).pathname}`)).text()).toBe('198.51.100.7\n')
    await settled(page)
    expect(await breaches(page)).toEqual([])
    await once.getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('listitem').filter({ hasText: 'Office firewall' })
    await row.getByText('Bans of servers that match jail:sshd, and fleet bans').waitFor()
    expect(complaints).toEqual([])
  })

  it('has room on a phone, and gets a new token that ends the old URL', async () => {
    const { page, complaints } = desktop
    await page.setViewportSize({ width: 390, height: 844 })
    await go(page, 'lists/feeds')
    await page.getByText('Downloaded').waitFor()
    await settled(page)
    expect(await overflows(page)).toBe(false)
    expect(await breaches(page)).toEqual([])
    await page.getByRole('button', { name: 'New token for Office firewall' }).click()
    await page.getByRole('button', { name: 'Create a new token' }).click()
    const once = page.getByRole('dialog', { name: 'URL of Office firewall' })
    await once.getByLabel('URL of the feed').waitFor()
    await once.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Delete Office firewall' }).click()
    await page.getByRole('button', { name: 'Delete the feed' }).click()
    await page.getByRole('heading', { name: 'No feeds yet' }).waitFor()
    expect((await admin.client.call('GET /fleet/feeds')).feeds).toEqual([])
    expect(complaints).toEqual([])
  })
})
