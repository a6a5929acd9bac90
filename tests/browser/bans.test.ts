import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, hasBrowser, overflows, signIn, viewports } from './browser.ts'
import { aNewHost } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* The list of bans: finding by a search, narrowing by any value, and acting on many at once. */
describe.runIf(hasBrowser)('the list of bans', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let web: Host
  let mail: Host
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_RATE_LIMIT: '0' } })
    admin = await server.setUp()
    const enrolled = async (hostname: string) => {
      return aNewHost(server, admin.client, hostname)
    }
    web = await enrolled('web-01')
    await web.beat(['sshd', 'postfix'])
    // Without a heartbeat it is not online; those who need it online send one.
    mail = await enrolled('mail-01')
    const bans = (host: Host, jail: string, net: string, count: number) =>
      host.client.call('POST /bans/batch', {
        body: {
          bans: Array.from({ length: count }, (_, index) => ({
            ip: `${net}.${index + 1}`,
            jail,
            ban_duration: 3600,
            event_id: crypto.randomUUID(),
            log_lines: `Failed password for root from ${net}.${index + 1}`,
          })),
        },
      })
    await bans(web, 'sshd', '198.51.100', 70)
    await bans(mail, 'postfix', '203.0.113', 40)
    // Twice: the same addresses on another server.
    await bans(mail, 'sshd', '198.51.100', 10)
    ;({ page, complaints, close } = await visit(server.url, { bypassCSP: true }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const field = () => page.getByRole('combobox', { name: 'Search the bans' })
  const addresses = () => page.locator('[data-ban]').allTextContents()
  const count = (text: string) => page.getByText(text, { exact: true }).first().waitFor()
  const query = () => new URL(page.url()).searchParams.get('q')
  const news = () => page.getByRole('region', { name: 'News' })
  /** The list of single bans. */
  const open = async (path = 'bans') => {
    await page.goto(`${path}${path.includes('?') ? '&' : '?'}by=bans`)
    await page.locator('[data-ban]').first().waitFor()
  }
  /** Hosts take what is ordered and answer, until nothing is left; resolves to how many that were. */
  const work = async (host: Host, success = true) => {
    let total = 0
    for (let orders = await host.orders(); orders.length > 0; orders = await host.orders()) {
      await Promise.all(orders.map(({ id }) => host.answer(id, success)))
      total += orders.length
    }
    return total
  }

  describe('a search', () => {
    it('is completed, applied when the typing rests, and undone by Back', async () => {
      await open()
      await count('1–50 of 120')
      await field().pressSequentially('ja')
      await page.getByRole('option', { name: /jail:/ }).waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await expect.poll(() => field().inputValue()).toBe('jail:')
      await page.keyboard.type('pos')
      await page.getByRole('option', { name: 'postfix' }).click()
      await count('1–40 of 40')
      expect(query()).toBe('jail:postfix')
      await page.goBack()
      await count('1–50 of 120')
      await expect.poll(() => field().inputValue()).toBe('')
    })
    it.each(['before', 'after'])('keeps what is typed just %s a click that changes it', async order => {
      await open('bans?q=jail%3Asshd')
      const type = `Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, 'jail:sshd 198.51.100.7'); input.dispatchEvent(new InputEvent('input', { bubbles: true }))`
      const click = `[...document.querySelectorAll('[role=search] li button')].find(chip => chip.textContent.includes('jail:sshd')).click()`
      await page.evaluate(
        `{ const input = document.querySelector('input[role=combobox]'); ${(order === 'before' ? [type, click] : [click, type]).join('; ')} }`,
      )
      await expect.poll(query).toBe('198.51.100.7')
      expect(await field().inputValue()).toBe('198.51.100.7')
    })
    it('keeps what was applied when a click follows before the page is drawn by it', async () => {
      await open('bans?q=jail%3Asshd')
      const type = `Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, '198.51.100.7'); input.dispatchEvent(new InputEvent('input', { bubbles: true }))`
      const click = `[...document.querySelectorAll('[role=search] button')].find(button => button.textContent === 'Single bans').click()`
      await page.evaluate(
        `{ const input = document.querySelector('input[role=combobox]'); ${type}; input.form.requestSubmit(); ${click} }`,
      )
      await expect.poll(() => new URL(page.url()).searchParams.get('by')).toBe('bans')
      await expect.poll(query).toBe('198.51.100.7')
    })
    it('says in words what is wrong, where, and what was probably meant', async () => {
      await open()
      await field().fill('jali:sshd')
      const problem = page.getByText('There is no field "jali". Did you mean jail?')
      await problem.waitFor()
      await expect.poll(() => page.locator('[data-wrong]').textContent()).toBe('jali')
      expect(query()).toBeNull()
      await page.getByRole('button', { name: 'Use jail' }).click()
      await count('1–50 of 80')
      expect(query()).toBe('jail:sshd')
      await problem.waitFor({ state: 'detached' })
    })
    it('is explained by examples that insert themselves', async () => {
      await open()
      await page.getByRole('button', { name: 'How to search' }).click()
      await page.getByRole('button', { name: 'times:>=3', exact: true }).click()
      await expect.poll(() => field().inputValue()).toBe('times:>=3')
      await page.getByText('No ban matches.').waitFor()
      await field().fill('times:>=2')
      await count('1–20 of 20')
    })
    it('from a link that is wrong is shown with what is wrong', async () => {
      await page.goto('bans?q=state%3Aactve&limit=7&colour=red&by=bans')
      await page.getByText(/"actve" is not active, expired or unbanned/).waitFor()
      await page.getByText('Unknown filter in the link: limit, colour.').waitFor()
      await page.getByRole('button', { name: 'Use active' }).click()
      await count('1–50 of 120')
      await page.getByRole('button', { name: 'Dismiss' }).click()
      await page.waitForURL(/bans\?q=state%3Aactive&by=bans$/)
    })
    it('goes together with the filters of links, each of which can be taken off', async () => {
      await open(`bans?jail=sshd&server_id=${mail.id}&q=-ip:198.51.100.1`)
      await count('1–9 of 9')
      await page.getByRole('button', { name: 'Remove Jail sshd' }).waitFor()
      await page.getByRole('button', { name: 'Remove Server mail-01' }).click()
      await count('1–50 of 78')
      await page.getByRole('button', { name: 'Remove -ip:198.51.100.1' }).click()
      await count('1–50 of 80')
      expect(new URL(page.url()).search).toBe('?jail=sshd&by=bans')
    })
  })

  describe('any value', () => {
    const row = (ip: string) => page.locator('[data-row]').filter({ has: page.getByText(ip, { exact: true }) })
    it('narrows the list to it, or to all but it', async () => {
      await open()
      await row('203.0.113.40').getByRole('button', { name: 'mail-01', exact: true }).click()
      const menu = page.getByRole('menu', { name: 'What to do with mail-01' })
      await menu.getByRole('menuitem', { name: 'Show only this' }).click()
      await count('1–50 of 50')
      expect(query()).toBe('server:mail-01')
      await page.getByRole('button', { name: 'sshd', exact: true }).first().focus()
      await page.keyboard.press('Enter')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await count('1–40 of 40')
      expect(query()).toBe('server:mail-01 -jail:sshd')
      await expect.poll(() => field().inputValue()).toBe('server:mail-01 -jail:sshd')
      await page.reload()
      await count('1–40 of 40')
      await page.goBack()
      await count('1–50 of 50')
    })
    it('also under a pointer that rests on it, and for an address by its button', async () => {
      await open()
      await row('203.0.113.40').getByRole('button', { name: 'postfix', exact: true }).hover()
      await page.mouse.move(0, 0)
      await row('203.0.113.40').getByRole('button', { name: 'postfix', exact: true }).hover()
      await page.getByRole('group', { name: 'What to do with postfix' }).getByText('Copy').waitFor()
      await page.mouse.move(700, 30)
      await page.getByRole('group', { name: 'What to do with postfix' }).waitFor({ state: 'detached' })
      await row('203.0.113.40').getByRole('button', { name: 'What to do with 203.0.113.40' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('menuitem', { name: 'Open' }).click()
      await page.waitForURL('**/ip/203.0.113.40')
    })
  })

  describe('the table', () => {
    it('sorts by its heads, which say so', async () => {
      await open('bans?q=times:>=2')
      await page.getByRole('button', { name: 'Address', exact: true }).click()
      await expect.poll(async () => (await addresses())[0]).toBe('198.51.100.1')
      await expect
        .poll(() => page.getByRole('columnheader', { name: 'Address' }).getAttribute('aria-sort'))
        .toBe('ascending')
      expect(new URL(page.url()).searchParams.get('sort')).toBe('ip')
      await page.getByRole('button', { name: 'Address', exact: true }).click()
      await expect.poll(async () => (await addresses())[0]).toBe('198.51.100.10')
    })
    it('has the columns that were chosen, in the address of the page', async () => {
      await open()
      await expect.poll(() => page.locator('tbody tr').first().boundingBox()).toMatchObject({ height: 34 })
      await page.getByRole('button', { name: 'View', exact: true }).click()
      await page.getByRole('checkbox', { name: 'Duration' }).check()
      await page.getByRole('checkbox', { name: 'Network' }).uncheck()
      await page.getByRole('radio', { name: '100' }).check()
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
      await count('1–100 of 120')
      await page.reload()
      await page.getByRole('columnheader', { name: 'Duration' }).waitFor()
      await expect.poll(() => page.getByRole('columnheader', { name: 'Network' }).count()).toBe(0)
      await count('1–100 of 120')
    })
    it('is zoomed by the bars above it', async () => {
      await open('bans?from=now-24h')
      const bars = page.getByRole('group', { name: 'Bans over time' })
      await bars.getByRole('button', { name: 'Zoom in' }).click()
      await page.waitForURL(/from=2\d{3}-/)
      await count('1–50 of 120')
      await bars.getByRole('button', { name: 'Earlier' }).click()
      await page.getByText('No ban matches.').waitFor()
      await page.getByRole('button', { name: 'Search all time' }).click()
      await count('1–50 of 120')
    })
  })

  describe('many at once', () => {
    const bar = () => page.getByRole('region', { name: 'Selection' })
    const dialog = () => page.getByRole('dialog')
    it('are chosen by the page, by a stretch of rows, or all that match', async () => {
      await open('bans?q=jail:sshd')
      await count('1–50 of 80')
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await bar().getByText('50 bans selected').waitFor()
      await bar().getByRole('button', { name: 'Select all 80' }).click()
      await bar().getByText('80 bans selected').waitFor()
      await bar().getByRole('button', { name: 'Unban 70' }).waitFor()
      await bar().getByRole('button', { name: 'Clear selection' }).click()
      const boxes = page.getByRole('checkbox', { name: /^Select 198/ })
      await boxes.nth(2).click()
      await boxes.nth(6).click({ modifiers: ['Shift'] })
      await bar().getByText('5 bans selected').waitFor()
      // While some are chosen, the boxes of all rows are to be seen.
      const ninth = `document.querySelectorAll('[data-row] label:has(input)')[8]`
      expect(await page.evaluate(`getComputedStyle(${ninth}).opacity`)).toBe('1')
    })
    it('export as many as the list says, in each format, and the chosen ones', async () => {
      await open('bans?q=jail:sshd')
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      await dialog().getByText('Export 80 bans').waitFor()
      const saved = async (name: string) => {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          dialog()
            .getByRole(name === 'plain' ? 'button' : 'link', { name: name === 'plain' ? 'Plain list' : name })
            .click(),
        ])
        const chunks: Buffer[] = []
        for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer)
        return Buffer.concat(chunks).toString()
      }
      expect((await saved('CSV')).trim().split(/\r?\n/)).toHaveLength(81)
      expect((JSON.parse(await saved('JSON')) as { bans: unknown[] }).bans).toHaveLength(80)
      expect((await saved('Plain list')).trim().split('\n')).toHaveLength(80)
      await page.keyboard.press('Escape')
      await page
        .getByRole('checkbox', { name: /^Select 198/ })
        .first()
        .check()
      await bar().getByRole('button', { name: 'Export…' }).click()
      expect((await saved('plain')).trim()).toMatch(/^198\.51\.100\.\d+$/)
      await page.keyboard.press('Escape')
    })
    it('are unbanned on every server, followed until each host has answered, and what failed again', async () => {
      await open('bans?q=jail:sshd ip:198.51.100.0/26')
      await count('1–50 of 73')
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await bar().getByRole('button', { name: 'Select all 73' }).click()
      await bar().getByRole('button', { name: 'Unban 63' }).click()
      await dialog().getByText('73 bans are lifted').waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Cancel')
      expect(await breaches(page)).toEqual([])
      await dialog().getByRole('button', { name: 'Unban 63 addresses on 2 servers' }).click()
      await dialog().getByText('0 of 73 done').waitFor()
      expect(await work(web)).toBe(63)
      // The other host has never connected: the receipt does not wait for it.
      await dialog().getByText('Done: 63 commands').waitFor()
      await dialog().getByText('mail-01 will follow when it returns.').waitFor()
      expect(await work(mail, false)).toBe(10)
      await dialog().getByText('10 failed').waitFor()
      await dialog().getByRole('button', { name: 'Retry failed (10)' }).click()
      await dialog().getByText('0 of 10 done').waitFor()
      const orders = await mail.orders()
      expect(orders.map(({ params }) => params.ip).sort()).toEqual(
        Array.from({ length: 10 }, (_, index) => `198.51.100.${index + 1}`).sort(),
      )
      await Promise.all(orders.map(({ id }) => mail.answer(id)))
      await dialog().getByText('Done: 10 commands').waitFor()
      await dialog().getByRole('button', { name: 'Done' }).click()
      const left = await admin.client.call('GET /bans', { query: { q: 'state:active jail:sshd' } })
      expect(left.total).toBe(7)
    })
    it('are whitelisted together', async () => {
      await open('bans?q=ip:203.0.113.0/30')
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await bar().getByRole('button', { name: 'Whitelist…' }).click()
      await dialog().getByRole('button', { name: 'Add' }).click()
      await news().getByText('3 entries are on the whitelist.').waitFor()
      expect((await admin.client.call('GET /whitelist')).total).toBe(3)
      await dialog().getByRole('button', { name: 'Done' }).click()
      await news().getByRole('button', { name: 'Undo' }).last().click()
      await news().getByText('3 entries are off the whitelist again.').waitFor()
      expect((await admin.client.call('GET /whitelist')).total).toBe(0)
      await work(mail)
    })
    it('are banned everywhere; taken back, only the host that did it hears of it, and one that was away of nothing', async () => {
      for (const host of [web, mail]) await host.beat(['sshd', 'postfix'])
      await open('bans?q=ip:203.0.113.16/28')
      await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await bar().getByRole('button', { name: 'Ban on all servers…' }).click()
      await dialog().getByRole('button', { name: 'Ban 16 addresses on 2 servers' }).click()
      await dialog().getByText('0 of 32 done').waitFor()
      await dialog().getByRole('button', { name: 'Continue in the background' }).click()
      await news().getByText('Banning 16 addresses on 2 servers…').waitFor()
      expect(await work(web)).toBe(16)
      await news().getByRole('button', { name: 'Undo' }).last().click()
      await news().getByText('It had run already. The opposite is on its way.').waitFor()
      const orders = await web.orders()
      expect(orders.map(({ type, params }) => `${type} ${String(params.jail)}`)).toEqual(
        Array.from({ length: 16 }, () => 'unban-ip stockade'),
      )
      expect(await mail.orders()).toEqual([])
      await Promise.all(orders.map(({ id }) => web.answer(id)))
    })
  })

  it('shows exact times whole, in columns and in cards', async () => {
    /** Times that their row or a box in it cuts. */
    const cut = `[...document.querySelectorAll('main [data-row] time')].filter(time => {
      const { left, right, bottom } = time.getBoundingClientRect()
      for (let box = time.parentElement; box.closest('[data-row]'); box = box.parentElement) {
        const edge = box.getBoundingClientRect()
        if (getComputedStyle(box).overflowX !== 'visible' && (right > edge.right + 1 || left < edge.left - 1 || bottom > edge.bottom + 1)) return true
      }
      return right > innerWidth
    }).map(time => time.textContent)`
    const times = page.locator('main [data-row] time')
    for (const size of [viewports.desktop, viewports.phone])
      for (const path of ['bans?by=bans', 'bans']) {
        await page.setViewportSize(size)
        await page.goto(path)
        await page.locator('[data-ban]').first().waitFor()
        // The keys of the shell come with its second part, after the first rows.
        await news().waitFor({ state: 'attached' })
        expect(await times.first().textContent()).not.toContain('UTC')
        await page.keyboard.press('t')
        await times.first().filter({ hasText: 'UTC' }).waitFor()
        expect(await page.evaluate(cut)).toEqual([])
      }
    await page.setViewportSize(viewports.desktop)
  })

  it('takes one unban back', async () => {
    await open('bans?q=ip:203.0.113.20')
    await page.getByRole('button', { name: 'Unban 203.0.113.20 from postfix on mail-01' }).click()
    await news().getByText('Unbanning 203.0.113.20 from postfix on mail-01…').waitFor()
    await news().getByRole('button', { name: 'Undo' }).last().click()
    await news().getByText('Undone before it ran.').waitFor()
    expect(await mail.orders()).toEqual([])
  })

  it('takes one unban back that has run: the new ban lasts as long as the first would have', async () => {
    await open('bans?q=ip:203.0.113.35')
    await page.getByRole('button', { name: 'Unban 203.0.113.35 from postfix on mail-01' }).click()
    await news().getByText('Unbanning 203.0.113.35 from postfix on mail-01…').waitFor()
    expect(await work(mail)).toBe(1)
    await news().getByText('203.0.113.35 is unbanned from postfix on mail-01').waitFor()
    await news().getByRole('button', { name: 'Undo' }).last().click()
    await news().getByText('It had run already. The opposite is on its way: ').waitFor()
    const [order] = await mail.orders()
    expect(order).toMatchObject({ type: 'ban-ip', params: { ip: '203.0.113.35', jail: 'postfix' } })
    // Seconds of a ban of one hour.
    expect(order?.params.duration).toBeGreaterThan(0)
    expect(order?.params.duration).toBeLessThanOrEqual(3600)
    await mail.answer(order?.id ?? '')
  })

  it('keeps a view under a name, in place of the oldest where there are many', async () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ name: `View ${index + 1}`, search: 'q=jail:sshd' }))
    await admin.client.call('PUT /users/me/preferences', { body: { preferences: { views: { bans: many } } } })
    await open('bans?q=jail:postfix')
    const views = page.getByRole('navigation', { name: 'Saved views' })
    const menu = page.getByRole('button', { name: 'Views' })
    await menu.click()
    await views.getByRole('button', { name: 'Save this view' }).click()
    await page.getByLabel('Name of the view').fill('Mail')
    await page.keyboard.press('Enter')
    await views.getByRole('link', { name: 'Active now' }).click()
    await page.waitForURL(/q=state%3Aactive/)
    await menu.click()
    await views.getByRole('link', { name: 'Mail', exact: true }).click()
    await page.waitForURL(/q=jail%3Apostfix/)
    await count('1–40 of 40')
    await menu.click()
    expect(await views.getByRole('link', { name: /^View \d+$/ }).allTextContents()).toEqual(
      many.slice(1).map(({ name }) => name),
    )
    await page.keyboard.press('Escape')
  })

  it('works by keys alone', async () => {
    await open('bans?q=ip:203.0.113.16/29')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Shift+X')
    await page.getByText('3 bans selected').waitFor()
    await page.keyboard.press('.')
    await page.getByRole('menu').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^203\.0\.113\.\d+$/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('f')
    await page.getByRole('dialog', { name: 'Filters' }).getByLabel('State').selectOption('expired')
    await page.keyboard.press('Escape')
    await page.getByText('No ban matches.').waitFor()
    expect(query()).toBe('ip:203.0.113.16/29 state:expired')
    await page.keyboard.press('/')
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('combobox')
  })

  it('works on a phone: search, filters, and a long press for the values', async () => {
    const phone = await visit(server.url, { viewportName: 'phone', scheme: 'dark', bypassCSP: true })
    try {
      await signIn(phone.page, 'admin', password)
      await phone.page.goto('bans?by=bans')
      await phone.page.locator('[data-ban]').first().waitFor()
      expect(await overflows(phone.page)).toBe(false)
      await phone.page.getByRole('button', { name: 'Filters' }).tap()
      const sheet = phone.page.getByRole('dialog', { name: 'Filters' })
      await sheet.getByLabel('Server').selectOption('web-01')
      await sheet.getByRole('button', { name: 'Show the bans' }).tap()
      await phone.page.getByText('1–50 of 70').first().waitFor()
      const link = phone.page.locator('[data-ban]').first()
      await link.dispatchEvent('pointerdown', { pointerType: 'touch', button: 0, buttons: 1 })
      await phone.page.getByRole('menu').getByRole('menuitem', { name: 'Show all but sshd' }).tap()
      await phone.page.getByText('No ban matches.').waitFor()
      expect(await breaches(phone.page)).toEqual([])
      await phone.page.setViewportSize({ width: 320, height: 640 })
      expect(await overflows(phone.page)).toBe(false)
      expect(phone.complaints).toEqual([])
    } finally {
      await phone.close()
    }
  })

  describe('attackers', () => {
    const row = (ip: string) => page.locator('tr[data-row]').filter({ has: page.getByText(ip, { exact: true }) })
    const start = async (path = 'bans') => {
      await page.goto(path)
      await page.locator('[data-attacker]').first().waitFor()
    }
    it('are one row each, with exact numbers, and unfold to their bans', async () => {
      await start()
      await page.getByText('110 attackers', { exact: true }).waitFor()
      await page.getByText(/^120 bans, \d+ addresses banned now$/).waitFor()
      await start('bans?q=ip:198.51.100.10')
      await row('198.51.100.10').getByText('2 servers').waitFor()
      await row('198.51.100.10').getByText('failed logins for root').waitFor()
      await page.getByRole('button', { name: 'Bans of 198.51.100.10' }).click()
      await expect
        .poll(() => page.getByRole('link', { name: /^Details of the ban of 198\.51\.100\.10 / }).count())
        .toBe(2)
      await page.getByRole('link', { name: 'mail-01' }).waitFor()
      expect(await breaches(page)).toEqual([])
      await page.keyboard.press('ArrowLeft')
      await expect
        .poll(() => page.getByRole('link', { name: /^Details of the ban of 198\.51\.100\.10 / }).count())
        .toBe(0)
    })
    it('are the default, single bans are in the address of the page', async () => {
      await start('bans?q=jail:postfix')
      await page.getByRole('button', { name: 'Single bans' }).click()
      await page.waitForURL(/by=bans/)
      await page.locator('[data-ban]').first().waitFor()
      await page.getByRole('button', { name: 'Attackers' }).click()
      await page.locator('[data-attacker]').first().waitFor()
      expect(new URL(page.url()).searchParams.get('by')).toBeNull()
      expect(query()).toBe('jail:postfix')
    })
    it('are narrowed by the chips of state and time', async () => {
      await start('bans?q=jail:postfix')
      await page.getByLabel('State', { exact: true }).selectOption('expired')
      await page.getByText('No ban matches.').waitFor()
      expect(query()).toBe('jail:postfix state:expired')
      await page.getByRole('button', { name: 'Clear State' }).click()
      await page.getByLabel('Time', { exact: true }).selectOption('now-7d')
      await page.waitForURL(/from=now-7d/)
      await page.getByText('40 attackers', { exact: true }).waitFor()
    })
    it('are selected with all their bans, whatever the list is narrowed to', async () => {
      await start('bans?q=ip:198.51.100.64/29 server:web-01')
      await page.getByRole('checkbox', { name: 'Select 198.51.100.66' }).check()
      const bar = page.getByRole('region', { name: 'Selection' })
      // Its coming moves the rows, and a click on what moves can meet another one.
      await bar.waitFor()
      await page.getByRole('checkbox', { name: 'Select 198.51.100.68' }).click({ modifiers: ['Shift'] })
      await expect.poll(() => bar.innerText()).toContain('3 attackers')
      await bar.getByRole('button', { name: 'Unban everywhere…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Unban 3 addresses on 1 server' }).click()
      await page.getByRole('dialog').getByText('0 of 3 done').waitFor()
      expect(await work(web)).toBe(3)
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
      await expect.poll(() => bar.count()).toBe(0)
    })
    it('offer what can be done with one while it is pointed at', async () => {
      await start('bans?q=ip:203.0.113.30')
      await row('203.0.113.30').hover()
      await page.getByRole('button', { name: 'Unban everywhere: 203.0.113.30' }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Unban on 1 server/ })
        .waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'More for 203.0.113.30' }).click()
      await page.getByRole('menuitem', { name: 'Single bans' }).click()
      await page.waitForURL(/by=bans/)
    })
  })

  it('had nothing to complain about', () => expect(complaints).toEqual([]))
})
