import { describe, expect, it } from 'vitest'
import { password } from '@stockade/server/testing'
import { useBansPage } from './bans-page.ts'
import { breaches, hasBrowser, overflows, signIn } from './browser.ts'

/* The list of bans: finding by a search, narrowing by any value, and acting on many at once. */
describe.runIf(hasBrowser)('the list of bans', () => {
  const list = useBansPage()
  const { addresses, count, field, news, open, query, work } = list

  describe('a search', () => {
    it('is completed, applied when the typing rests, and undone by Back', async () => {
      await open()
      await count('1–50 of 120')
      await field().pressSequentially('ja')
      await list.page.getByRole('option', { name: /jail:/ }).waitFor()
      await list.page.keyboard.press('ArrowDown')
      await list.page.keyboard.press('Enter')
      await expect.poll(() => field().inputValue()).toBe('jail:')
      await list.page.keyboard.type('pos')
      await list.page.getByRole('option', { name: 'postfix' }).click()
      await count('1–40 of 40')
      expect(query()).toBe('jail:postfix')
      await list.page.goBack()
      await count('1–50 of 120')
      await expect.poll(() => field().inputValue()).toBe('')
    })
    it('says in words what is wrong, where, and what was probably meant', async () => {
      await open()
      await field().fill('jali:sshd')
      const problem = list.page.getByText('There is no field "jali". Did you mean jail?')
      await problem.waitFor()
      await expect.poll(() => list.page.locator('[data-wrong]').textContent()).toBe('jali')
      expect(query()).toBeNull()
      await list.page.getByRole('button', { name: 'Use jail' }).click()
      await count('1–50 of 80')
      expect(query()).toBe('jail:sshd')
      await problem.waitFor({ state: 'detached' })
    })
    it('goes together with the filters of links, each of which can be taken off', async () => {
      await open(`bans?jail=sshd&server_id=${list.mail.id}&q=-ip:198.51.100.1`)
      await count('1–9 of 9')
      await list.page.getByRole('button', { name: 'Remove Jail sshd' }).waitFor()
      await list.page.getByRole('button', { name: 'Remove Server mail-01' }).click()
      await count('1–50 of 78')
      await list.page.getByRole('button', { name: 'Remove -ip:198.51.100.1' }).click()
      await count('1–50 of 80')
      expect(new URL(list.page.url()).search).toBe('?jail=sshd&by=bans')
    })
  })

  describe('any value', () => {
    const row = (ip: string) =>
      list.page.locator('[data-row]').filter({ has: list.page.getByText(ip, { exact: true }) })
    it('narrows the list to it, or to all but it', async () => {
      await open()
      await row('203.0.113.40').getByRole('button', { name: 'mail-01', exact: true }).click()
      const menu = list.page.getByRole('menu', { name: 'What to do with mail-01' })
      await menu.getByRole('menuitem', { name: 'Show only this' }).click()
      await count('1–50 of 50')
      expect(query()).toBe('server:mail-01')
      await list.page.getByRole('button', { name: 'sshd', exact: true }).first().focus()
      await list.page.keyboard.press('Enter')
      await list.page.keyboard.press('ArrowDown')
      await list.page.keyboard.press('Enter')
      await count('1–40 of 40')
      expect(query()).toBe('server:mail-01 -jail:sshd')
      await expect.poll(() => field().inputValue()).toBe('server:mail-01 -jail:sshd')
      await list.page.reload()
      await count('1–40 of 40')
      await list.page.goBack()
      await count('1–50 of 50')
    })
  })

  describe('the table', () => {
    it('sorts by its heads, which say so', async () => {
      await open('bans?q=times:>=2')
      await list.page.getByRole('button', { name: 'Address', exact: true }).click()
      await expect.poll(async () => (await addresses())[0]).toBe('198.51.100.1')
      await expect
        .poll(() => list.page.getByRole('columnheader', { name: 'Address' }).getAttribute('aria-sort'))
        .toBe('ascending')
      expect(new URL(list.page.url()).searchParams.get('sort')).toBe('ip')
      await list.page.getByRole('button', { name: 'Address', exact: true }).click()
      await expect.poll(async () => (await addresses())[0]).toBe('198.51.100.10')
    })
  })

  describe('many at once', () => {
    const bar = () => list.page.getByRole('region', { name: 'Selection' })
    const dialog = () => list.page.getByRole('dialog')
    it('are chosen by the page, by a stretch of rows, or all that match', async () => {
      await open('bans?q=jail:sshd')
      await count('1–50 of 80')
      await list.page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await bar().getByText('50 bans selected').waitFor()
      await bar().getByRole('button', { name: 'Select all 80' }).click()
      await bar().getByText('80 bans selected').waitFor()
      await bar().getByRole('button', { name: 'Unban 70' }).waitFor()
      await bar().getByRole('button', { name: 'Clear selection' }).click()
      const boxes = list.page.getByRole('checkbox', { name: /^Select 198/ })
      await boxes.nth(2).click()
      await boxes.nth(6).click({ modifiers: ['Shift'] })
      await bar().getByText('5 bans selected').waitFor()
      // While some are chosen, the boxes of all rows are to be seen.
      const ninth = `document.querySelectorAll('[data-row] label:has(input)')[8]`
      expect(await list.page.evaluate(`getComputedStyle(${ninth}).opacity`)).toBe('1')
    })
    it('are unbanned on every server, followed until each host has answered, and what failed again', async () => {
      await open('bans?q=jail:sshd ip:198.51.100.0/26')
      await count('1–50 of 73')
      await list.page.getByRole('checkbox', { name: 'Select all on this page' }).check()
      await bar().getByRole('button', { name: 'Select all 73' }).click()
      await bar().getByRole('button', { name: 'Unban 63' }).click()
      await dialog().getByText('73 bans are lifted').waitFor()
      await expect.poll(() => list.page.evaluate('document.activeElement.textContent')).toBe('Cancel')
      expect(await breaches(list.page)).toEqual([])
      await dialog().getByRole('button', { name: 'Unban 63 addresses on 2 servers' }).click()
      await dialog().getByText('0 of 73 done').waitFor()
      expect(await work(list.web)).toBe(63)
      // The other host has never connected: the receipt does not wait for it.
      await dialog().getByText('Done: 63 commands').waitFor()
      await dialog().getByText('mail-01 will follow when it returns.').waitFor()
      expect(await work(list.mail, false)).toBe(10)
      await dialog().getByText('10 failed').waitFor()
      await dialog().getByRole('button', { name: 'Retry failed (10)' }).click()
      await dialog().getByText('0 of 10 done').waitFor()
      const orders = await list.mail.orders()
      expect(orders.map(({ params }) => params.ip).sort()).toEqual(
        Array.from({ length: 10 }, (_, index) => `198.51.100.${index + 1}`).sort(),
      )
      await Promise.all(orders.map(({ id }) => list.mail.answer(id)))
      await dialog().getByText('Done: 10 commands').waitFor()
      await dialog().getByRole('button', { name: 'Done' }).click()
      const left = await list.admin.client.call('GET /bans', { query: { q: 'state:active jail:sshd' } })
      expect(left.total).toBe(7)
    })
  })

  it('takes one unban back', async () => {
    await open('bans?q=ip:203.0.113.20')
    await list.page.getByRole('button', { name: 'Unban 203.0.113.20 from postfix on mail-01' }).click()
    await news().getByText('Unbanning 203.0.113.20 from postfix on mail-01…').waitFor()
    await news().getByRole('button', { name: 'Undo' }).last().click()
    await news().getByText('Undone before it ran.').waitFor()
    expect(await list.mail.orders()).toEqual([])
  })

  it('works on a phone: search, filters, and a long press for the values', async () => {
    const phone = await list.visit(list.server.url, { viewportName: 'phone', scheme: 'dark', bypassCSP: true })
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
    const row = (ip: string) =>
      list.page.locator('tr[data-row]').filter({ has: list.page.getByText(ip, { exact: true }) })
    const start = async (path = 'bans') => {
      await list.page.goto(path)
      await list.page.locator('[data-attacker]').first().waitFor()
    }
    it('are one row each, with exact numbers, and unfold to their bans', async () => {
      await start()
      await list.page.getByText('110 attackers', { exact: true }).waitFor()
      await list.page.getByText(/^120 bans, \d+ addresses banned now$/).waitFor()
      await start('bans?q=ip:198.51.100.10')
      await row('198.51.100.10').getByText('2 servers').waitFor()
      await row('198.51.100.10').getByText('failed logins for root').waitFor()
      await list.page.getByRole('button', { name: 'Bans of 198.51.100.10' }).click()
      await expect
        .poll(() => list.page.getByRole('link', { name: /^Details of the ban of 198\.51\.100\.10 / }).count())
        .toBe(2)
      await list.page.getByRole('link', { name: 'mail-01' }).waitFor()
      expect(await breaches(list.page)).toEqual([])
      await list.page.keyboard.press('ArrowLeft')
      await expect
        .poll(() => list.page.getByRole('link', { name: /^Details of the ban of 198\.51\.100\.10 / }).count())
        .toBe(0)
    })
    it('are selected with all their bans, whatever the list is narrowed to', async () => {
      await start('bans?q=ip:198.51.100.64/29 server:web-01')
      await list.page.getByRole('checkbox', { name: 'Select 198.51.100.66' }).check()
      const bar = list.page.getByRole('region', { name: 'Selection' })
      // Its coming moves the rows, and a click on what moves can meet another one.
      await bar.waitFor()
      await list.page.getByRole('checkbox', { name: 'Select 198.51.100.68' }).click({ modifiers: ['Shift'] })
      await expect.poll(() => bar.innerText()).toContain('3 attackers')
      await bar.getByRole('button', { name: 'Unban everywhere…' }).click()
      await list.page.getByRole('dialog').getByRole('button', { name: 'Unban 3 addresses on 1 server' }).click()
      await list.page.getByRole('dialog').getByText('0 of 3 done').waitFor()
      expect(await work(list.web)).toBe(3)
      await list.page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
      await expect.poll(() => bar.count()).toBe(0)
    })
  })

  it('had nothing to complain about', () => expect(list.complaints).toEqual([]))
})
