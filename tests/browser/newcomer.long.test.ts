import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { webhookReceiver } from '../../packages/server/src/testing/webhook.ts'
import type { WebhookReceiver } from '../../packages/server/src/testing/webhook.ts'
import { hasBrowser, signIn } from './browser.ts'
import { enrol } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/*
 * A fresh instance that nobody but the dashboard configures: from the set-up link to a ban that is told in the chat and
 * by mail, and on to a second instance that takes over the settings.
 */

const { visit } = useBrowser('whole')

const startMail = async () => {
  const mails: string[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _, done) {
      let sent = ''
      stream.on('data', (piece: Buffer) => (sent += piece.toString()))
      stream.on('end', () => {
        mails.push(sent)
        done()
      })
    },
  })
  await new Promise<void>(resolve => smtp.listen(0, '127.0.0.1', resolve))
  return {
    port: (smtp.server.address() as AddressInfo).port,
    mails,
    close: () => new Promise<void>(resolve => smtp.close(() => resolve())),
  }
}

describe.runIf(hasBrowser)('a newcomer', () => {
  let server: TestServer
  let other: TestServer
  let chat: WebhookReceiver<unknown>
  let mail: Awaited<ReturnType<typeof startMail>>
  let page: Page
  let host: Host
  const closers: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    server = await startServer({ licence: null })
    closers.push(() => server.close())
    other = await startServer({ licence: null })
    closers.push(() => other.close())
    chat = await webhookReceiver()
    closers.push(() => chat.close())
    mail = await startMail()
    closers.push(() => mail.close())
    const visited = await visit(server.url)
    page = visited.page
    closers.push(visited.close)
  })
  afterAll(async () => {
    for (const close of closers.reverse()) await close()
  })
  const save = async () => {
    const bar = page.getByRole('group', { name: 'Unsaved changes' })
    await bar.getByRole('button', { name: 'Save' }).click()
    await bar.waitFor({ state: 'detached' })
  }

  it('sets up the instance and its first server', async () => {
    await page.goto(`setup?code=${server.setupCode ?? ''}`)
    await page.getByLabel('Username').fill('admin')
    await page.getByLabel('Email').fill('admin@stockade.example')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Create and add the first server' }).click()
    await page.waitForURL('**/servers/new')
    await page.getByLabel('Name', { exact: true }).fill('web-01')
    await page.getByRole('button', { name: 'Create the command' }).click()
    host = await enrol(server, await page.getByLabel('Command to run on the server').inputValue())
    await host.beat()
  })

  it('has bans told in the chat and by mail', async () => {
    await page.goto('settings/notifications')
    await page.getByLabel('Post to the chat').check()
    await page.getByLabel('Webhook URL', { exact: true }).fill(chat.url)
    await page.getByLabel('Send emails').check()
    await page.getByLabel('Mail server', { exact: true }).fill('127.0.0.1')
    await page.getByLabel('Port', { exact: true }).fill(String(mail.port))
    await page.getByLabel('Encrypt, and check the certificate').uncheck()
    await page.getByLabel('Sender').fill('stockade@corp.example')
    await page.getByLabel('Recipients').fill('ops@corp.example')
    await save()
    await host.ban('203.0.113.77', { log_lines: 'sshd: Failed password for root from 203.0.113.77' })
    await expect.poll(() => JSON.stringify(chat.posts)).toContain('203.0.113.77')
    await expect.poll(() => mail.mails.join()).toContain('203.0.113.77')
    expect(mail.mails).toHaveLength(1)
    expect(mail.mails[0]).toMatch(/^To: ops@corp\.example\r?$/m)
    expect(mail.mails[0]).toContain('web-01')
    expect(chat.posts).toHaveLength(1)
  })

  it('takes the settings to another instance', async () => {
    await page.goto('settings/general')
    await page.getByLabel('Site name').fill('Fence')
    await page.getByLabel('Site URL').fill('https://fence.example')
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Berlin')
    await save()
    await page.goto('settings/backup')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    const file = await (await downloading).path()

    await other.setUp()
    const there = await visit(other.url)
    closers.push(there.close)
    await signIn(there.page, 'admin', password)
    await there.page.goto('settings/backup')
    await there.page.getByLabel('File').setInputFiles(file)
    await there.page.getByRole('button', { name: 'Show what would change' }).click()
    await there.page.getByRole('button', { name: /^Import \d+ changes$/ }).click()
    await there.page.getByText('Settings imported.').first().waitFor()
    const [here, taken] = await Promise.all([server.signIn(), other.signIn()])
    const settings = await here.client.call('GET /settings')
    expect(settings.service).toMatchObject({ site_name: 'Fence', timezone: 'Europe/Berlin' })
    expect(await taken.client.call('GET /settings')).toEqual(settings)
  })
})
