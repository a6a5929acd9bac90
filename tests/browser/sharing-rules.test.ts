import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aHost, password, startServer } from '@stockade/server/testing'
import type { EnrolledHost, Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* A sharing rule as an operator writes, simulates, arms and disarms it. */

const report = (host: EnrolledHost, ip: string) =>
  host.client.call('POST /bans/batch', { body: { bans: [{ ip, jail: 'sshd', ban_duration: 600 }] } })

describe.runIf(hasBrowser)('sharing rules', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let web: EnrolledHost
  let db: EnrolledHost
  let desktop: Visit
  beforeAll(async () => {
    server = await startServer()
    admin = await server.setUp()
    web = await aHost(server, admin.client, 'web-01')
    db = await aHost(server, admin.client, 'db-01')
    await admin.client.call('POST /whitelist', { body: { ip: '198.51.100.200' } })
    for (const ip of ['198.51.100.7', '198.51.100.200']) for (const host of [web, db]) await report(host, ip)
    desktop = await visit(server.url, { bypassCSP: true })
    await signIn(desktop.page, 'admin', password)
  })
  afterAll(async () => {
    await desktop?.close()
    await server?.close()
  })

  it('is simulated, shows whom it would have banned and whom never, and is turned on', async () => {
    const { page, complaints } = desktop
    await go(page, 'lists/rules')
    await page.getByRole('heading', { name: 'No sharing rules yet' }).waitFor()
    await page.getByRole('button', { name: 'New rule' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New sharing rule' })
    await dialog.getByLabel('Servers that ban the address').fill('2')
    await dialog.getByLabel('Within', { exact: true }).fill('8d')
    await dialog.getByRole('button', { name: 'Simulate' }).click()
    await dialog.getByText('Enter a time from 1 minute to 7 days').waitFor()
    await dialog.getByLabel('Within', { exact: true }).fill('1h')
    await dialog.getByRole('button', { name: 'Simulate' }).click()
    await dialog.getByText('Would have banned 1 address.').waitFor()
    const never = dialog.getByRole('list', { name: 'Never banned' })
    expect(await never.innerText()).toContain('198.51.100.200')
    expect(await never.innerText()).toContain('whitelisted: 198.51.100.200')
    expect(await dialog.getByRole('list', { name: 'Would be banned' }).innerText()).toContain('198.51.100.7')
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await dialog.getByText('Give the rule a name.').waitFor()
    await dialog.getByLabel('Name').fill('Two servers')
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('Two servers is on. The first ban comes with the next match.').waitFor()
    const rule = page.getByRole('listitem').filter({ hasText: 'Two servers' })
    await rule.getByRole('switch', { name: 'Two servers' }).and(page.locator(':checked')).waitFor()
    await rule.getByText('When an address is banned on 2 servers within 1 h, ban it on all servers for 1 d.').waitFor()
    expect(complaints).toEqual([])
  })

  it('bans, tells what it did, and takes it back', async () => {
    const { page, complaints } = desktop
    for (const host of [web, db]) await report(host, '198.51.100.9')
    await expect
      .poll(async () =>
        (await admin.client.call('GET /fleet/bans', { query: {} })).fleet_bans.map(({ entry }) => entry),
      )
      .toEqual(['198.51.100.9'])
    await go(page, 'lists/rules')
    await page.getByText('1 ban in 30 days').waitFor()
    await page.getByRole('button', { name: 'History of Two servers' }).click()
    const dialog = page.getByRole('dialog', { name: 'History of Two servers' })
    await dialog.getByText('198.51.100.9').waitFor()
    await settled(page)
    expect(await breaches(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    const onOff = page.getByRole('switch', { name: 'Two servers' })
    await onOff.click()
    await page.getByText('Two servers is off. Its bans stay until they end.').waitFor()
    await onOff.and(page.locator(':not(:checked)')).waitFor()
    await page.getByRole('button', { name: 'History of Two servers' }).click()
    await dialog.getByRole('button', { name: 'Lift its bans' }).click()
    await page.getByText('Its bans are being lifted.').waitFor()
    const { fleet_bans: standing } = await admin.client.call('GET /fleet/bans', { query: { active: true } })
    expect(standing).toEqual([])
    expect(complaints).toEqual([])
  })

  it('stands beside the other lists, and is turned on again there', async () => {
    const { page, complaints } = desktop
    await go(page, 'lists')
    await page.getByRole('link', { name: 'All: Sharing rules' }).waitFor()
    await settled(page)
    expect(await breaches(page)).toEqual([])
    const onOff = page.getByRole('switch', { name: 'Two servers' })
    await onOff.click()
    await page.getByText('Two servers is on. The first ban comes with the next match.').waitFor()
    await onOff.and(page.locator(':checked')).waitFor()
    expect(complaints).toEqual([])
  })

  it('has room on a phone', async () => {
    const { page } = desktop
    await page.setViewportSize({ width: 390, height: 844 })
    await go(page, 'lists')
    await page.getByRole('link', { name: 'All: Sharing rules' }).waitFor()
    await settled(page)
    expect(await overflows(page)).toBe(false)
    expect(await breaches(page)).toEqual([])
    await go(page, 'lists/rules')
    await page.getByRole('heading', { name: 'Two servers' }).waitFor()
    await settled(page)
    expect(await overflows(page)).toBe(false)
    expect(await breaches(page)).toEqual([])
  })
})
