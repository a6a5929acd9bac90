import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* Fleet bans and blocklists as an operator makes, follows and removes them. The host confirms as the agent does. */

const shield = { supported: true, mode: 'stateful', owned: true, driver: 'netlink', reason: null } as const

/** Takes the desired state and confirms it, as an agent does that holds all of it. */
const confirm = async ({ client }: Host): Promise<void> => {
  const state = await client.call('GET /agent/state')
  const { version, count, digest } = await client.call('GET /agent/shield/bans')
  await client.call('POST /agent/state/ack', {
    body: {
      version: state.version,
      whitelist_version: state.whitelist.version,
      entry_count: state.whitelist.count,
      shield: {
        bans: { version, held: count, digest, refused: [] },
        lists: state.shield.lists.map(list => ({
          ...{ id: list.id, version: list.version, mode: list.mode, digest: list.digest },
          held: list.entries,
        })),
      },
    },
  })
}

describe.runIf(hasBrowser)('fleet bans', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let host: Host
  let desktop: Visit
  beforeAll(async () => {
    server = await startServer({ env: staysOnline })
    admin = await server.setUp()
    host = await aNewHost(server, admin.client, 'web-01')
    await host.client.call('POST /servers/heartbeat', {
      body: {
        hostname: 'web-01',
        os: 'Debian GNU/Linux 12 (bookworm)',
        engine_version: '1.0.2',
        agent_version: '0.1.0',
        capabilities: { nftables: true, shield },
      },
    })
    desktop = await visit(server.url, { bypassCSP: true })
    await signIn(desktop.page, 'admin', password)
  })
  afterAll(async () => {
    await desktop?.close()
    await server?.close()
  })

  it('is made for all servers and followed until the firewall holds it', async () => {
    const { page, complaints } = desktop
    await go(page, 'fleet-bans')
    await page.getByRole('heading', { name: 'No fleet bans yet' }).waitFor()
    await page.getByRole('button', { name: 'New fleet ban' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Ban on all servers' }).click()
    await dialog.getByText('Enter an address or a range').waitFor()
    await dialog.getByLabel('Address or range').fill('198.51.100.0/28')
    await dialog.getByLabel('Duration', { exact: true }).fill('1 week')
    await dialog.getByLabel('Reason').fill('Credential stuffing')
    await dialog.getByText('No address of it is banned now.').waitFor()
    await dialog.getByRole('button', { name: 'Ban on all servers' }).click()
    await page.getByRole('dialog', { name: 'Ban 198.51.100.0/28' }).getByText('0 of 1 done').waitFor()
    await confirm(host)
    await dialog.getByText('Done on 1 server').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('row', { name: /198\.51\.100\.0\/28 Credential stuffing All servers/ }).waitFor()
    await page.getByText('1 of 1', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('refuses a whitelisted address in the words of the API, and bans one’s own only when it is meant', async () => {
    const { page } = desktop
    await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.7', description: 'Office' } })
    await page.getByRole('button', { name: 'New fleet ban' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address or range').fill('203.0.113.7')
    await dialog.getByRole('button', { name: 'Ban on all servers' }).click()
    await dialog
      .getByText(/whitelist/)
      .first()
      .waitFor()
    expect(await dialog.getByRole('button', { name: /^Ban anyway/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  it('stands on the page of an address in its range', async () => {
    const { page } = desktop
    await go(page, 'ip/198.51.100.3')
    await page.getByText(/Banned on 1 server by a fleet ban until/).waitFor()
    await page.getByRole('link', { name: /Fleet ban of 198\.51\.100\.0\/28 by admin/ }).click()
    await page.waitForURL('**/fleet-bans?search=*')
    await page.getByText('1 of 1', { exact: true }).waitFor()
  })

  it('is changed, and says which servers do not hold it', async () => {
    const { page } = desktop
    await page.getByRole('row', { name: /198\.51\.100\.0\/28/ }).hover()
    await page.getByRole('button', { name: 'Details of 198.51.100.0/28' }).click()
    const dialog = page.getByRole('dialog', { name: '198.51.100.0/28' })
    await dialog.getByText('Every server holds it.').waitFor()
    await dialog.getByRole('button', { name: 'Change…' }).click()
    const change = page.getByRole('dialog', { name: 'Change 198.51.100.0/28' })
    await change.getByLabel('New duration, from now', { exact: true }).fill('perm')
    await change.getByRole('button', { name: 'Save' }).click()
    await change.waitFor({ state: 'detached' })
    await page.getByText('Permanent', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Details of 198.51.100.0/28' }).click()
    await dialog.getByText('Waiting').waitFor()
    await dialog.getByRole('link', { name: 'web-01' }).waitFor()
    await confirm(host)
    await dialog.getByText('Every server holds it.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('is lifted at once, with an Undo', async () => {
    const { page } = desktop
    await page.getByRole('row', { name: /198\.51\.100\.0\/28/ }).hover()
    expect(await breaches(page)).toEqual([])
    await page.getByRole('button', { name: 'Lift everywhere: the fleet ban of 198.51.100.0/28' }).click()
    await page.getByText('198.51.100.0/28 is no longer banned on the fleet.').first().waitFor()
    await page.getByText('No fleet ban matches.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByRole('row', { name: /198\.51\.100\.0\/28/ }).waitFor()
    const { fleet_bans: bans } = await admin.client.call('GET /fleet/bans', { query: { active: true } })
    expect(bans).toMatchObject([{ entry: '198.51.100.0/28', expires_at: null, reason: 'Credential stuffing' }])
    await page.getByRole('button', { name: 'Ended' }).click()
    await page.waitForURL('**show=ended*')
    await page
      .getByText(/^Lifted/)
      .first()
      .waitFor()
  })

  it('goes with an unban of the address, if it is of that address alone', async () => {
    const { page } = desktop
    await admin.client.call('POST /fleet/bans', { body: { entry: '198.51.100.9', target: { all: true } } })
    await go(page, 'ip/198.51.100.9')
    await page.getByRole('link', { name: 'Fleet ban of 198.51.100.9 by admin' }).waitFor()
    await page.getByRole('button', { name: 'Unban everywhere' }).click()
    const dialog = page.getByRole('dialog', { name: 'Unban 198.51.100.9' })
    const ofAddress = dialog.getByLabel('Lift the fleet ban of 198.51.100.9 as well')
    await expect.poll(() => ofAddress.isChecked()).toBe(true)
    await expect.poll(() => dialog.getByLabel('Lift the fleet ban of 198.51.100.0/28 as well').isChecked()).toBe(false)
    await dialog.getByRole('button', { name: 'Unban on 1 server' }).click()
    // Else each later page would tell again that it is still under way.
    await dialog.getByText('0 of 1 done').waitFor()
    for (const { id } of await host.orders()) await host.answer(id)
    await dialog.getByText('Done on 1 server').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'Fleet ban of 198.51.100.9 by admin' }).waitFor({ state: 'detached' })
    const { fleet_bans: bans } = await admin.client.call('GET /fleet/bans', { query: { active: true } })
    expect(bans.map(({ entry }) => entry)).toEqual(['198.51.100.0/28'])
  })

  it('does not keep a restricted operator from an unban', async () => {
    const { id: userId } = await admin.client.call('POST /users', {
      body: { username: 'rita', email: 'rita@stockade.example', password, role: 'Operator' },
    })
    await admin.client.call('PUT /users/{userId}/server-access', {
      params: { userId },
      body: { access_type: 'specific', server_ids: [host.id] },
    })
    await admin.client.call('POST /fleet/bans', { body: { entry: '198.51.100.11', target: { all: true } } })
    const operator = await visit(server.url)
    try {
      const { page } = operator
      await signIn(page, 'rita', password)
      await go(page, 'ip/198.51.100.11')
      await page.getByRole('link', { name: 'Fleet ban of 198.51.100.11 by admin' }).waitFor()
      await page.getByRole('button', { name: 'Unban everywhere' }).click()
      const dialog = page.getByRole('dialog', { name: 'Unban 198.51.100.11' })
      const lifts = dialog.getByLabel('Lift the fleet ban of 198.51.100.11 as well')
      await lifts.waitFor()
      expect(await lifts.isChecked()).toBe(false)
      await dialog.getByRole('button', { name: 'Unban on 1 server' }).click()
      await dialog.getByRole('button', { name: 'Done' }).waitFor()
    } finally {
      await operator.close()
    }
    const { fleet_bans: bans } = await admin.client.call('GET /fleet/bans', { query: { active: true } })
    expect(bans.map(({ entry }) => entry)).toContain('198.51.100.11')
  })

  describe('and blocklists', () => {
    // A change of a few entries is always taken, so there are some: each second address, so that none are merged.
    const each = (start: string, first: number) =>
      Array.from({ length: 30 }, (_, index) => `${start}${first + 2 * index}\n`).join('')
    const source = createServer((request, reply) => {
      if (request.url === '/none.txt') reply.writeHead(404).end()
      else reply.end(each('198.51.100.', 130) + (request.url === '/two.txt' ? each('203.0.113.', 64) : ''))
    })
    let url: string
    beforeAll(async () => {
      await new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve))
      url = `http://127.0.0.1:${(source.address() as AddressInfo).port}`
    })
    afterAll(() => {
      source.closeAllConnections()
      source.close()
    })
    const details = () => desktop.page.getByRole('dialog', { name: 'Partner' })
    const openDetails = async () => {
      await desktop.page.getByRole('row', { name: /Partner/ }).hover()
      expect(await breaches(desktop.page)).toEqual([])
      await desktop.page.getByRole('button', { name: 'Details of Partner' }).click()
      await details().waitFor()
    }

    it('are looked at, subscribed to, and name an address on its page', async () => {
      const { page } = desktop
      await go(page, 'lists/blocklists')
      await page.getByRole('heading', { name: 'No blocklists yet' }).waitFor()
      await page.getByRole('button', { name: 'Subscribe to a blocklist' }).first().click()
      const dialog = page.getByRole('dialog', { name: 'Subscribe to a blocklist' })
      await dialog.getByLabel('List', { exact: true }).selectOption('Another URL')
      await dialog.getByRole('button', { name: 'Subscribe, only count' }).click()
      await expect.poll(() => dialog.getByText('Fill this in.').count()).toBe(2)
      await dialog.getByLabel('URL', { exact: true }).fill(`${url}/one.txt`)
      await dialog.getByLabel('Name').fill('Partner')
      await dialog.getByRole('button', { name: 'Look at it first' }).click()
      await dialog.getByText('The source is at a private or loopback address.').waitFor()
      await dialog.getByLabel('Read it from a private address').check()
      await dialog.getByRole('button', { name: 'Look at it first' }).click()
      await dialog.getByText(/30 entries, 30 IPv4 addresses/).waitFor()
      await dialog.getByRole('button', { name: 'Subscribe, only count' }).click()
      await dialog.waitFor({ state: 'detached' })
      await openDetails()
      await details().getByRole('button', { name: 'Read now' }).click()
      await details().getByText('30 entries, 30 IPv4 addresses').waitFor()
      await confirm(host)
      await details().getByText('Every server holds it.').waitFor()
      await page.keyboard.press('Escape')
      await go(page, 'ip/198.51.100.176')
      await page.getByText(/On the blocklist Partner \(198\.51\.100\.176, read .*\), which only counts\./).waitFor()
      await page.getByText('Never banned', { exact: true }).waitFor()
    })

    it('are edited within their bounds, and the host holds what was saved', async () => {
      // News of before would lie over the buttons of the dialog: it goes once the pointer is elsewhere.
      await desktop.page.mouse.move(700, 5)
      const news = desktop.page.getByRole('region', { name: 'News' }).getByRole('button')
      await expect.poll(() => news.count()).toBe(0)
      const { page } = desktop
      await go(page, 'lists/blocklists')
      await openDetails()
      await details().getByRole('button', { name: 'Edit…' }).click()
      const edit = page.getByRole('dialog', { name: 'Edit Partner' })
      await settled(page)
      expect(await breaches(page)).toEqual([])
      expect(await edit.getByLabel('Maximum change, in percent').inputValue()).toBe('50')
      await edit.getByLabel('URL', { exact: true }).fill(`${url}/two.txt`)
      await edit.getByLabel('Maximum entries').fill('0')
      await edit.getByLabel('Maximum change, in percent').fill('101')
      await edit.getByRole('button', { name: 'Save' }).click()
      await edit.getByText('Enter a number from 1 to 200,000.').waitFor()
      await edit.getByText('Enter a number from 0 to 100.').waitFor()
      await edit.getByLabel('Maximum entries').fill('1000')
      await edit.getByLabel('Maximum change, in percent').fill('12,5')
      await edit.getByLabel('Read every').selectOption('12 h')
      await edit.getByLabel('Format').selectOption('One entry a line')
      await edit.getByLabel('Mode').selectOption('Drops')
      await edit.getByLabel('Take ranges wider than /16 and /32').check()
      await edit.getByLabel('Where').selectOption('These servers')
      await edit.getByLabel('web-01').check()
      await edit.getByRole('button', { name: 'Look at it first' }).click()
      await edit.getByText(/60 entries, 60 IPv4 addresses/).waitFor()
      await edit.getByRole('button', { name: 'Save' }).click()
      await edit.waitFor({ state: 'detached' })
      const { lists } = await admin.client.call('GET /lists')
      expect(lists).toMatchObject([
        {
          ...{ name: 'Partner', source: { kind: 'url', url: `${url}/two.txt` }, format: 'plain', column: null },
          ...{ interval: 43_200, mode: 'enforce', max_entries: 1000, max_change: 0.125, max_addresses: 2 ** 20 },
          ...{ allow_private: true, allow_wide: true },
          target: { server_ids: [host.id] },
        },
      ])
    })

    it('refuse a version that changes too much until it is meant, then say whom they drop', async () => {
      const { page } = desktop
      await openDetails()
      await details().getByRole('button', { name: 'Read now' }).click()
      await details()
        .getByRole('alert')
        .getByText(/changes \d+ % of the entries/)
        .waitFor()
      await details().getByRole('button', { name: 'Apply the new version' }).click()
      await details().getByText('60 entries, 60 IPv4 addresses').waitFor()
      await confirm(host)
      await details().getByText('Every server holds it.').waitFor()
      await page.keyboard.press('Escape')
      await go(page, 'ip/203.0.113.70')
      await page.getByText('Dropped on 1 server by a blocklist').waitFor()
      await page.getByRole('link', { name: 'Partner' }).click()
      await page.waitForURL('**/lists/blocklists')
    })

    it('say that their source failed, and are unsubscribed with an Undo', async () => {
      const { page, complaints } = desktop
      await openDetails()
      await details().getByRole('button', { name: 'Edit…' }).click()
      const edit = page.getByRole('dialog', { name: 'Edit Partner' })
      await edit.getByLabel('URL', { exact: true }).fill(`${url}/none.txt`)
      await edit.getByRole('button', { name: 'Save' }).click()
      await edit.waitFor({ state: 'detached' })
      await openDetails()
      await details().getByRole('button', { name: 'Read now' }).click()
      await details().getByRole('alert').getByText('404').waitFor()
      // There is no version that could be applied.
      expect(await details().getByRole('button', { name: 'Apply the new version' }).count()).toBe(0)
      await details().getByRole('button', { name: 'Unsubscribe' }).click()
      await page.getByRole('heading', { name: 'No blocklists yet' }).waitFor()
      await page.getByRole('button', { name: 'Undo' }).first().click()
      await page.getByRole('row', { name: /Partner/ }).waitFor()
      expect(complaints.filter(said => !said.includes('status of 409'))).toEqual([])
    })
  })

  it('is accessible on a phone, where a viewer finds nothing to press', async () => {
    await admin.client.call('POST /users', {
      body: { username: 'vera', email: 'vera@stockade.example', password, role: 'Viewer' },
    })
    const phone = await visit(server.url, { viewportName: 'phone', scheme: 'dark', bypassCSP: true })
    try {
      const { page } = phone
      await signIn(page, 'vera', password)
      await go(page, 'fleet-bans')
      await page.getByRole('link', { name: '198.51.100.0/28' }).waitFor()
      await settled(page)
      expect(await page.getByRole('button', { name: 'New fleet ban' }).count()).toBe(0)
      expect(await breaches(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
      await page.getByRole('button', { name: /^Details of 198\.51\.100\.0\/28/ }).click()
      const dialog = page.getByRole('dialog', { name: '198.51.100.0/28' })
      await dialog.waitFor()
      expect(await dialog.getByRole('button', { name: 'Lift everywhere' }).count()).toBe(0)
      expect(await breaches(page)).toEqual([])
      await page.keyboard.press('Escape')
      const { lists } = await admin.client.call('GET /lists')
      const name = `Partner-${'x'.repeat(90)}`
      await admin.client.call('PATCH /lists/{id}', { params: { id: lists[0]?.id ?? 0 }, body: { name } })
      await go(page, 'lists/blocklists')
      await page.getByRole('button', { name: /^Details of Partner-x+/ }).click()
      const list = page.getByRole('dialog', { name })
      await list.waitFor()
      // A long name pushes neither text nor the way out beyond the edge.
      const edges = await list.getByRole('button').evaluateAll(all => all.map(one => one.getBoundingClientRect().right))
      expect(Math.max(...edges)).toBeLessThanOrEqual(390)
      expect(await list.getByRole('button').allInnerTexts()).toEqual(['', 'Close'])
    } finally {
      await phone.close()
    }
  })
})
