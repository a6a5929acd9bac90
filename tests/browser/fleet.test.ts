import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { startDnsServer } from '../../packages/server/src/testing/dns-server.ts'
import type { DnsServer } from '../../packages/server/src/testing/dns-server.ts'
import { go, hasBrowser, overflows, signIn, sizes } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* What an operator does with a fleet: ban and unban everywhere, whitelist an office, deploy a template, look into an address. */
describe.runIf(hasBrowser).each(sizes)('a fleet of three on a %s', viewportName => {
  let dns: DnsServer
  let server: TestServer
  let admin: Signed
  const { visit } = useBrowser()
  let page: Page
  let complaints: string[]
  const hosts: Host[] = []
  const names = ['web-01', 'web-02', 'db-01']

  beforeAll(async () => {
    dns = await startDnsServer()
    server = await startServer({ env: { STOCKADE_DNS_SERVERS: dns.address, ...staysOnline } })
    admin = await server.setUp()
    for (const name of names) {
      const host = await aNewHost(server, admin.client, name)
      await host.beat(['sshd'])
      hosts.push(host)
    }
    ;({ page, complaints } = await visit(server.url, { viewportName }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await server?.close()
    await dns?.close()
  })
  const dialog = () => page.getByRole('dialog')
  /** Each host does what waits for it; one may be said to fail. */
  const work = async (failing?: string) => {
    const done: string[] = []
    for (const [index, host] of hosts.entries())
      for (const { id, type, params } of await host.orders()) {
        const fails = names[index] === failing
        await host.answer(id, !fails, fails ? 'no log file matches' : 'ok')
        done.push(`${names[index] ?? ''} ${type} ${String(params.ip ?? '')} ${String(params.jail ?? '')}`.trim())
      }
    return done
  }
  const clean = async () => {
    expect(complaints).toEqual([])
    expect(await overflows(page)).toBe(false)
  }

  it('bans an address everywhere, with two clicks from its page', async () => {
    await go(page, 'ip/198.51.100.9')
    await page.getByText('Never banned', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Ban…' }).click()
    for (const host of hosts) await host.hold()
    await dialog().getByRole('button', { name: '1 week' }).click()
    await dialog().getByRole('button', { name: 'Ban on all servers' }).click()
    await dialog().getByText('0 of 3 done').waitFor()
    const [fleetBan] = (await admin.client.call('GET /fleet/bans')).fleet_bans
    expect(fleetBan).toMatchObject({ entry: '198.51.100.9', target: { all: true } })
    const days = (Date.parse(fleetBan?.expires_at ?? '') - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(7)
    for (const host of hosts) await host.hold()
    await dialog().getByText('Done on 3 servers').waitFor()
    expect(await work()).toEqual([])
    for (const host of hosts) await host.ban('198.51.100.9', { jail: 'stockade' })
    await dialog().getByRole('button', { name: 'Done' }).click()
    await page.getByText(/^Banned on 3 servers/).waitFor()
    await clean()
  })

  it('lifts it everywhere and whitelists it in the same dialog', async () => {
    await page.getByRole('button', { name: 'Unban everywhere' }).click()
    await dialog().getByText('Whitelist it as well').click()
    await dialog().getByLabel('Description').fill('Anna at home')
    await dialog().getByRole('button', { name: 'Unban on 3 servers' }).click()
    await dialog().getByText('0 of 3 done').waitFor()
    const done = await work()
    for (const name of names) expect(done).toContain(`${name} unban-ip 198.51.100.9 *`)
    await dialog().getByText('Done on 3 servers').waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
    await page.getByText('Whitelisted by 198.51.100.9').waitFor()
    expect((await admin.client.call('GET /fleet/bans', { query: { active: true } })).total).toBe(0)
    const [entry] = (await admin.client.call('GET /whitelist')).whitelist
    expect(entry?.description).toBe('Anna at home')
    const hours = (Date.parse(entry?.expires_at ?? '') - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThanOrEqual(24)
    await clean()
  })

  it('whitelists an office and sees each host confirm', async () => {
    await hosts[0]?.ban('192.0.2.44')
    await go(page, 'whitelist')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog().getByLabel('Addresses and ranges').fill('192.0.2.0/24 # Office\nnonsense')
    await dialog().getByRole('button', { name: 'Add' }).click()
    await dialog().getByText('Line 2: nonsense is no address or range.').waitFor()
    await dialog().getByLabel('Addresses and ranges').fill('192.0.2.0/24 # Office')
    await dialog().getByText('256 addresses. Lifts 1 current ban.').waitFor()
    await dialog().getByLabel('Expires', { exact: true }).selectOption('At…')
    await dialog().getByLabel('Expires at, in this browser’s time').fill('2020-01-01T00:00')
    await dialog().getByRole('button', { name: 'Add' }).click()
    await dialog().getByText('Enter a time in the future').waitFor()
    await dialog().getByLabel('Expires', { exact: true }).selectOption('In 1 hour')
    await dialog().getByRole('button', { name: 'Add' }).click()
    await dialog().getByText('0 of 3 done').waitFor()
    expect(await work()).toEqual(['web-01 unban-ip 192.0.2.44 *'])
    for (const [index, host] of hosts.entries()) {
      const { version, whitelist } = await host.client.call('GET /agent/state')
      await host.client.call('POST /agent/state/ack', {
        body: { version, whitelist_version: whitelist.version, entry_count: whitelist.count },
      })
      await dialog()
        .getByText(index < 2 ? `${index + 1} of 3 done` : 'Done on 3 servers')
        .waitFor()
    }
    await dialog().getByRole('button', { name: 'Done' }).click()
    await expect.poll(() => page.locator('[data-sync="synced"]').count()).toBe(3)
    await page.getByText(/5\d min left/).waitFor()
    await page.getByRole('button', { name: 'Edit 192.0.2.0/24' }).click()
    await dialog().getByLabel('Expires', { exact: true }).selectOption('Never')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await page.getByText(/5\d min left/).waitFor({ state: 'detached' })
    expect((await admin.client.call('GET /whitelist')).whitelist[1]).toMatchObject({
      description: 'Office',
      expires_at: null,
    })
    await page.getByRole('searchbox').fill('192.0.2.77')
    await page.getByText('192.0.2.77 is covered by Office (192.0.2.0/24).').waitFor()
    await clean()
  })

  it('whitelists a DNS name, and sees its address and what is wrong with it', async () => {
    dns.replies.set('office.dyn.example', { addresses: ['198.51.100.77'] })
    await go(page, 'whitelist')
    for (const name of ['office.dyn.example', 'none.dyn.example']) {
      await page.getByRole('button', { name: 'Add a name' }).click()
      await dialog().getByLabel('DNS name').fill(name)
      await dialog().getByRole('button', { name: 'Add', exact: true }).click()
      await dialog().waitFor({ state: 'detached' })
    }
    await page.locator('[data-name="office.dyn.example"]').getByText('198.51.100.77').waitFor()
    await page
      .locator('[data-name="none.dyn.example"]')
      .getByText(/^Last look-up .*The name does not exist/)
      .waitFor()
    await page.getByRole('button', { name: 'Edit 198.51.100.77' }).waitFor()
    await page.getByRole('button', { name: 'Remove office.dyn.example' }).click()
    await page.getByRole('button', { name: 'Edit 198.51.100.77' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove none.dyn.example' }).click()
    await page.locator('[data-name]').first().waitFor({ state: 'detached' })
    await clean()
  })

  it('shows what a jail bans that is no address with the jail', async () => {
    const [host] = hosts
    await host?.client.call('POST /servers/heartbeat', {
      body: {
        hostname: 'web-01',
        jails: [{ name: 'sshd', enabled: true, current_bans: 0, other_ids: { count: 7, ids: ['joe', 'ann'] } }],
      },
    })
    await go(page, `servers/${host?.id ?? ''}/jails`)
    await page.getByText('Bans 7 ids that are no address: joe, ann').waitFor()
    await host?.beat(['sshd'])
    await clean()
  })

  it('deploys a template, sees what failed, and tries again only there', async () => {
    await go(page, 'templates?search=sshd')
    await page.getByRole('link', { name: 'SSH', exact: true }).click()
    await page.getByRole('link', { name: 'Deploy' }).click()
    await page.getByRole('button', { name: 'All online' }).click()
    await page.getByText('3 servers chosen').waitFor()
    await page.getByRole('button', { name: 'Change settings' }).click()
    await page.getByLabel('Failures until a ban').fill('0')
    await page.getByRole('button', { name: 'Review' }).click()
    await page.getByText('Enter a whole number from 1 to 1000.').waitFor()
    await page.getByLabel('Failures until a ban').fill('3')
    await page.getByRole('button', { name: 'Review' }).click()
    await page.getByText('Failures until a ban: 3').waitFor()
    await page.getByRole('button', { name: 'Deploy to 3 servers' }).click()
    // The receipt stands where the wizard was, as in a dialog.
    const receipt = page.getByRole('main')
    await receipt.getByText('0 of 3 done').waitFor()
    expect(await work('web-02')).toHaveLength(3)
    await receipt.getByText('Done on 2 servers, failed on 1').waitFor()
    await receipt.getByRole('link', { name: 'View progress per server' }).click()
    await page.waitForURL('**/batches/*')
    await receipt.getByText('no log file matches', { exact: true }).waitFor()
    await receipt.getByRole('button', { name: 'Retry on 1 server that failed' }).click()
    await receipt.getByText('0 of 1 done').waitFor()
    expect(await work()).toEqual(['web-02 deploy-template'])
    await receipt.getByText('Done on 1 server').waitFor()
    await go(page, 'commands')
    await page.getByText('3 servers').first().waitFor()
    await clean()
  })

  it('tries lines of a log with a template before it goes anywhere', async () => {
    await page.goto('templates/new?from=proxmox')
    await page.getByRole('button', { name: 'Fill in an example' }).click()
    await page.getByText('2 of 3 lines match.').waitFor()
    const results = page.getByRole('list', { name: 'The lines, and what the filter finds' }).getByRole('listitem')
    await expect
      .poll(() => results.allInnerTexts())
      .toEqual([
        expect.stringMatching(/^Line 1\s+matches, 203\.0\.113\.80\s/),
        expect.stringMatching(/^Line 2\s+matches, 2001:db8::80\s/),
        expect.stringMatching(/^Line 3\s+does not match\s/),
      ])
    // The marks follow the filter as well as the lines.
    const typed = await page.getByLabel('Filter', { exact: true }).inputValue()
    await page.getByLabel('Filter', { exact: true }).fill(`${typed}ignoreregex = root@pam msg`)
    await page.getByText('Lines are tried once the template has no errors.').waitFor()
    await page.getByLabel('Filter', { exact: true }).fill(typed.replace('ignoreregex =', 'ignoreregex = 2001:'))
    await page.getByText('1 of 3 lines match.').waitFor()
    const sample = page.getByLabel('Sample log')
    await sample.fill(`${await sample.inputValue()}\nERROR Nov 20 13:01:05 <img src=x onerror=alert(1)>\u202e`)
    await page.getByText('1 of 3 lines match. 1 line was not tried.').waitFor()
    await page.getByText('"ERROR" stands where a time zone may stand').waitFor()
    await results.last().getByRole('button', { name: 'Line 4' }).click()
    await expect.poll(() => page.evaluate('document.getSelection().toString()')).toMatch(/^ERROR Nov 20/)
    await clean()
    await sample.fill('a\n'.repeat(201))
    await page.getByText('These are 201 lines; 200 can be tried at once.').waitFor()
    await sample.fill('')
    await results.first().waitFor({ state: 'detached' })
    await page.goto('templates/sshd/edit')
    await page.getByLabel('Sample log').fill('Nov 20 12:02:07 host1 sshd[123]: Failed password for root')
    await page.getByText('The filter sshd lies on the servers').waitFor()
    await clean()
  })

  it('looks into an address out of a line of a log', async () => {
    await hosts[1]?.ban('203.0.113.7', { log_lines: 'Failed password for root from 203.0.113.7 port 4242 ssh2' })
    await go(page, 'ip')
    await page.getByLabel('Address').fill('203.0.113.300')
    await page.getByRole('button', { name: 'Look up', exact: true }).click()
    await page.getByText('203.0.113.300: the last part, 300, is above 255.').waitFor()
    await page.getByLabel('Address').fill('sshd[812]: Failed password for root from 203.0.113.7 port 4242')
    // The answer and what can be done stand below the field, before the page of the address is opened.
    await page.getByRole('heading', { name: '203.0.113.7' }).waitFor()
    await page.getByText('Banned on 1 server').waitFor()
    await page.getByRole('button', { name: 'Unban everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unban on 1 server' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'View details' }).waitFor()
    await clean()
    await page.getByLabel('Address').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/ip/203.0.113.7*')
    await page.getByText('Taken from what you pasted: 203.0.113.7').waitFor()
    await page.getByText('Banned on 1 server').waitFor()
    await page.getByRole('region', { name: 'Log lines of web-02' }).waitFor()
    await page.getByRole('button', { name: 'Unban everywhere' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unban on 1 server' }).click()
    await expect.poll(() => work()).toEqual(['web-02 unban-ip 203.0.113.7 *'])
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
    const sentence = page.getByText(/^Not banned\. The last ban ended: \d\d:\d\d$/)
    const exact = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d Europe\/Berlin · (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC/
    await expect.poll(() => sentence.getAttribute('title')).toMatch(exact)
    // Only who asks for exact times gets them in the sentence; a tap on it changes nothing.
    await sentence.click()
    await page.keyboard.press('t')
    await page.getByText(new RegExp(`^Not banned\\. The last ban ended: ${exact.source}`)).waitFor()
    await page.keyboard.press('t')
    await sentence.waitFor()
    await clean()
  })
})
