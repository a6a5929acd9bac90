import { describe, expect, it } from 'vitest'
import { useBansPage } from './bans-page.ts'
import { hasBrowser, viewports } from './browser.ts'

/* The list of bans: the rest of what a search, a table, a selection and keys do. */
describe.runIf(hasBrowser)('the list of bans', () => {
  const list = useBansPage()
  const { count, field, news, open, query, work } = list

  describe('a search', () => {
    it.each(['before', 'after'])('keeps what is typed just %s a click that changes it', async order => {
      await open('bans?q=jail%3Asshd')
      const type = `Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, 'jail:sshd 198.51.100.7'); input.dispatchEvent(new InputEvent('input', { bubbles: true }))`
      const click = `[...document.querySelectorAll('[role=search] li button')].find(chip => chip.textContent.includes('jail:sshd')).click()`
      await list.page.evaluate(
        `{ const input = document.querySelector('input[role=combobox]'); ${(order === 'before' ? [type, click] : [click, type]).join('; ')} }`,
      )
      await expect.poll(query).toBe('198.51.100.7')
      await expect.poll(() => field().inputValue()).toBe('198.51.100.7')
    })
    it('keeps what was applied when a click follows before the page is drawn by it', async () => {
      await open('bans?q=jail%3Asshd')
      const type = `Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, '198.51.100.7'); input.dispatchEvent(new InputEvent('input', { bubbles: true }))`
      const click = `[...document.querySelectorAll('[role=search] button')].find(button => button.textContent === 'Single bans').click()`
      await list.page.evaluate(
        `{ const input = document.querySelector('input[role=combobox]'); ${type}; input.form.requestSubmit(); ${click} }`,
      )
      await expect.poll(() => new URL(list.page.url()).searchParams.get('by')).toBe('bans')
      await expect.poll(query).toBe('198.51.100.7')
    })
    it('is explained by examples that insert themselves', async () => {
      await open()
      await list.page.getByRole('button', { name: 'How to search' }).click()
      await list.page.getByRole('button', { name: 'times:>=3', exact: true }).click()
      await expect.poll(() => field().inputValue()).toBe('times:>=3')
      await list.page.getByText('No ban matches.').waitFor()
      await field().fill('times:>=2')
      await count('1–20 of 20')
    })
    it('from a link that is wrong is shown with what is wrong', async () => {
      await list.page.goto('bans?q=state%3Aactve&limit=7&colour=red&by=bans')
      await list.page.getByText(/"actve" is not active, expired or unbanned/).waitFor()
      await list.page.getByText('Unknown filter in the link: limit, colour.').waitFor()
      await list.page.getByRole('button', { name: 'Use active' }).click()
      await count('1–50 of 120')
      await list.page.getByRole('button', { name: 'Dismiss' }).click()
      await list.page.waitForURL(/bans\?q=state%3Aactive&by=bans$/)
    })
  })

  describe('any value', () => {
    const row = (ip: string) =>
      list.page.locator('[data-row]').filter({ has: list.page.getByText(ip, { exact: true }) })
    it('also under a pointer that rests on it, and for an address by its button', async () => {
      await open()
      await row('203.0.113.40').getByRole('button', { name: 'postfix', exact: true }).hover()
      await list.page.mouse.move(0, 0)
      await row('203.0.113.40').getByRole('button', { name: 'postfix', exact: true }).hover()
      await list.page.getByRole('group', { name: 'What to do with postfix' }).getByText('Copy').waitFor()
      await list.page.mouse.move(700, 30)
      await list.page.getByRole('group', { name: 'What to do with postfix' }).waitFor({ state: 'detached' })
      await row('203.0.113.40').getByRole('button', { name: 'What to do with 203.0.113.40' }).focus()
      await list.page.keyboard.press('Enter')
      await list.page.getByRole('menuitem', { name: 'Open' }).click()
      await list.page.waitForURL('**/ip/203.0.113.40')
    })
  })

  describe('the table', () => {
    it('has the columns that were chosen, in the address of the page', async () => {
      await open()
      await expect.poll(() => list.page.locator('tbody tr').first().boundingBox()).toMatchObject({ height: 34 })
      await list.page.getByRole('button', { name: 'View', exact: true }).click()
      await list.page.getByRole('checkbox', { name: 'Duration' }).check()
      await list.page.getByRole('checkbox', { name: 'Network' }).uncheck()
      await list.page.getByRole('radio', { name: '100' }).check()
      await list.page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
      await count('1–100 of 120')
      await list.page.reload()
      await list.page.getByRole('columnheader', { name: 'Duration' }).waitFor()
      await expect.poll(() => list.page.getByRole('columnheader', { name: 'Network' }).count()).toBe(0)
      await count('1–100 of 120')
    })
    it('is zoomed by the bars above it', async () => {
      await open('bans?from=now-24h')
      const bars = list.page.getByRole('group', { name: 'Bans over time' })
      await bars.getByRole('button', { name: 'Zoom in' }).click()
      await list.page.waitForURL(/from=2\d{3}-/)
      await count('1–50 of 120')
      await bars.getByRole('button', { name: 'Earlier' }).click()
      await list.page.getByText('No ban matches.').waitFor()
      await list.page.getByRole('button', { name: 'Search all time' }).click()
      await count('1–50 of 120')
    })
  })

  describe('many at once', () => {
    const bar = () => list.page.getByRole('region', { name: 'Selection' })
    const dialog = () => list.page.getByRole('dialog')
    it('export as many as the list says, in each format, and the chosen ones', async () => {
      await open('bans?q=jail:sshd')
      await list.page.getByRole('button', { name: 'Export', exact: true }).click()
      await dialog().getByText('Export 80 bans').waitFor()
      const saved = async (name: string) => {
        const [download] = await Promise.all([
          list.page.waitForEvent('download'),
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
      await list.page.keyboard.press('Escape')
      await list.page
        .getByRole('checkbox', { name: /^Select 198/ })
        .first()
        .check()
      await bar().getByRole('button', { name: 'Export…' }).click()
      expect((await saved('plain')).trim()).toMatch(/^198\.51\.100\.\d+$/)
      await list.page.keyboard.press('Escape')
    })
    it('are whitelisted together', async () => {
      await open('bans?q=ip:203.0.113.0/30')
      await list.page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await bar().getByRole('button', { name: 'Whitelist…' }).click()
      await dialog().getByRole('button', { name: 'Add' }).click()
      await news().getByText('3 entries are on the whitelist.').waitFor()
      expect((await list.admin.client.call('GET /whitelist')).total).toBe(3)
      await dialog().getByRole('button', { name: 'Done' }).click()
      await news().getByRole('button', { name: 'Undo' }).last().click()
      await news().getByText('3 entries are off the whitelist again.').waitFor()
      expect((await list.admin.client.call('GET /whitelist')).total).toBe(0)
      await work(list.mail)
    })
    it('are banned everywhere as a state, without those that must not be, and taken back', async () => {
      const listed = await list.admin.client.call('POST /whitelist', { body: { ip: '203.0.113.17' } })
      await work(list.web)
      await work(list.mail)
      await open('bans?q=ip:203.0.113.16/28')
      await list.page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await bar().getByRole('button', { name: 'Ban on all servers…' }).click()
      await dialog().getByRole('button', { name: 'Ban 16 addresses' }).click()
      await dialog().getByText('15 addresses banned').waitFor()
      await dialog()
        .getByText(/^203\.0\.113\.17: .*whitelist entry/)
        .waitFor()
      await dialog().getByRole('button', { name: 'Done' }).click()
      const undo = news().getByRole('button', { name: 'Undo' }).last()
      // It stays under the pointer.
      await undo.hover()
      await news().getByText('Banning 15 addresses on all servers…').waitFor()
      const standing = async () => (await list.admin.client.call('GET /fleet/bans', { query: { active: true } })).total
      expect(await standing()).toBe(15)
      expect(await list.web.orders()).toEqual([])
      await undo.click()
      await news().getByText('The ban of 15 addresses is lifted again.').waitFor()
      expect(await standing()).toBe(0)
      await list.admin.client.call('DELETE /whitelist/{id}', { params: { id: listed.id } })
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
    const times = list.page.locator('main [data-row] time')
    for (const size of [viewports.desktop, viewports.phone])
      for (const path of ['bans?by=bans', 'bans']) {
        await list.page.setViewportSize(size)
        await list.page.goto(path)
        await list.page.locator('[data-ban]').first().waitFor()
        // The keys of the shell come with its second part, after the first rows.
        await news().waitFor({ state: 'attached' })
        expect(await times.first().textContent()).not.toContain('UTC')
        await list.page.keyboard.press('t')
        await times.first().filter({ hasText: 'UTC' }).waitFor()
        expect(await list.page.evaluate(cut)).toEqual([])
      }
    await list.page.setViewportSize(viewports.desktop)
  })

  it('takes one unban back that has run: the new ban lasts as long as the first would have', async () => {
    await open('bans?q=ip:203.0.113.35')
    await list.page.getByRole('button', { name: 'Unban 203.0.113.35 from postfix on mail-01' }).click()
    await news().getByText('Unbanning 203.0.113.35 from postfix on mail-01…').waitFor()
    expect(await work(list.mail)).toBe(1)
    await news().getByText('203.0.113.35 is unbanned from postfix on mail-01').waitFor()
    await news().getByRole('button', { name: 'Undo' }).last().click()
    await news().getByText('It had run already. The opposite is on its way: ').waitFor()
    const [order] = await list.mail.orders()
    expect(order).toMatchObject({ type: 'ban-ip', params: { ip: '203.0.113.35', jail: 'postfix' } })
    // Seconds of a ban of one hour.
    expect(order?.params.duration).toBeGreaterThan(0)
    expect(order?.params.duration).toBeLessThanOrEqual(3600)
    await list.mail.answer(order?.id ?? '')
  })

  it('keeps a view under a name, in place of the oldest where there are many', async () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ name: `View ${index + 1}`, search: 'q=jail:sshd' }))
    await list.admin.client.call('PUT /users/me/preferences', { body: { preferences: { views: { bans: many } } } })
    await open('bans?q=jail:postfix')
    const views = list.page.getByRole('navigation', { name: 'Saved views' })
    const menu = list.page.getByRole('button', { name: 'Views' })
    await menu.click()
    await views.getByRole('button', { name: 'Save this view' }).click()
    await list.page.getByLabel('Name of the view').fill('Mail')
    await list.page.keyboard.press('Enter')
    await views.getByRole('link', { name: 'Active now' }).click()
    await list.page.waitForURL(/q=state%3Aactive/)
    await menu.click()
    await views.getByRole('link', { name: 'Mail', exact: true }).click()
    await list.page.waitForURL(/q=jail%3Apostfix/)
    await count('1–40 of 40')
    await menu.click()
    await expect
      .poll(() => views.getByRole('link', { name: /^View \d+$/ }).allTextContents())
      .toEqual(many.slice(1).map(({ name }) => name))
    await list.page.keyboard.press('Escape')
  })

  it('works by keys alone', async () => {
    await open('bans?q=ip:203.0.113.16/29')
    await list.page.keyboard.press('j')
    await list.page.keyboard.press('x')
    await list.page.keyboard.press('j')
    await list.page.keyboard.press('j')
    await list.page.keyboard.press('Shift+X')
    await list.page.getByText('3 bans selected').waitFor()
    await list.page.keyboard.press('.')
    await list.page.getByRole('menu').waitFor()
    await list.page.keyboard.press('Escape')
    // Keys belong to what is open until it is gone.
    await list.page.getByRole('menu').waitFor({ state: 'detached' })
    await list.page.keyboard.press('k')
    await list.page.keyboard.press('Enter')
    await list.page.getByRole('heading', { name: /^203\.0\.113\.\d+$/ }).waitFor()
    await list.page.keyboard.press('Escape')
    await list.page.waitForURL(/\/bans\?/)
    await list.page.locator('[data-ban]').first().waitFor()
    await list.page.keyboard.press('f')
    const filters = list.page.getByRole('dialog', { name: 'Filters' })
    await filters.getByLabel('State').selectOption('expired')
    await list.page.keyboard.press('Escape')
    await filters.waitFor({ state: 'detached' })
    await list.page.getByText('No ban matches.').waitFor()
    expect(query()).toBe('ip:203.0.113.16/29 state:expired')
    await list.page.keyboard.press('/')
    await expect.poll(() => list.page.evaluate('document.activeElement.getAttribute("role")')).toBe('combobox')
  })

  describe('attackers', () => {
    const row = (ip: string) =>
      list.page.locator('tr[data-row]').filter({ has: list.page.getByText(ip, { exact: true }) })
    const start = async (path = 'bans') => {
      await list.page.goto(path)
      await list.page.locator('[data-attacker]').first().waitFor()
    }
    it('are the default, single bans are in the address of the page', async () => {
      await start('bans?q=jail:postfix')
      await list.page.getByRole('button', { name: 'Single bans' }).click()
      await list.page.waitForURL(/by=bans/)
      await list.page.locator('[data-ban]').first().waitFor()
      await list.page.getByRole('button', { name: 'Attackers' }).click()
      await list.page.locator('[data-attacker]').first().waitFor()
      expect(new URL(list.page.url()).searchParams.get('by')).toBeNull()
      expect(query()).toBe('jail:postfix')
    })
    it('are narrowed by the chips of state and time', async () => {
      await start('bans?q=jail:postfix')
      await list.page.getByLabel('State', { exact: true }).selectOption('expired')
      await list.page.getByText('No ban matches.').waitFor()
      expect(query()).toBe('jail:postfix state:expired')
      await list.page.getByRole('button', { name: 'Clear State' }).click()
      await list.page.getByLabel('Time', { exact: true }).selectOption('now-7d')
      await list.page.waitForURL(/from=now-7d/)
      await list.page.getByText('40 attackers', { exact: true }).waitFor()
    })
    it('offer what can be done with one while it is pointed at', async () => {
      await start('bans?q=ip:203.0.113.30')
      await row('203.0.113.30').hover()
      await list.page.getByRole('button', { name: 'Unban everywhere: 203.0.113.30' }).click()
      await list.page
        .getByRole('dialog')
        .getByRole('button', { name: /^Unban on 1 server/ })
        .waitFor()
      await list.page.keyboard.press('Escape')
      await list.page.getByRole('button', { name: 'More for 203.0.113.30' }).click()
      await list.page.getByRole('menuitem', { name: 'Single bans' }).click()
      await list.page.waitForURL(/by=bans/)
    })
  })

  it('had nothing to complain about', () => expect(list.complaints).toEqual([]))
})
