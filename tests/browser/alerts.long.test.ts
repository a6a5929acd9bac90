import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aHost, password, startServer } from '@stockade/server/testing'
import type { EnrolledHost, Signed, TestServer } from '@stockade/server/testing'
import { webhookReceiver } from '../../packages/server/src/testing/webhook.ts'
import type { WebhookReceiver } from '../../packages/server/src/testing/webhook.ts'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* A channel is added and tried, an alert is routed to it, seen, acknowledged and silenced: on a phone. */

describe.runIf(hasBrowser)('alerts and channels', () => {
  let receiver: WebhookReceiver<{ title: string }>
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let host: EnrolledHost
  let phone: Visit
  beforeAll(async () => {
    receiver = await webhookReceiver()
    server = await startServer()
    admin = await server.setUp()
    host = await aHost(server, admin.client, 'web-01')
    phone = await visit(server.url, { viewport: { width: 390, height: 844 }, bypassCSP: true })
    await signIn(phone.page, 'admin', password)
  })
  afterAll(async () => {
    await phone?.close()
    await server?.close()
    await receiver?.close()
  })
  const looksRight = async () => {
    await settled(phone.page)
    expect(await overflows(phone.page)).toBe(false)
    expect(await breaches(phone.page)).toEqual([])
  }

  it('a channel is added from a preset, tried with its steps, and has a log', async () => {
    const { page } = phone
    await go(page, '/alerts')
    await page.getByRole('button', { name: 'Add channel' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Create an app at api.slack.com/apps').waitFor()
    await dialog.getByLabel('Service').selectOption('webhook')
    await dialog.getByText('Any address that takes a POST.').waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('On call')
    await dialog.getByLabel('URL', { exact: true }).fill('http://169.254.169.254/')
    await dialog.getByRole('button', { name: 'Add channel' }).click()
    await dialog.getByText('metadata and reserved addresses are never called').first().waitFor()
    expect(await breaches(page)).toEqual([])
    await dialog.getByLabel('URL', { exact: true }).fill(receiver.url)
    await dialog.getByRole('button', { name: 'Add channel' }).click()
    // The last step of adding it.
    await dialog.getByText('Send a test to see whether messages arrive').waitFor()
    await dialog.getByRole('button', { name: /test.*On call|On call.*test/i }).click()
    await dialog.getByText('HTTP 204').waitFor()
    expect(await breaches(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('listitem').filter({ hasText: 'On call' }).first().waitFor()
    await looksRight()
    await page.getByRole('button', { name: 'Deliveries of On call' }).click()
    await page.getByRole('dialog').getByText('Nothing was delivered yet.').waitFor()
    await page.keyboard.press('Escape')
  })

  it('an alert fires, reaches the channel, is acknowledged and silenced', async () => {
    const { page, complaints } = phone
    await go(page, '/alerts')
    // Without a choice a new channel gets critical alerts and warnings.
    await page.getByText('Choose which severities each channel gets.').waitFor()
    for (const [severity, isTicked] of [
      ['Critical', true],
      ['Warning', true],
      ['Info', false],
    ] as const)
      await expect.poll(() => page.getByRole('checkbox', { name: `On call: ${severity}` }).isChecked()).toBe(isTicked)
    await page.getByText('No alert is firing.').waitFor()
    await page.getByRole('checkbox', { name: 'On call: Warning' }).click()
    await expect.poll(() => page.getByRole('checkbox', { name: 'On call: Warning' }).isChecked()).toBe(false)
    await admin.client.call('PATCH /alerts/rules/{id}', {
      params: { id: 'server-quarantined' },
      body: { severity: 'warning' },
    })
    await looksRight()
    await admin.client.call('POST /servers/{serverId}/quarantine', {
      params: { serverId: host.id },
      body: { reason: 'a test' },
    })
    const fired = page.getByRole('listitem').filter({ hasText: 'Server in quarantine' }).filter({ hasText: 'web-01' })
    await fired.getByText('a test').waitFor()
    // Warnings go nowhere, and the page says so on top.
    await fired.getByText('nobody was notified').waitFor()
    const unheard = page.getByRole('heading', { name: 'Nobody is notified about this alert.' })
    await unheard.waitFor()
    await looksRight()
    await page.getByRole('button', { name: 'Notify On call' }).click()
    await unheard.waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('checkbox', { name: 'On call: Warning' }).isChecked()).toBe(true)
    await fired.getByRole('button', { name: /^Acknowledge/ }).click()
    await fired.getByText('acknowledged by admin').waitFor()
    await fired.getByRole('button', { name: /^Silence/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('maintenance')
    await dialog.getByRole('button', { name: 'Silence' }).click()
    await fired.getByText('silenced').waitFor()
    await page.getByText('maintenance (admin)').waitFor()
    await looksRight()
    expect(receiver.posts.map(({ title }) => title)).toEqual(['Test message'])
    expect(complaints.filter(text => !text.includes('400'))).toEqual([])
  })

  it('a rule of bans is tried on the past and added', async () => {
    const { page } = phone
    await page.getByRole('button', { name: 'Add rule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Storm')
    await dialog.getByRole('button', { name: 'Try on the last 7 days' }).click()
    await dialog.getByText('It would not have fired.').waitFor()
    expect(await breaches(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Add rule' }).click()
    await page.getByRole('button', { name: 'Delete the rule Storm' }).waitFor()
    await page.getByRole('switch', { name: 'Switch off: Storm' }).click()
    await page.getByRole('switch', { name: 'Switch on: Storm' }).waitFor()
    await looksRight()
  })
})
