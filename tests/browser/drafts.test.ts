import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { conditionMs, password, startServer, within } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { hasBrowser, signIn } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* What was typed and not saved outlives the page; leaving it asks. */

const { visit } = useBrowser()

describe.runIf(hasBrowser)('an unsaved edit', () => {
  let server: TestServer
  let admin: Client
  let page: Page
  let close: () => Promise<void>
  /** The questions of the browser, and how they are answered. */
  const questions: string[] = []
  let answer = true
  beforeAll(async () => {
    server = await startServer()
    admin = (await server.setUp()).client
    ;({ page, close } = await visit(server.url))
    page.on('dialog', dialog => {
      questions.push(dialog.type())
      void (answer ? dialog.accept() : dialog.dismiss())
    })
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const name = () => page.getByLabel('Site name')
  const bar = () => page.getByRole('group', { name: 'Unsaved changes' })
  const open = async () => {
    await page.goto('settings/general')
    await name().waitFor()
  }
  /** How many drafts, and parts of drafts, have these words in their name. */
  const kept = (words: string) =>
    page.evaluate(words => Object.keys(localStorage).filter(key => key.includes(words)).length, words)
  const isTyped = (value: string) => expect.poll(() => name().inputValue()).toBe(value)

  /** Ends the session, clicks what would need it, and signs in again. */
  const endSession = async (button: Locator) => {
    await page.context().clearCookies()
    // The page may notice the end by itself before the click arrives.
    const clicked = button.click({ timeout: conditionMs / 10 })
    clicked.catch(() => {})
    await Promise.any([page.waitForURL('**/login**'), clicked])
    await page.waitForURL('**/login**')
    await clicked.catch(() => {})
    expect(questions).toEqual([])
    await page.getByLabel('Username').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  it('asks before the page is left, and stays where the answer is no', async () => {
    await open()
    await name().fill('Fence')
    answer = false
    await page.getByRole('link', { name: 'Whitelist' }).first().click()
    await expect.poll(() => questions).toEqual(['confirm'])
    await isTyped('Fence')
    answer = true
    await page.getByRole('link', { name: 'Whitelist' }).first().click()
    await page.getByRole('heading', { name: 'Whitelist', level: 1 }).waitFor()
    expect(questions.splice(0)).toEqual(['confirm', 'confirm'])
  })
  it('is there after Back', async () => {
    await page.goBack()
    await isTyped('Fence')
    await bar().waitFor()
  })
  it('is there after a reload, which asks too', async () => {
    await page.reload()
    expect(questions.splice(0)).toEqual(['beforeunload'])
    await isTyped('Fence')
  })
  it('is there after the session has ended in the middle, without a question', async () => {
    await endSession(bar().getByRole('button', { name: 'Save' }))
    await page.waitForURL('**/settings/general')
    await isTyped('Fence')
    await bar().getByRole('button', { name: 'Save' }).click()
    await bar().waitFor({ state: 'detached' })
    expect((await admin.call('GET /settings')).service.site_name).toBe('Fence')
    // Saved: nothing is kept, and nothing asks.
    await page.reload()
    await isTyped('Fence')
    expect(await bar().count()).toBe(0)
    expect(questions).toEqual([])
  })
  it('stays when it was typed during a save, until the next one', async () => {
    const [sent, typed] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    await page.route('**/api/v1/settings', async route => {
      if (route.request().method() === 'PATCH') {
        sent.resolve(undefined)
        await within(typed.promise, 'what is typed during the save')
      }
      await route.continue()
    })
    await name().fill('Meadow')
    await bar().getByRole('button', { name: 'Save' }).click()
    await within(sent.promise, 'the request that saves')
    await name().fill('Meadow 2')
    typed.resolve(undefined)
    await bar().getByText('Meadow → Meadow 2').waitFor()
    await page.unroute('**/api/v1/settings')
    await isTyped('Meadow 2')
    expect((await admin.call('GET /settings')).service.site_name).toBe('Meadow')
    await name().fill('Fence')
    await bar().getByRole('button', { name: 'Save' }).click()
    await bar().waitFor({ state: 'detached' })
    expect((await admin.call('GET /settings')).service.site_name).toBe('Fence')
  })
  describe('that was saved is none any more once the API has answered', () => {
    let userId: string | number
    let serverId: string | number
    beforeAll(async () => {
      const added = await admin.call('POST /users', {
        body: { username: 'bert', email: 'bert@stockade.example', role: 'Viewer', invite: true },
      })
      const server = await admin.call('POST /servers', { body: { hostname: 'db-01' } })
      ;[userId, serverId] = [added.id, server.id]
    })
    /** What each page that changes saved values has in one field, before and after. */
    const forms: readonly (readonly [
      form: string,
      path: () => string,
      label: string,
      first: string,
      second: string,
    ])[] = [
      ['general', () => 'settings/general', 'Site name', 'First', 'Second'],
      ['security', () => 'settings/security', 'Minimum password length', '21', '22'],
      ['reputation', () => 'settings/reputation', 'Reports per day', '901', '902'],
      ['oauth', () => 'settings/oauth', 'Allowed organisation', 'first', 'second'],
      ['a user', () => `users/${userId}`, 'Email', 'first@stockade.example', 'second@stockade.example'],
      ['a server', () => `servers/${serverId}/settings`, 'Description', 'First', 'Second'],
    ]
    it.each(forms)('of %s', async (_form, path, label, first, second) => {
      const save = page.getByRole('button', { name: /^Save/ }).first()
      const field = page.getByLabel(label).first()
      await page.goto(path())
      await field.waitFor()
      questions.splice(0)
      // Each look at saved values waits, as on a slow line.
      const held = Promise.withResolvers<undefined>()
      let isSent = false
      await page.route(/\/api\/v1\//, async route => {
        if (route.request().method() !== 'GET') isSent = true
        else if (isSent) await within(held.promise, 'the end of the slow line')
        await route.continue().catch(() => {})
      })
      const answer = page.waitForResponse(response => /^P/.test(response.request().method()) && response.ok())
      await field.fill(first)
      await save.click()
      await answer
      await expect.poll(() => kept('stockade-draft:')).toBe(0)
      expect(await field.inputValue()).toBe(first)
      held.resolve(undefined)
      await page.unroute(/\/api\/v1\//)
      await page.reload()
      expect(questions).toEqual([])
      await expect.poll(() => field.inputValue()).toBe(first)
      // The next change is nobody else's conflict.
      await field.fill(second)
      // Before it is typed there is no draft either.
      await expect.poll(() => kept('stockade-draft:')).toBe(1)
      await save.click()
      await expect.poll(() => kept('stockade-draft:')).toBe(0)
      expect(await page.getByText('Someone else changed this meanwhile').count()).toBe(0)
      await page.reload()
      await expect.poll(() => field.inputValue()).toBe(second)
    })
    it('of one that is typed further while its page reads again', async () => {
      await open()
      const held = Promise.withResolvers<undefined>()
      let isSent = false
      await page.route(/\/api\/v1\//, async route => {
        if (route.request().method() === 'PATCH') isSent = true
        else if (isSent) await within(held.promise, 'the end of the slow line')
        await route.continue().catch(() => {})
      })
      await name().fill('Meadow')
      const answer = page.waitForResponse(response => response.request().method() === 'PATCH')
      await bar().getByRole('button', { name: 'Save' }).click()
      await answer
      await expect.poll(() => kept('stockade-draft:')).toBe(0)
      await name().fill('Meadow 2')
      await expect.poll(() => kept('stockade-draft:')).toBe(1)
      held.resolve(undefined)
      await page.unroute(/\/api\/v1\//)
      await bar().getByText('Meadow → Meadow 2').waitFor()
      await bar().getByRole('button', { name: 'Save' }).click()
      await bar().waitFor({ state: 'detached' })
      expect((await admin.call('GET /settings')).service.site_name).toBe('Meadow 2')
      await name().fill('Fence')
      await bar().getByRole('button', { name: 'Save' }).click()
      await bar().waitFor({ state: 'detached' })
    })
  })
  it('is gone when it is discarded', async () => {
    await name().fill('Hedge')
    await bar().getByRole('button', { name: 'Discard' }).click()
    await page.reload()
    await isTyped('Fence')
    expect(questions).toEqual([])
  })
  it('of another version of the form is ignored', async () => {
    await name().fill('Hedge')
    await page.evaluate(() => {
      const key = Object.keys(localStorage).find(key => key.startsWith('stockade-draft:')) ?? ''
      localStorage.setItem(key, (localStorage.getItem(key) ?? '').replace('site_url', 'site_link'))
    })
    await page.reload()
    await isTyped('Fence')
    questions.splice(0)
  })
  it('of two tabs does no harm: the later save says what the other one changed', async () => {
    await name().fill('Left')
    const other = await page.context().newPage()
    other.on('dialog', dialog => void dialog.accept())
    await other.goto(page.url())
    const field = other.getByLabel('Site name')
    await expect.poll(() => field.inputValue()).toBe('Left')
    await field.fill('Right')
    const otherBar = other.getByRole('group', { name: 'Unsaved changes' })
    await otherBar.getByRole('button', { name: 'Save' }).click()
    await otherBar.waitFor({ state: 'detached' })
    await bar().getByRole('button', { name: 'Save' }).click()
    await page.getByText('Someone else changed this meanwhile: Site name.').waitFor()
    await bar().getByRole('button', { name: 'Discard' }).click()
    await isTyped('Right')
    await other.close()
  })
  it('never puts a secret into the storage', async () => {
    await page.goto('settings/reputation')
    await page.locator('input[type=password]').first().fill('not-for-the-disk')
    await bar().waitFor()
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain('not-for-the-disk')
    questions.splice(0)
  })
  it('of a new user is there after a reload, until it is discarded', async () => {
    await page.goto('users/new')
    await page.getByLabel('Username').fill('carla')
    await page.getByRole('radio', { name: /^Operator/ }).check()
    await page.reload()
    await expect.poll(() => page.getByLabel('Username').inputValue()).toBe('carla')
    await expect.poll(() => page.getByRole('radio', { name: /^Operator/ }).isChecked()).toBe(true)
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.reload()
    await expect.poll(() => page.getByLabel('Username').inputValue()).toBe('')
    questions.splice(0)
  })
  it('of a knock sequence is kept without its ports', async () => {
    await page.goto('portknock/sequences')
    await page.getByRole('button', { name: 'Add a sequence' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Database')
    await dialog.getByLabel('Knock ports, in order').fill('7101 9000 7102')
    await page.reload()
    await page.getByRole('button', { name: 'Add a sequence' }).first().click()
    await expect.poll(() => dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Database')
    await expect.poll(() => dialog.getByLabel('Knock ports, in order').inputValue()).not.toContain('7101')
    // Digits alone may be part of a time stamp.
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toMatch(/\b7101\b/)
    await dialog.getByRole('button', { name: 'Discard' }).click()
    questions.splice(0)
  })
  it('of a rule is there when its dialog is opened again, unless it was closed by hand', async () => {
    await page.goto('alerts')
    const add = page.getByRole('button', { name: 'Add rule' })
    const dialog = page.getByRole('dialog')
    const typed = () => dialog.getByLabel('Name').inputValue()
    await add.click()
    await dialog.getByLabel('Name').fill('Storm')
    await page.reload()
    await add.click()
    await expect.poll(typed).toBe('Storm')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await add.click()
    await expect.poll(typed).toBe('')
    await page.keyboard.press('Escape')
  })
  it('of a server is there after a reload, and is saved', async () => {
    const { id } = await admin.call('POST /servers', { body: { hostname: 'web-01' } })
    await page.goto(`servers/${id}/settings`)
    await page.getByLabel('Description').fill('Shop')
    await page.reload()
    await expect.poll(() => page.getByLabel('Description').inputValue()).toBe('Shop')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
    expect((await admin.call('GET /servers/{serverId}', { params: { serverId: id } })).description).toBe('Shop')
    questions.splice(0)
  })
  it('of a fleet ban and its servers outlives the page, and is forgotten once it is made', async () => {
    const lists = () => page.getByRole('link', { name: 'Lists', exact: true }).first()
    const dialog = page.getByRole('dialog')
    const reopened = async () => {
      await page.getByRole('button', { name: 'New fleet ban' }).first().click()
      await expect.poll(() => dialog.getByLabel('Address or range').inputValue()).toBe('198.51.100.0/28')
      await dialog.getByRole('checkbox', { name: 'web-01' }).and(page.locator(':checked')).waitFor()
    }
    await page.goto('whitelist')
    await lists().click()
    await page.getByRole('button', { name: 'New fleet ban' }).first().click()
    await dialog.getByLabel('Address or range').fill('198.51.100.0/28')
    await dialog.getByRole('combobox', { name: 'Where' }).selectOption('some')
    await dialog.getByRole('checkbox', { name: 'web-01' }).check()
    await page.goBack()
    await page.getByRole('heading', { name: 'Whitelist', level: 1 }).waitFor()
    await dialog.waitFor({ state: 'detached' })
    await lists().click()
    await reopened()
    await endSession(dialog.getByRole('button', { name: 'Ban on 1 server' }))
    await page.waitForURL('**/lists')
    await reopened()
    await page.reload()
    await reopened()
    await dialog.getByRole('button', { name: 'Ban on 1 server' }).click()
    await page.getByRole('dialog', { name: 'Ban 198.51.100.0/28' }).waitFor()
    await expect.poll(() => kept('ban  ')).toBe(0)
    await dialog.getByRole('button', { name: 'Another' }).click()
    await dialog.getByLabel('Address or range').fill('192.0.2.1')
    await expect.poll(() => kept('ban  ')).toBe(1)
    await page.keyboard.press('Escape')
    await expect.poll(() => kept('ban  ')).toBe(0)
  })
  it('of a dialog that stayed open over a change of the page is forgotten when it is closed by hand', async () => {
    const dialog = page.getByRole('dialog')
    await page.goto('whitelist')
    await page.getByRole('link', { name: 'Templates', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find an address' }).fill('198.51.100.9')
    await page.getByRole('option', { name: /^Ban 198\.51/ }).click()
    await dialog.getByLabel('Reason').fill('Scraper')
    await expect.poll(() => kept('198.51.100.9')).toBe(1)
    await page.goBack()
    await page.getByRole('heading', { name: 'Whitelist', level: 1, includeHidden: true }).waitFor()
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('Scraper')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => kept('198.51.100.9')).toBe(0)
  })
  it('of a deployment is there after a reload, and is forgotten when it is cancelled', async () => {
    const server = page.getByRole('checkbox', { name: 'web-01' })
    const retries = page.getByLabel('Failures until a ban')
    const settings = page.getByRole('button', { name: 'Change settings' })
    await page.goto('templates/sshd/deploy')
    await server.check()
    await settings.click()
    await retries.fill('7')
    await page.reload()
    await server.and(page.locator(':checked')).waitFor()
    await settings.click()
    await expect.poll(() => retries.inputValue()).toBe('7')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL('**/templates/sshd')
    await expect.poll(() => kept('deploy')).toBe(0)
  })
  it('of the name of a view is there after a reload', async () => {
    const save = page.getByRole('button', { name: 'Save this view' })
    const field = page.getByRole('textbox', { name: 'Name of the view' })
    await page.goto('servers?status=offline')
    await save.click()
    await field.fill('Gone quiet')
    await page.reload()
    await save.click()
    await expect.poll(() => field.inputValue()).toBe('Gone quiet')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => kept('view of')).toBe(0)
  })
  it('of a channel is kept without its secrets', async () => {
    await page.goto('alerts')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Add channel' }).click()
    await dialog.getByLabel('Name', { exact: true }).fill('On call')
    await dialog.locator('input[type=password]').first().fill('not-for-the-disk')
    await page.reload()
    await page.getByRole('button', { name: 'Add channel' }).click()
    await expect.poll(() => dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('On call')
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain('not-for-the-disk')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })
  it('is forgotten with the sign-out, which asks first', async () => {
    await open()
    await name().fill('Hedge')
    expect(
      await page.evaluate(() => Object.keys(localStorage).filter(key => key.startsWith('stockade-draft:'))),
    ).toHaveLength(1)
    const leave = async () => {
      await page
        .getByRole('button', { name: /Account/i })
        .last()
        .click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
    }
    answer = false
    questions.splice(0)
    await leave()
    await expect.poll(() => questions).toEqual(['confirm'])
    await isTyped('Hedge')
    await bar().waitFor()
    answer = true
    await leave()
    await page.waitForURL('**/login**')
    expect(
      await page.evaluate(() => Object.keys(localStorage).filter(key => key.startsWith('stockade-draft:'))),
    ).toEqual([])
  })
})
