import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page, Request } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { hasBrowser, overflows } from './browser.ts'
import type { Viewport } from './browser.ts'
import { enrol, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/** From the printed link to the first ban that is lifted, as a newcomer does it. */
export const firstBan = (viewportName: Viewport) =>
  describe.runIf(hasBrowser)(`the first ban on a ${viewportName}`, () => {
    let server: TestServer
    const { visit } = useBrowser('whole')
    let page: Page
    let host: Host
    let complaints: string[]

    beforeAll(async () => {
      server = await startServer({ env: staysOnline })
      ;({ page, complaints } = await visit(server.url, { viewportName }))
    })
    afterAll(() => server?.close())
    const line = (name: string) => page.locator(`[data-line="${name}"]`)
    const lineIs = (name: string, state: string) =>
      page.locator(`[data-line="${name}"][data-state="${state}"]`).waitFor()
    /** A row of the table, or a card. */
    const row = (ip: string) => page.locator('tr, li').filter({ has: page.getByText(ip, { exact: true }) })

    it('without the code shows where to find it', async () => {
      await page.goto('setup')
      await page.getByRole('heading', { name: 'A set-up code is needed' }).waitFor()
      await expect
        .poll(() => page.getByLabel('Command that prints the set-up code').inputValue())
        .toBe('npx stockade admin setup-code')
    })

    it('refuses a wrong code before there is a form to fill in', async () => {
      await page.goto('setup?code=wrong')
      await page.getByText('This set-up code is wrong or already used.').waitFor()
      expect(await page.getByLabel('Username').count()).toBe(0)
    })

    it('makes the first administrator', async () => {
      await page.goto(`setup?code=${server.setupCode ?? ''}`)
      await page.getByText('means the server itself').waitFor()
      await page.getByRole('button', { name: 'Create and add the first server' }).click()
      await page.getByText('Use 3 to 50 letters, digits and _.').waitFor()
      await page.getByLabel('Username').fill('anna')
      await page.getByLabel('Email').fill('anna@stockade.example')
      await page.getByLabel('Password', { exact: true }).fill('short')
      await page.getByText('The password does not meet all rules yet.').waitFor()
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Create and add the first server' }).click()
      await page.waitForURL('**/servers/new')
      expect(await overflows(page)).toBe(false)
      // The page asks about the code by a password that is always refused.
      complaints.splice(0, complaints.length, ...complaints.filter(text => !/40[01]/.test(text)))
    })

    it('makes the command', async () => {
      await page.getByLabel('Name', { exact: true }).fill('web-01')
      await page.getByRole('button', { name: 'Create the command' }).click()
      await page.waitForURL('**/servers/new?id=*')
      await lineIs('called', 'waiting')
      await lineIs('ban', 'next')
      await expect
        .poll(() => page.getByLabel('Command to run on the server').inputValue())
        .toMatch(/^curl .+ --token sit_\w+$/)
      expect(await overflows(page)).toBe(false)
    })

    it('still knows it after a look elsewhere', async () => {
      const shown = page.url()
      await page.goto('servers')
      await page.getByRole('link', { name: 'Continue' }).click()
      await page.waitForURL(shown)
      await page.getByLabel('Command to run on the server').waitFor()
    })

    it('watches the host arrive', async () => {
      const command = await page.getByLabel('Command to run on the server').inputValue()
      await fetch(`${server.url}/install.sh`)
      await line('called').getByText('A server downloaded the installer').waitFor()
      host = await enrol(server, command)
      await lineIs('called', 'done')
      await line('called').getByText('From 127.0.0.1').waitFor()
      await lineIs('heartbeat', 'waiting')
      await host.beat(['sshd', 'nginx-http-auth'])
      await lineIs('heartbeat', 'done')
      await line('heartbeat').getByText('web-01 · Debian GNU/Linux 12 (bookworm) · fail2ban 1.0.2').waitFor()
      await lineIs('jails', 'done')
      await line('jails').getByText('sshd, nginx-http-auth').waitFor()
      await host.ban('203.0.113.7', { log_lines: 'Failed password for root from 203.0.113.7 port 4242 ssh2' })
      await lineIs('ban', 'done')
      await line('ban').getByRole('link', { name: '203.0.113.7' }).waitFor()
      await page.getByRole('heading', { name: 'Protect your first server' }).waitFor()
      await host.protect()
      await page.getByRole('heading', { name: 'web-01 is protected' }).waitFor()
      expect(await overflows(page)).toBe(false)
    })

    it('shows the ban', async () => {
      await page.getByRole('link', { name: 'View its bans' }).click()
      await row('203.0.113.7').getByText('Banned', { exact: true }).waitFor()
      expect(page.url()).toContain(`server=${host.id}`)
      await expect.poll(() => page.title()).toBe('Bans · Stockade')
      expect(await overflows(page)).toBe(false)
      await page.getByRole('button', { name: 'Single bans' }).click()
      await page.waitForURL(/by=bans/)
      await row('203.0.113.7').getByText('Banned', { exact: true }).waitFor()
      expect(await overflows(page)).toBe(false)
    })

    it('counts new bans above the list without reading it anew, and shows them when asked', async () => {
      const more = (count: number) => page.getByRole('button', { name: `${count} new` })
      const reads: string[] = []
      const note = (request: Request) => {
        const { pathname } = new URL(request.url())
        if (request.method() === 'GET' && pathname.startsWith('/api/v1/bans')) reads.push(pathname)
      }
      page.on('request', note)
      for (const [index, last] of [21, 22, 23].entries()) {
        await host.ban(`198.51.100.${last}`)
        await more(index + 1).waitFor()
      }
      page.off('request', note)
      expect(reads).toEqual([])
      await expect.poll(() => row('198.51.100.23').count()).toBe(0)
      await more(3).click()
      await row('198.51.100.23').waitFor()
      await expect.poll(() => page.locator('[data-ban]').first().textContent()).toBe('198.51.100.23')
      await page.getByText('1–4 of 4').waitFor()
      await expect.poll(() => more(3).count()).toBe(0)
    })

    /** Where a ban is lifted: in its row, on a phone on a page of its own. */
    const placeOf = async (ip: string) => {
      if (viewportName === 'desktop') return row(ip)
      await page.getByRole('link', { name: `Details of the ban of ${ip}` }).click()
      return page.getByRole('region', { name: `Details of the ban of ${ip}` })
    }
    const toList = async () => {
      if (viewportName === 'desktop') return
      await page.keyboard.press('Escape')
      await page.waitForURL(/\/bans\?.*server=/)
    }

    it('lifts a ban and says how far that is', async () => {
      const banned = await placeOf('203.0.113.7')
      await banned.getByRole('button', { name: /^Unban(?!ned)/ }).click()
      await banned.getByText('Pending').waitFor()
      const [order] = await host.orders()
      expect(order).toMatchObject({ type: 'unban-ip', params: { ip: '203.0.113.7', jail: 'sshd' } })
      await banned.getByText('Running').waitFor()
      await host.answer(order?.id ?? '')
      await banned.getByText('Unbanned', { exact: true }).waitFor()
      await expect.poll(() => banned.getByRole('button', { name: /^Unban(?!ned)/ }).count()).toBe(0)
      await toList()
      // The other one is still there.
      await row('198.51.100.23').getByText('Banned', { exact: true }).waitFor()
    })

    it('says why a ban could not be lifted', async () => {
      const banned = await placeOf('198.51.100.23')
      await banned.getByRole('button', { name: /^Unban(?!ned)/ }).click()
      await banned.getByText('Pending').waitFor()
      const [order] = await host.orders()
      await host.answer(order?.id ?? '', false, 'fail2ban does not answer')
      await banned.getByText('Failed').waitFor()
      await banned.getByText('fail2ban does not answer').waitFor()
      await banned.getByRole('button', { name: /^(Unban(?!ned)|Try again)/ }).waitFor()
      await toList()
    })

    it('shows one ban with its log lines, also by its address', async () => {
      await page.getByRole('link', { name: 'Details of the ban of 203.0.113.7' }).click()
      await page.getByRole('heading', { name: '203.0.113.7' }).waitFor()
      await page.reload()
      const lines = page.getByRole('region', { name: 'Log lines' })
      await lines.waitFor()
      await expect.poll(() => lines.locator('mark').allTextContents()).toEqual(['203.0.113.7'])
      expect(await overflows(page)).toBe(false)
      await page.keyboard.press('Escape')
      await page.waitForURL(/\/bans\?.*server=/)
      await row('203.0.113.7').waitFor()
    })

    it('bans an address, but not one of its own without being asked twice', async () => {
      await page.getByRole('button', { name: 'Ban an address' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Address or range').fill('203.0.113.300')
      await dialog.getByRole('combobox', { name: 'Where' }).selectOption('some')
      await dialog.getByRole('button', { name: 'All', exact: true }).click()
      await dialog.getByRole('button', { name: 'Ban on 1 server' }).click()
      await dialog.getByText('Enter an address or a range').waitFor()
      await dialog.getByLabel('Address or range').fill('127.0.0.1')
      await dialog.getByLabel('Duration', { exact: true }).fill('10m')
      await dialog.getByRole('button', { name: 'Ban on 1 server' }).click()
      await dialog.getByText('127.0.0.1 is a loopback address.').waitFor()
      await dialog.getByRole('button', { name: 'Ban anyway on 1 server' }).waitFor()
      expect(await overflows(page)).toBe(false)
      complaints.splice(0, complaints.length, ...complaints.filter(text => !text.includes('409')))
      await dialog.getByRole('button', { name: 'Cancel' }).click()

      await page.getByRole('button', { name: 'Ban an address' }).click()
      await dialog.getByLabel('Address or range').fill('192.0.2.55')
      await dialog.getByLabel('Duration', { exact: true }).fill('10m')
      // A fleet ban is a state, which cuts nothing.
      await dialog.getByRole('combobox', { name: 'Where' }).selectOption('all')
      expect(await dialog.getByLabel('End open connections too').count()).toBe(0)
      await dialog.getByRole('combobox', { name: 'Where' }).selectOption('some')
      await dialog.getByRole('button', { name: 'All', exact: true }).click()
      const cut = dialog.getByLabel('End open connections too')
      await cut.check()
      // A jail of fail2ban cuts nothing, so nothing is promised.
      await dialog.getByLabel('Jail').fill('sshd')
      await cut.waitFor({ state: 'detached' })
      await dialog.getByLabel('Jail').fill('')
      await expect.poll(() => cut.isChecked()).toBe(true)
      await dialog.getByRole('button', { name: 'Ban on 1 server' }).click()
      await dialog.getByText('Pending').waitFor()
      const [order] = await host.orders()
      expect(order).toMatchObject({
        type: 'ban-ip',
        params: { ip: '192.0.2.55', jail: 'stockade', duration: 600, cut: true },
      })
      await host.client.call('POST /bans', {
        body: { ip: '192.0.2.55', jail: 'stockade', ban_duration: 600, command_id: order?.id ?? '' },
      })
      await host.answer(order?.id ?? '')
      await dialog.getByText('Banned').waitFor()
      await dialog.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('button', { name: '1 new' }).click()
      await row('192.0.2.55').getByText('Banned', { exact: true }).waitFor()
    })

    it('had nothing to complain about', () => expect(complaints).toEqual([]))
  })
