import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* Tags as an administrator sets them, and what is aimed at them. */

describe.runIf(hasBrowser)('tags', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let desktop: Visit
  beforeAll(async () => {
    server = await startServer()
    admin = await server.setUp()
    for (const hostname of ['web-01', 'web-02', 'db-01'])
      await admin.client.call('POST /servers', { body: { hostname } })
    desktop = await visit(server.url, { bypassCSP: true })
    await signIn(desktop.page, 'admin', password)
  })
  afterAll(async () => {
    await desktop?.close()
    await server?.close()
  })
  const tags = async () =>
    (await admin.client.call('GET /servers/tags')).tags.map(({ tag, servers }) => `${tag} ${servers}`)

  it('are set for selected servers, and narrow the list', async () => {
    const { page, complaints } = desktop
    await go(page, 'servers')
    await page.getByRole('checkbox', { name: 'Select web-01' }).check()
    await page.getByRole('checkbox', { name: 'Select web-02' }).check()
    await page.getByRole('button', { name: 'Tags…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Tags of 2 servers' })
    await dialog.getByRole('button', { name: 'Change on 2 servers' }).click()
    await dialog.getByText('Enter a tag to add or to remove.').waitFor()
    await dialog.getByLabel('Add', { exact: true }).fill('web --all')
    await dialog.getByText('“--all” is not a tag.').waitFor()
    await dialog.getByLabel('Add', { exact: true }).fill('Web eu')
    await settled(page)
    expect(await breaches(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Change on 2 servers' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await expect.poll(tags).toEqual(['eu 2', 'web 2'])
    await page
      .getByRole('row', { name: /web-01/ })
      .getByRole('link', { name: 'web', exact: true })
      .click()
    await page.waitForURL('**/servers?q=tag*')
    await page.getByRole('row', { name: /db-01/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /web-02/ }).waitFor()
    expect(complaints).toEqual([])
  })

  it('are changed on the page of a server', async () => {
    const { page } = desktop
    const { servers } = await admin.client.call('GET /servers', { query: { search: 'db-01' } })
    await page.goto(`${server.url}/servers/${servers[0]?.id ?? ''}/settings`)
    await page.getByLabel('Tags').fill('db')
    await page.getByRole('button', { name: 'Add eu' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(tags).toEqual(['db 1', 'eu 3', 'web 2'])
  })

  it('are where a fleet ban holds', async () => {
    const { page } = desktop
    await go(page, 'fleet-bans')
    await page.getByRole('button', { name: 'New fleet ban' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address or range').fill('198.51.100.77')
    await dialog.getByRole('combobox', { name: 'Where' }).selectOption('tags')
    await dialog.getByRole('button', { name: 'Ban', exact: true }).click()
    await dialog.getByText('Choose at least one tag.').waitFor()
    await dialog.getByLabel('web').check()
    await settled(page)
    expect(await breaches(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Ban', exact: true }).click()
    await page.getByRole('dialog', { name: 'Ban 198.51.100.77' }).waitFor()
    const { fleet_bans: bans } = await admin.client.call('GET /fleet/bans')
    expect(bans.map(({ target }) => target)).toEqual([{ tags: ['web'] }])
    await dialog.getByRole('button', { name: 'Done' }).click()
  })

  it('are what a user may see, on a phone', async () => {
    const { id } = await admin.client.call('POST /users', {
      body: { username: 'carla', email: 'carla@stockade.example', password, role: 'Operator' },
    })
    const phone = await visit(server.url, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      bypassCSP: true,
    })
    const { page } = phone
    await signIn(page, 'admin', password)
    await page.goto(`${server.url}/users/${id}`)
    await page.getByRole('radio', { name: /^Chosen servers/ }).check()
    await page.getByText('Choose at least one server or tag.').waitFor()
    await page.getByLabel('web', { exact: true }).check()
    expect(await overflows(page)).toBe(false)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await expect
      .poll(async () => (await admin.client.call('GET /users/{userId}', { params: { userId: id } })).tags)
      .toEqual(['web'])
    await phone.close()
  })
})
