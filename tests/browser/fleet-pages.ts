import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, signIn } from './browser.ts'
import type { Viewport } from './browser.ts'
import { aNewHost, enrol, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/** Many servers at once, the commands that come of it, and the key of one of them. Some cases are for one size only. */
export const selectedServers = (viewportName: Viewport) =>
  describe.runIf(hasBrowser)(`servers selected together on a ${viewportName}`, () => {
    let server: TestServer
    let admin: Signed
    const { visit } = useBrowser()
    let page: Page
    let complaints: string[]
    let close: () => Promise<void>
    const hosts: Host[] = []
    const names = ['web-01', 'web-02', 'db-01']

    beforeAll(async () => {
      server = await startServer({ env: staysOnline })
      admin = await server.setUp()
      for (const name of names) {
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
    const desktop = viewportName === 'desktop'
    const dialog = () => page.getByRole('dialog')
    const bar = () => page.getByRole('region', { name: 'Selection' })

    /** What a host takes it answers: what it leaves comes once more after half a minute, in a later test. */
    const take = async (host: Host, success = true) => {
      const orders = await host.orders()
      for (const { id } of orders) await host.answer(id, success)
      return orders
    }
    const answerAll = async () => {
      for (const host of hosts)
        for (const { id } of await host.orders()) await host.answer(id, host !== hosts[1], 'said so')
      await page.getByRole('button', { name: 'Retry on 1 server that failed' }).waitFor()
    }

    it('are found, selected and reloaded, with Cancel under Enter', async () => {
      await go(page, 'servers')
      await page.getByText('db-01').waitFor()
      await page.getByLabel('Search by name or address').fill('name:web-*')
      await page.getByText('db-01').waitFor({ state: 'detached' })
      await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('name:web-*')
      // Phones have no boxes in this list: there the commands page does it.
      if (!desktop) {
        expect(await page.getByLabel('Select web-01').isVisible()).toBe(false)
        expect(await breaches(page)).toEqual([])
        expect(await overflows(page)).toBe(false)
        await go(page, 'commands')
        await page.getByRole('button', { name: 'Run a command' }).click()
        await dialog().getByLabel('What to do').selectOption('reload-all')
        for (const name of ['web-01', 'web-02']) await dialog().getByLabel(name).check()
        await dialog().getByRole('button', { name: 'Reload all jails on 2 servers' }).click()
        await dialog().getByText('0 of 2 done').waitFor()
        await dialog().getByRole('link', { name: 'View progress per server' }).click()
        return answerAll()
      }
      await page.getByLabel('Select web-01').check()
      await page.getByLabel('Select web-02').check()
      await bar().getByText('2 servers selected').waitFor()
      expect(await breaches(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
      await bar().getByRole('button', { name: 'Reload all jails…' }).click()
      await dialog().getByText('Runs on 2 servers.').waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Cancel')
      await dialog().getByRole('button', { name: 'Reload all jails on 2 servers' }).click()
      await dialog().getByText('0 of 2 done').waitFor()
      await page.getByRole('region', { name: 'News' }).getByText('Reload all jails on 2 servers…').waitFor()
      expect(await breaches(page)).toEqual([])
      await dialog().getByRole('link', { name: 'View progress per server' }).click()
      await page.getByRole('heading', { name: 'Reload all jails · 2 servers' }).waitFor()
      await answerAll()
    })
    it.runIf(desktop)('get a template that is chosen after them, and the whitelist again', async () => {
      await go(page, 'servers')
      await page.getByLabel('Select db-01').check()
      await bar().getByRole('button', { name: 'Sync the whitelist' }).click()
      await page.getByText('Syncing the whitelist to 1 server.').first().waitFor()
      await bar().getByRole('button', { name: 'Deploy a template…' }).click()
      await dialog().getByLabel('Template').selectOption({ index: 1 })
      await dialog().getByRole('button', { name: 'Next' }).click()
      await page.waitForURL('**/templates/*/deploy')
      await page.getByText('1 server chosen').waitFor()
      await expect.poll(() => page.getByRole('checkbox', { name: 'db-01', exact: true }).isChecked()).toBe(true)
    })
    it.runIf(desktop)('ban an address; a very wide range has to be typed again', async () => {
      await page.goto('servers')
      await page.getByLabel('Select web-01').check()
      await page.getByLabel('Select db-01').check()
      await bar().getByRole('button', { name: 'Ban…', exact: true }).click()
      await dialog().getByLabel('Address or range', { exact: true }).fill('203.0.0.0/8')
      await dialog().getByLabel('Jail').fill('stockade')
      await dialog().getByRole('button', { name: 'Ban on 2 servers' }).click()
      await dialog().getByText('This is not the same range.').waitFor()
      await dialog().getByLabel('Address or range', { exact: true }).fill('203.0.113.9')
      await dialog().getByRole('button', { name: 'Ban on 2 servers' }).click()
      await dialog().getByText('0 of 2 done').waitFor()
      const [web, , db] = hosts
      if (!web || !db) throw new Error('hosts are missing')
      const orders = [...(await take(web)), ...(await take(db))]
      expect(orders.map(({ type, params }) => `${type} ${String(params.ip)}`)).toEqual([
        'ban-ip 203.0.113.9',
        'ban-ip 203.0.113.9',
      ])
    })
    it.runIf(desktop)('stay where they are when their state changes, until they are sorted again', async () => {
      await admin.client.call('POST /servers', { body: { hostname: 'mail-01' } })
      await page.goto('servers')
      const group = (of: string) => page.locator(`[data-group="${of}"]`)
      await group('waiting').getByText('mail-01').waitFor()
      const made = await admin.client.call('POST /servers/{serverId}/regenerate-token', {
        params: {
          serverId: (await admin.client.call('GET /servers', { query: { q: 'mail-01' } })).servers[0]?.id ?? '',
        },
      })
      await (await enrol(server, made.install_command, 'mail-01')).protect()
      await page.getByText('1 changed its state. Sort again').click()
      await group('protected').getByText('mail-01').waitFor()
      await expect.poll(() => group('waiting').getByText('mail-01').count()).toBe(0)
    })
    it('commands are searched, run and retried by keys', async () => {
      await go(page, 'commands?status=failed')
      await expect.poll(() => page.getByLabel('Search the commands').inputValue()).toBe('status:failed')
      await page.locator('[data-row]').first().waitFor()
      if (!desktop) return
      await page.getByRole('group', { name: 'Activity' }).waitFor()
      const rows = page.locator('[data-row]')
      const before = await rows.count()
      await page.getByRole('button', { name: /^Show the commands of the batch/ }).click()
      await expect.poll(() => rows.count()).toBeGreaterThan(before)
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('y')
      await page.getByText('Copied said so').first().waitFor()
      await page.keyboard.press('Shift+R')
      await page.waitForURL('**/commands/*')
      await page.getByText('the earlier command').waitFor()
      await go(page, 'commands')
      await page.getByRole('group', { name: 'Activity' }).waitFor()
      await page.keyboard.press('c')
      await dialog().getByText('Run a command').first().waitFor()
    })
    it('narrow lists by their values, and other lists by theirs', async () => {
      const query = () => new URL(page.url()).searchParams.get('q')
      await go(page, 'servers')
      const name = page.getByRole('link', { name: 'web-02' })
      await name.waitFor()
      if (desktop) {
        await name.focus()
        await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
        await page.getByRole('menuitem', { name: 'Show only this' }).waitFor()
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
        await name.waitFor({ state: 'detached' })
        expect(query()).toBe('-name:web-02')
        await go(page, 'commands')
        await page.getByRole('main').getByRole('button', { name: '1 failed' }).first().click()
        await page.getByRole('menuitem', { name: 'Show all but this' }).click()
        await expect.poll(query).toBe('-status:failed')
        await go(page, 'audit')
        await page
          .getByRole('button', { name: /^Details of: Enrolled a server/ })
          .first()
          .click()
        await page.getByRole('button', { name: 'server.enroll', exact: true }).first().click()
        await expect.poll(query).toBe('action:server.enroll')
        await go(page, `servers/${hosts[1]?.id ?? ''}/commands`)
        await page.getByRole('button', { name: 'admin', exact: true }).last().click()
        await page.getByRole('menuitem', { name: 'Show only this' }).click()
        await page.waitForURL(url => url.pathname === '/commands' && url.searchParams.get('server') === hosts[1]?.id)
        expect(query()).toBe('by:admin')
      } else {
        const card = page.locator('[data-row]').filter({ has: name })
        // A long press; the button is for the keyboard.
        await card.getByRole('link', { name: 'web-02' }).dispatchEvent('pointerdown', { pointerType: 'touch' })
        await page.getByRole('menuitem', { name: 'Show all but Online' }).click()
        await expect.poll(query).toBe('-status:online')
      }
    })
    it.runIf(desktop)('do not lose what guards SSH by one click, and other jails do', async () => {
      const [host] = hosts
      if (!host) throw new Error('a host is missing')
      await host.beat(['sshd', 'postfix'])
      await go(page, `servers/${host.id}/jails`)
      await page.getByRole('button', { name: 'Disable: sshd' }).click()
      await dialog()
        .getByText(/^sshd guards your SSH log-in on web-01\. While it is off, nobody/)
        .waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Cancel')
      await page.keyboard.press('Enter')
      await dialog().waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Disable: postfix' }).click()
      await page.getByRole('button', { name: 'Undo' }).waitFor()
      await page.getByRole('button', { name: 'Disable: sshd' }).click()
      await dialog().getByRole('button', { name: 'Disable sshd on web-01' }).click()
      // Each is handed out once.
      const ordered = new Set<string>()
      await expect
        .poll(async () => {
          for (const { type, params } of await take(host)) ordered.add(`${type} ${String(params.jail)}`)
          return [...ordered].sort()
        })
        .toEqual(['jail-disable postfix', 'jail-disable sshd'])
      await go(page, 'commands')
      await page.getByRole('button', { name: 'Run a command' }).click()
      await dialog().getByLabel('What to do').selectOption('jail-disable')
      await dialog().getByLabel('Jail', { exact: true }).fill('SSHD-ddos')
      await dialog().getByLabel('web-01').check()
      await dialog().getByLabel('web-02').check()
      await dialog().getByRole('button', { name: 'Disable a jail on 2 servers' }).click()
      await dialog().getByRole('button', { name: 'Disable SSHD-ddos on 2 servers' }).waitFor()
      await page.keyboard.press('Enter')
      await dialog().getByRole('button', { name: 'Disable a jail on 2 servers' }).waitFor()
    })
    it.runIf(!desktop)(
      'are asked about by what each host says of its jail, also before a retry and an undo',
      async () => {
        const [web, other, db] = hosts
        if (!web || !other || !db) throw new Error('hosts are missing')
        const tell = (host: Host, filter: string, enabled = true) =>
          host.client.call('PUT /agent/jails', { body: { jails: [{ name: 'logins', enabled, filter }] } })
        for (const [host, filter] of [
          [web, 'sshd[mode=aggressive]'],
          [other, 'dovecot'],
          [db, 'sshd'],
        ] as const)
          await tell(host, filter)
        const question = dialog().getByText(/^logins guards your SSH log-in/)
        await page.goto('commands')
        await page.getByRole('button', { name: 'Run a command' }).click()
        await dialog().getByLabel('What to do').selectOption('jail-disable')
        await dialog().getByLabel('Jail', { exact: true }).fill('logins')
        await dialog().getByLabel('web-02').check()
        await dialog().getByLabel('db-01').check()
        await dialog().getByLabel('web-01').check()
        await dialog().getByRole('button', { name: 'Disable a jail on 3 servers' }).click()
        await expect.poll(() => question.textContent()).toContain('on 2 servers: db-01, web-01. While it is off')
        await dialog().getByRole('button', { name: 'Disable logins on 3 servers' }).click()
        await dialog().getByRole('link', { name: 'View progress per server' }).click()
        await page.waitForURL('**/batches/*')
        for (const host of hosts) for (const { id } of await host.orders()) await host.answer(id, host === other)
        // On touch the page of the command has what can be done with it.
        await page.locator('[data-command]').getByRole('link', { name: 'db-01' }).click()
        await page.getByRole('button', { name: 'Retry on db-01' }).click()
        await dialog()
          .getByText(/^logins guards your SSH log-in on db-01\. While/)
          .waitFor()
        expect(await overflows(page)).toBe(false)
        await page.keyboard.press('Enter')
        await dialog().waitFor({ state: 'detached' })
        await page.goBack()
        await page.getByRole('button', { name: 'Retry on 2 servers that failed' }).click()
        const before = page.url()
        await dialog().getByRole('button', { name: 'Disable logins on 2 servers' }).click()
        await page.waitForURL(url => url.href !== before)
        const again = [...(await take(web)), ...(await take(other)), ...(await take(db))]
        expect(again.map(({ type, params }) => `${type} ${String(params.jail)}`)).toEqual([
          'jail-disable logins',
          'jail-disable logins',
        ])
        await tell(web, 'sshd', false)
        await page.goto(`servers/${web.id}/jails`)
        await page.getByRole('button', { name: 'Enable: logins' }).click()
        await page.getByRole('button', { name: 'Undo' }).first().waitFor()
        for (const { id } of await web.orders()) await web.answer(id)
        // The notice changes its sentence then, and a click on a button that moves can be lost.
        await page.getByRole('region', { name: 'News' }).getByText('logins is enabled on web-01').waitFor()
        await page.getByRole('region', { name: 'News' }).getByRole('button', { name: 'Undo' }).click()
        await question.waitFor()
        await page.keyboard.press('Escape')
        await page.getByText('It stays as it is.').waitFor()
        expect(await web.orders()).toEqual([])
      },
    )
    it.runIf(!desktop)(
      'are also asked about where nobody knows what the jail guards, and before a template that guards SSH is removed',
      async () => {
        const [web, other] = hosts
        if (!web || !other) throw new Error('hosts are missing')
        await page.route('**/api/v1/servers/jails?*', route =>
          route.fulfill({ status: 503, json: { error: 'Unavailable', message: 'Not now.' } }),
        )
        await page.goto('commands')
        await page.getByRole('button', { name: 'Run a command' }).click()
        await dialog().getByLabel('What to do').selectOption('jail-disable')
        await dialog().getByLabel('Jail', { exact: true }).fill('imap')
        await dialog().getByLabel('web-01').check()
        await dialog().getByRole('button', { name: 'Disable a jail on 1 server' }).click()
        await dialog()
          .getByText(/^Whether imap guards an SSH log-in is not known, .*: Not now\. If it does/)
          .waitFor()
        expect(await overflows(page)).toBe(false)
        await page.unroute('**/api/v1/servers/jails?*')
        complaints.splice(0, complaints.length, ...complaints.filter(text => !text.includes('503')))
        await dialog().getByRole('button', { name: 'Disable imap on web-01' }).click()
        await page.waitForURL('**/commands/*')
        expect((await take(web)).map(({ params }) => params.jail)).toEqual(['imap'])

        const jail = { name: 'sshd', enabled: true, filter: 'sshd' }
        for (const host of [web, other])
          await host.client.call('PUT /agent/jails', { body: { jails: [{ ...jail, template: 'sshd' }] } })
        await page.goto('templates/sshd')
        await page.getByLabel('Choose web-01').check()
        const remove = page.getByRole('button', { name: 'Remove from 1 server' })
        await remove.click()
        await dialog()
          .getByText(/^sshd guards your SSH log-in on web-01\. While/)
          .waitFor()
        expect(await overflows(page)).toBe(false)
        await page.keyboard.press('Enter')
        await dialog().waitFor({ state: 'detached' })
        await remove.click()
        await dialog().getByRole('button', { name: 'Remove sshd from web-01' }).click()
        await page.waitForURL('**/batches/*')
        // It fails: the template stays.
        expect((await take(web, false)).map(({ type }) => type)).toEqual(['remove-template'])
        await page.goto('commands')
        await page.getByRole('button', { name: 'Run a command' }).click()
        await dialog().getByLabel('What to do').selectOption('remove-template')
        await dialog().getByLabel('Template').selectOption('sshd')
        for (const name of names) await dialog().getByLabel(name).check()
        await dialog().getByRole('button', { name: 'Remove a template on 3 servers' }).click()
        // The third has a jail of its own of that name.
        await dialog()
          .getByText(/^sshd guards your SSH log-in on 2 servers: web-01, web-02\. While/)
          .waitFor()
        await dialog().getByRole('button', { name: 'Remove sshd from 3 servers' }).waitFor()
        expect(await breaches(page)).toEqual([])
        await page.keyboard.press('Enter')
        await dialog().getByRole('button', { name: 'Remove a template on 3 servers' }).waitFor()
      },
    )
    it.runIf(desktop)('all that failed of a batch is tried again, not only what one page of it shows', async () => {
      const [, , db] = hosts
      if (!db) throw new Error('a host is missing')
      const jails = Array.from({ length: 130 }, (_, n) => `jail-${n}`)
      const targets = jails.map(jail => ({ server_id: db.id, params: { jail } }))
      const made = await admin.client.call('POST /commands/batch', { body: { type: 'jail-status', targets } })
      const ids = made.commands.map(({ id }) => id)
      for (let orders = await db.orders(); orders.length > 0; orders = await db.orders());
      const say = (some: readonly string[], success: boolean) =>
        db.client.call('POST /agent/results', {
          body: { results: some.map(id => ({ id, success, output: 'no such jail', exit_code: success ? 0 : 1 })) },
        })
      await say(ids.slice(0, 10), true)
      await say(ids.slice(10, 70), false)
      await say(ids.slice(70), false)
      await go(page, `batches/${made.batch_id}`)
      await page.getByText('Done: 10 commands, 120 failed').waitFor()
      const before = page.url()
      await page.getByRole('button', { name: 'Retry 120 that failed' }).click()
      await page.waitForURL(url => url.pathname.includes('/batches/') && url.href !== before)
      await page.getByText('0 of 120 done').waitFor()
      const again = new Set<unknown>()
      for (let orders = await db.orders(); orders.length > 0; orders = await db.orders()) {
        for (const { params } of orders) again.add(params.jail)
        await say(
          orders.map(({ id }) => id),
          true,
        )
      }
      expect([...again].sort()).toEqual(jails.slice(10).sort())
    })
    it.runIf(desktop)('a jail that was switched off on many is switched on again only where it was on', async () => {
      const jail = (enabled: boolean) => ({ body: { jails: [{ name: 'dovecot', enabled, filter: 'dovecot' }] } })
      for (const [index, host] of hosts.entries()) await host.client.call('PUT /agent/jails', jail(index !== 1))
      await go(page, 'commands')
      await page.getByRole('button', { name: 'Run a command' }).click()
      await dialog().getByLabel('What to do').selectOption('jail-disable')
      await dialog().getByLabel('Jail', { exact: true }).fill('dovecot')
      for (const name of names) await dialog().getByLabel(name).check()
      await dialog().getByRole('button', { name: 'Disable a jail on 3 servers' }).click()
      await page.getByText('Disabling dovecot on 3 servers…').waitFor()
      for (const host of hosts) for (const { id } of await host.orders()) await host.answer(id)
      await dialog().getByText('Done on 3 servers').waitFor()
      await page.keyboard.press('Escape')
      const news = page.getByRole('region', { name: 'News' })
      await news.getByText('dovecot is disabled on 3 servers').waitFor()
      // Toasts of the tests before this one may still offer an Undo of their own.
      await news
        .getByRole('status')
        .locator('> *', { hasText: 'dovecot is disabled' })
        .getByRole('button', { name: 'Undo' })
        .click()
      await page.getByText('It had run already on 2 servers. The opposite is on its way there.').waitFor()
      const orders = await Promise.all(hosts.map(host => host.orders()))
      expect(orders.map(some => some.map(({ type }) => type))).toEqual([['jail-enable'], [], ['jail-enable']])
    })
    it('the key of an agent is rotated, and the page waits for the host to use the new one', async () => {
      const [host] = hosts
      await go(page, `servers/${host?.id ?? ''}/settings`)
      await page.getByRole('button', { name: 'Rotate the key…' }).click()
      await page.getByRole('button', { name: 'Create a new command' }).click()
      const command = await page.getByLabel('Command to run on the server').inputValue()
      await page.getByText('web-01 has not fetched it yet').waitFor()
      const renewed = await enrol(server, command, 'web-01')
      await page.getByText('The server fetched its new key').waitFor()
      await renewed.beat()
      await page.getByText(/web-01 uses the new key since \d\d:\d\d\. The old key is off\./).waitFor()
      await expect(host?.beat()).rejects.toMatchObject({ status: 401 })
      expect(await overflows(page)).toBe(false)
      // Commands that a host has fetched can't be cancelled any more.
      expect(complaints.filter(text => !/status of 40[149]/.test(text))).toEqual([])
    })
  })
