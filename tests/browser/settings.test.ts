import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { aLicence, password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { webhookReceiver } from '../../packages/server/src/testing/webhook.ts'
import type { WebhookReceiver } from '../../packages/server/src/testing/webhook.ts'
import { breaches, hasBrowser, inTurn, overflows, signIn } from './browser.ts'
import type { Scheme, Viewport } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* Settings, the licence and the audit log, as an admin meets them in the browser. */

const { visit } = useBrowser()

describe.runIf(hasBrowser)('settings', () => {
  let server: TestServer
  let admin: Client
  let receiver: WebhookReceiver<{ readonly title: string; readonly category: string }>
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  beforeAll(async () => {
    // As newcomers have it: three servers, and all of them used.
    server = await startServer({ licence: null })
    admin = (await server.setUp()).client
    for (const hostname of ['web-01', 'web-02', 'web-03']) await admin.call('POST /servers', { body: { hostname } })
    receiver = await webhookReceiver()
    ;({ page, complaints, close } = await visit(server.url))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await receiver?.close()
    await server?.close()
  })
  const bar = () => page.getByRole('group', { name: 'Unsaved changes' })
  const save = async () => {
    await bar().getByRole('button', { name: 'Save' }).click()
    await bar().waitFor({ state: 'detached' })
  }
  /** What the browser itself says of refused requests is no complaint. */
  const unexpected = () => complaints.filter(text => !/status of (400|402|409|502)/.test(text))

  it('begin with the service; the bar lists what would change, and Ctrl S saves it', async () => {
    await page.goto('settings')
    await page.waitForURL('**/settings/general')
    await expect.poll(() => bar().count()).toBe(0)
    const zone = page.getByRole('combobox', { name: 'Time zone' })
    await zone.fill('Moon/Sea')
    await page.getByText('There is no such time zone.').waitFor()
    await zone.fill('Asia/Kolkata')
    await bar().getByText('Time zone: UTC → Asia/Kolkata').waitFor()
    await page.keyboard.press('Control+s')
    await bar().waitFor({ state: 'detached' })
    expect((await admin.call('GET /settings')).service.timezone).toBe('Asia/Kolkata')
    await page.getByText('Changed by admin').waitFor()
    // What the server alone can judge is said beside the field.
    await page.getByLabel('Site URL').fill('http://user@stockade.example')
    await bar().getByRole('button', { name: 'Save' }).click()
    await page.locator('[aria-invalid=true]').waitFor()
    await page.getByText('service.site_url must be').first().waitFor()
    await bar().getByRole('button', { name: 'Discard' }).click()
  })

  it('say what somebody else changed meanwhile, before it is saved over', async () => {
    const name = page.getByLabel('Site name')
    await name.fill('Mine')
    await admin.call('PATCH /settings', { body: { service: { site_name: 'Theirs' } } })
    await bar().getByRole('button', { name: 'Save' }).click()
    await page.getByText('Someone else changed this meanwhile: Site name.').waitFor()
    await bar().getByText('Site name: Theirs → Mine').waitFor()
    expect((await admin.call('GET /settings')).service.site_name).toBe('Theirs')
    await save()
    expect((await admin.call('GET /settings')).service.site_name).toBe('Mine')
  })

  describe('of notifications', () => {
    const webhook = () => page.getByLabel('Webhook URL', { exact: true })
    const test = () => page.getByRole('button', { name: 'Send a test: Chat' }).click()

    it('take a webhook, show it masked, and send a test', async () => {
      await page.goto('settings/notifications')
      await test()
      await page.getByText('Chat is disabled. Enable it in its settings first.').waitFor()
      await page.getByLabel('Post to the chat').check()
      await webhook().fill(receiver.url)
      await bar().getByText('Chat, Webhook URL: not set → a new one').waitFor()
      await test()
      await page.getByText('A test uses the saved settings. Save first.').waitFor()
      await save()
      await page.getByText('127.0.0.1').filter({ hasText: '••••' }).first().waitFor()
      await expect.poll(() => page.locator('main').textContent()).not.toContain('hush')
      await test()
      await page.getByText(/The chat took the test message\. It took \d+\.\d s\./).waitFor()
      expect(receiver.posts).toMatchObject([{ title: 'Test message', category: 'test' }])
      const steps = await page.getByRole('list', { name: 'Steps of the test' }).getByRole('listitem').allTextContents()
      expect(steps.length).toBeGreaterThan(2)
      expect(steps.every(step => /\d+ msDone/.test(step))).toBe(true)
      await page.getByRole('button', { name: 'Show it' }).click()
      await page.getByText(receiver.url).waitFor()
    })
    it('show a refusal in the words of the other side', async () => {
      receiver.refusal = 'This hook was removed by its owner.'
      await test()
      const said = page.getByRole('alert').filter({ hasText: 'The test was not delivered.' })
      await said.getByText(/The chat did not take the message: .*This hook was removed by its owner\./).waitFor()
      await page.getByRole('list', { name: 'Steps of the test' }).getByText('Failed').waitFor()
      receiver.refusal = ''
    })
    it('refuse a target that nobody may call, beside its field', async () => {
      await webhook().fill('http://169.254.169.254/latest/meta-data')
      await bar().getByRole('button', { name: 'Save' }).click()
      await page
        .getByText(/webhook_url can't be used: /)
        .first()
        .waitFor()
      await expect.poll(() => webhook().getAttribute('aria-invalid')).toBe('true')
      expect(await admin.call('GET /settings/chat')).toMatchObject({ webhook_url: receiver.url })
      await bar().getByRole('button', { name: 'Discard' }).click()
    })
    it('keep one hour of the daily summary for all', async () => {
      await page.getByLabel('Sent at').selectOption('06:00')
      await bar().getByText('Daily summary, Sent at: 08:00 → 06:00').waitFor()
      await page.getByText('In the site’s time zone, Asia/Kolkata').waitFor()
      await save()
      const [all, chat, email] = await Promise.all([
        admin.call('GET /settings'),
        admin.call('GET /settings/chat'),
        admin.call('GET /settings/email'),
      ])
      expect([all.notifications.daily_summary_hour, chat.daily_summary_hour, email.daily_summary_hour]).toEqual([
        6, 6, 6,
      ])
      await admin.call('PATCH /settings/email', { body: { daily_summary_hour: 21 } })
      await page.reload()
      await expect.poll(() => page.getByLabel('Sent at').inputValue()).toBe('21')
    })
    it('take a mail server; what is refused stays typed, what was taken is saved', async () => {
      await page.getByLabel('Mail server', { exact: true }).fill('mail.corp.example')
      await page.getByLabel('Recipients').fill('anna@corp.example\nberta at corp')
      await page.getByLabel('Problems').first().uncheck()
      await bar().getByRole('button', { name: 'Save' }).click()
      await page.locator('textarea[aria-invalid=true]').waitFor()
      expect((await admin.call('GET /settings/chat')).notify_errors).toBe(false)
      await expect.poll(() => bar().getByRole('listitem').count()).toBe(2)
      await page.getByLabel('Recipients').fill('anna@corp.example')
      // The refusal was about the other value.
      await page.locator('textarea[aria-invalid=true]').waitFor({ state: 'detached' })
      await save()
      expect(await admin.call('GET /settings/email')).toMatchObject({
        smtp_host: 'mail.corp.example',
        recipients: ['anna@corp.example'],
      })
    })
  })

  it('of reputation take a key, tell only that there is one, and what was used today', async () => {
    await page.getByLabel('Find a setting').fill('api k')
    await page.getByRole('link', { name: 'API key Reputation' }).click()
    await page.waitForURL('**/settings/reputation')
    await page.getByText('0 of 1,000 reports').waitFor()
    await page.getByLabel('Look up and report addresses').check()
    await page.getByText('It is on, but no API key is set').waitFor()
    await page.getByLabel('API key', { exact: true }).fill('a-key-of-ours')
    await page.getByLabel('Reports per day').fill('1000001')
    await page.getByText('Enter a whole number from 0 to 1,000,000.').waitFor()
    await page.getByLabel('Reports per day').fill('250')
    await save()
    await page.getByText('0 of 250 reports').waitFor()
    expect(await admin.call('GET /settings/reputation')).toMatchObject({ api_key_set: true, rate_limit: 250 })
    await page.getByRole('button', { name: 'Remove it: API key' }).click()
    await bar().getByText('API key: set → not set').waitFor()
    await save()
    expect(await admin.call('GET /settings/reputation')).toMatchObject({ api_key_set: false, enabled: true })
  })

  it('export, and import again after showing what changes', async () => {
    await page.goto('settings/backup')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    const file = await (await downloading).path()
    const exported = JSON.parse(readFileSync(file, 'utf8')) as { settings: { service: { site_name: string } } }
    expect(exported.settings.service.site_name).toBe('Mine')
    await admin.call('PATCH /settings', {
      body: { service: { site_name: 'Other' }, security: { session_timeout: 3600 } },
    })
    await page.getByLabel('File').setInputFiles(file)
    await page.getByRole('button', { name: 'Show what would change' }).click()
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await expect.poll(() => row('Site name').getByRole('cell').allTextContents()).toEqual(['Other', 'Mine'])
    await expect.poll(() => row('Sign out after').getByRole('cell').allTextContents()).toEqual(['1h', '7d'])
    await page.getByRole('button', { name: 'Import 2 changes' }).click()
    await page.getByText('Settings imported.').first().waitFor()
    expect((await admin.call('GET /settings')).service.site_name).toBe('Mine')

    const content = page.getByLabel('Settings to import')
    await content.fill('{"service":')
    await page.getByRole('button', { name: 'Show what would change' }).click()
    await page.getByText('This is no export of settings').waitFor()
    await content.fill('{"settings":{"service":{"site_name":"Only this"}}}')
    await page.getByRole('button', { name: 'Show what would change' }).click()
    await page.getByLabel('Replace').check()
    await expect.poll(() => row('Time zone').getByRole('cell').allTextContents()).toEqual(['Asia/Kolkata', 'UTC'])
    await page.getByRole('button', { name: /^Import \d changes$/ }).click()
    const dialog = page.getByRole('dialog')
    const really = dialog.getByRole('button', { name: 'Replace the settings' })
    await expect.poll(() => really.isDisabled()).toBe(true)
    await dialog.getByLabel('Type replace to confirm').fill('replace')
    await really.click()
    await dialog.waitFor({ state: 'detached' })
    expect((await admin.call('GET /settings')).service).toMatchObject({ site_name: 'Only this', timezone: 'UTC' })
  })

  it('lead from a full licence to the place of a new one', async () => {
    await page.goto('servers/new')
    await page.getByLabel('Name').fill('web-04')
    await page.getByRole('button', { name: /^Create|^Continue|^Add/ }).click()
    await page.getByText('The licence covers 3 servers, and 3 are registered.').waitFor()
    await page.getByRole('link', { name: 'Go to the licence' }).click()
    await page.waitForURL('**/settings/licence')
    await page.getByText('3 of 3 used').waitFor()
    await page.getByText('At the limit: existing servers').waitFor()
    const key = page.getByLabel('Licence key', { exact: true })
    await key.fill('stk1.cut')
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText('Not a complete licence key.').waitFor()
    const good = aLicence({ serverLimit: 40, registeredTo: 'Example Ltd' })
    // One that was tampered with reads well, and is refused by the server.
    await key.fill(`${good.slice(0, -8)}AAAAAAAA`)
    await page.getByRole('group', { name: 'This key says' }).getByText('Example Ltd').waitFor()
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText(/The signature does not fit|Not a complete licence key/).waitFor()
    await page.getByText('3 of 3 used').waitFor()
    await key.fill(good)
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText('3 of 40 used').waitFor()
    await expect
      .poll(() => page.locator('main').getByRole('listitem').filter({ hasText: 'Port knocking' }).textContent())
      .toContain('Included')
    await page.getByText('At the limit: existing servers').waitFor({ state: 'detached' })
    expect(await admin.call('GET /settings/license')).toMatchObject({ tier: 'pro', server_limit: 40 })
  })

  describe('and the audit log', () => {
    const entries = () => page.locator('[data-entry]')

    it('tells who changed what from what to what, and filters by a beginning', async () => {
      await admin.call('PATCH /settings', { body: { service: { site_name: 'Audited' } } })
      await page.goto('audit')
      const changed = entries().filter({ hasText: 'Changed Site name' }).first()
      await changed.getByText('Only this → Audited').waitFor()
      await changed.getByText('admin', { exact: true }).waitFor()
      await changed.getByRole('link', { name: '127.0.0.1' }).waitFor()
      await expect.poll(() => changed.locator('time').textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
      await expect.poll(() => page.locator('main').textContent()).not.toMatch(/hush|a-key-of-ours/)

      const asked = (q: string | null) => page.waitForURL(url => url.searchParams.get('q') === q)
      const field = page.getByLabel('Search the audit log')
      await field.fill('action:server.')
      await asked('action:server.')
      await expect.poll(() => entries().count()).toBe(3)
      await page.reload()
      await expect.poll(() => entries().count()).toBe(3)
      await page.getByRole('button', { name: 'admin', exact: true }).first().click()
      await asked('action:server. user:admin')
      // The URL changes before the field does, and what is typed in between is replaced.
      await expect.poll(() => field.inputValue()).toBe('action:server. user:admin')
      await expect.poll(() => entries().count()).toBe(3)
      await field.fill('user:admin action:portknock.')
      await field.press('Enter')
      await page.getByText('No entry matches.').waitFor()
      await page.getByRole('button', { name: 'Without action:portknock.' }).click()
      await asked('user:admin')
    })
    it('has presets, unfolds to JSON and links to one entry', async () => {
      await page.getByRole('link', { name: 'Settings', exact: true }).and(page.locator('[href*=audit]')).click()
      await page.waitForURL(url => url.searchParams.get('q') === 'action:settings.')
      const first = entries().filter({ hasText: 'Audited' }).first()
      await first.getByRole('button', { name: /^Details of: Changed a setting/ }).click()
      await page.getByRole('region', { name: 'Details as JSON' }).getByText('"new_value": "Audited"').waitFor()
      await page.getByRole('link', { name: 'Link to this entry' }).click()
      await page.waitForURL('**/audit?from=*&to=*&open=*')
      await page.reload()
      await page.getByRole('region', { name: 'Details as JSON' }).getByText('"new_value": "Audited"').waitFor()
      await page.goto('audit?action=settings.import')
      await expect.poll(() => entries().count()).toBe(2)
      const downloading = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Export all that match as CSV' }).click()
      const csv = readFileSync(await (await downloading).path(), 'utf8')
      expect(csv.trim().split('\n')).toHaveLength(3)
      expect(csv).toContain('settings.import')
    })
    it('takes a range that is typed, without losing the place in it', async () => {
      await page.goto('audit')
      await page.getByLabel('Time', { exact: true }).selectOption('Between…')
      await page.getByLabel('Until').fill('2020-02-03T04:05:06')
      await page.waitForURL('**/audit?to=2020-02-03T03%3A05%3A06.000Z')
      await page.getByText('No entry matches.').waitFor()
      await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('datetime-local')
      await page.getByRole('button', { name: 'Clear all filters' }).click()
      await entries().first().waitFor()
    })
    it('counts what comes, and shows it when asked', async () => {
      await page.goto('audit?action=settings.update')
      await entries().first().waitFor()
      const before = await entries().count()
      await admin.call('PATCH /settings', { body: { service: { site_name: 'News' } } })
      // Coming back to the page reads it again; otherwise it does every half minute.
      const news = page.getByRole('button', { name: '1 new Show' })
      await expect
        .poll(async () => {
          await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`)
          return news.count()
        })
        .toBe(1)
      await news.waitFor()
      await expect.poll(() => entries().count()).toBe(before)
      await news.click()
      await entries().filter({ hasText: 'Audited → News' }).waitFor()
    })
  })

  it('leave no complaint of the browser', () => expect(unexpected()).toEqual([]))

  it.each<[Viewport, Scheme]>([
    ['desktop', 'light'],
    ['phone', 'dark'],
  ])('are accessible on a %s, %s', async (viewportName, scheme) => {
    const other = await visit(server.url, { viewportName, scheme, bypassCSP: true })
    const looks: readonly [string, string][] = [
      ['settings/general', 'Time zone'],
      ['settings/notifications', 'Webhook URL'],
      ['settings/reputation', 'Used today'],
      ['settings/backup', 'Settings to import'],
      ['settings/licence', 'Example Ltd'],
      ['audit?action=settings.update&from=now-24h', 'News'],
      ['audit?action=portknock.', 'No entry matches.'],
    ]
    try {
      await signIn(other.page, 'admin', password)
      for (const [path, seen] of inTurn(looks, [viewportName, scheme])) {
        await other.page.goto(path)
        await other.page.locator('main').getByText(seen).first().waitFor()
        if (path.startsWith('audit?action=settings'))
          await other.page
            .getByRole('button', { name: /^Details of/ })
            .first()
            .click()
        expect(await breaches(other.page), path).toEqual([])
        expect(await overflows(other.page), path).toBe(false)
      }
    } finally {
      await other.close()
    }
  })

  it('and the audit log are for admins', async () => {
    await admin.call('POST /users', {
      body: { username: 'olga', email: 'olga@stockade.example', password, role: 'Operator' },
    })
    const other = await visit(server.url)
    try {
      await signIn(other.page, 'olga', password)
      await expect.poll(() => other.page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
      for (const path of [
        'audit',
        'settings/general',
        'settings/notifications',
        'settings/backup',
        'settings/licence',
      ]) {
        await other.page.goto(path)
        await other.page.getByText('This page is for the role Admin.').waitFor()
      }
    } finally {
      await other.close()
    }
  })
})
