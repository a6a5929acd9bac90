import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Viewport } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* Whom a jail or a template would have banned, as an operator asks for it. */

const attacked = new Date(Date.now() - 3 * 3_600_000).toISOString()
const rows = ['203.0.113.7', '203.0.113.8', '2001:db8::9'].map((ip, index) => ({
  ...{ ip, failures: 9 - index, banned_at: attacked, bans: 1, stopped: 0 },
  whitelisted: index === 1,
  signed_in_at: index === 2 ? attacked : null,
}))
const answer = (more: object = {}) =>
  JSON.stringify({
    ...{ jail: 'sshd', settings: { maxretry: 3, findtime: 600, bantime: 600 }, failures: 24, other_ids: 0 },
    ...{ banned: 2, whitelisted: 1, signed_in: 1, addresses: rows },
    log: { from: attacked, to: attacked, lines: 30_000, long_lines: 0, read_bytes: 9, total_bytes: 9, cut: null },
    ...more,
  })

describe.runIf(hasBrowser).each<Viewport>(['desktop', 'phone'])('a preview on a %s', viewportName => {
  const { visit } = useBrowser()
  let server: TestServer
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  const hosts: Host[] = []
  beforeAll(async () => {
    server = await startServer({ env: staysOnline })
    const admin = await server.setUp()
    for (const name of ['web-01', 'web-02']) {
      const host = await aNewHost(server, admin.client, name)
      await host.beat(['sshd'])
      hosts.push(host)
    }
    ;({ page, complaints, close } = await visit(server.url, { viewportName, bypassCSP: true }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const dialog = () => page.getByRole('dialog')
  const fits = async () => {
    await settled(page)
    expect(await breaches(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
  }
  const answers = async (host: Host | undefined, success: boolean, output: string) => {
    const [order] = (await host?.orders()) ?? []
    await host?.answer(order?.id ?? '', success, output)
    return order
  }

  it('of a jail is asked on the page of its server, and names who is spared and who signed in later', async () => {
    await go(page, `servers/${hosts[0]?.id}/jails`)
    await page.getByRole('button', { name: /What would it have banned\?.*sshd/ }).click()
    await dialog().getByRole('button', { name: '3 days' }).click()
    await dialog().getByLabel('Failures until a ban').fill('0')
    await dialog().getByRole('button', { name: 'Ask 1 server' }).click()
    await dialog().getByText('1 to 1000').waitFor()
    await dialog().getByLabel('Failures until a ban').fill('3')
    await fits()
    await dialog().getByRole('button', { name: 'Ask 1 server' }).click()
    await dialog().getByText('Reads its log…').waitFor()
    expect(await answers(hosts[0], true, answer())).toMatchObject({
      type: 'jail-preview',
      params: { jail: 'sshd', days: 3, maxretry: 3 },
    })
    await dialog().getByText('2 addresses would have been banned.').waitFor()
    await dialog().getByText('30,000 lines of the log were read.').waitFor()
    const list = dialog().getByRole('list', { name: 'Addresses on web-01' })
    expect(await list.getByRole('listitem').count()).toBe(3)
    await list.getByText('9 attempts · first ban 3 h ago').waitFor()
    await list.getByText('Whitelisted').waitFor()
    await list.getByText('Signed in later:').waitFor()
    await fits()
  })

  it('of a template is asked of servers that do not have it, and each answers by itself', async () => {
    await go(page, 'templates/nginx-botsearch')
    await page.getByRole('button', { name: 'What would it have banned?' }).click()
    await dialog().getByRole('button', { name: 'Ask 0 servers' }).click()
    await dialog().getByText('Choose a server.').waitFor()
    await dialog().getByRole('button', { name: 'All', exact: true }).click()
    await dialog().getByLabel('Within').fill('10m')
    await fits()
    await dialog().getByRole('button', { name: 'Ask 2 servers' }).click()
    await dialog().getByText('Reads its log…').first().waitFor()
    const none = { banned: 0, whitelisted: 0, signed_in: 0, addresses: [] }
    expect(await answers(hosts[0], true, answer(none))).toMatchObject({
      type: 'template-preview',
      params: { days: 1, settings: { findtime: 600 } },
    })
    await answers(hosts[1], false, 'precondition: nginx-botsearch: none of its logs is on this host')
    await dialog().getByText('Nobody would have been banned.').waitFor()
    await dialog().getByText('none of its logs is on this host').waitFor()
    await fits()
    await dialog().getByRole('button', { name: 'Ask again' }).click()
    await dialog().getByRole('button', { name: 'Ask 2 servers' }).waitFor()
    expect(complaints).toEqual([])
  })
})
