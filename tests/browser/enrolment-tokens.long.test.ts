import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* A token that enrols many servers, from its making to its end, on a phone. */

describe.runIf(hasBrowser)('enrolment tokens', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let phone: Visit
  let command = ''
  beforeAll(async () => {
    server = await startServer()
    admin = await server.setUp()
    phone = await visit(server.url, { viewport: { width: 390, height: 844 }, bypassCSP: true })
    await signIn(phone.page, 'admin', password)
  })
  afterAll(async () => {
    await phone?.close()
    await server?.close()
  })
  const enrol = (hostname: string) =>
    fetch(`${server.url}/api/v1/agent/enroll`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        token: /set_\w+/.exec(command)?.[0],
        hostname,
        agent_id: crypto.randomUUID(),
      }),
    })
  const isSound = async () => {
    await settled(phone.page)
    expect(await overflows(phone.page)).toBe(false)
    expect(await breaches(phone.page)).toEqual([])
  }

  it('are made beside the command for one server, and shown once, in each way to run it', async () => {
    const { page } = phone
    await go(page, 'servers/new')
    await page.getByRole('link', { name: 'Many servers' }).click()
    await page.getByRole('heading', { name: 'No enrolment tokens yet' }).waitFor()
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New enrolment token' })
    await dialog.getByLabel('Number of servers').fill('0')
    await dialog.getByRole('button', { name: 'Create token' }).click()
    await dialog.getByText('Give the token a name.').waitFor()
    await dialog.getByText('Enter a number from 1 to 10,000.').waitFor()
    await dialog.getByLabel('Name').fill('autumn racks')
    await dialog.getByLabel('Number of servers').fill('2')
    await dialog.getByLabel('Ends after').selectOption('7 days')
    await dialog.getByLabel('Tags').fill('rack eu')
    await dialog.getByLabel('Used from').fill('everywhere')
    await dialog.getByRole('button', { name: 'Create token' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Used from').fill('127.0.0.0/8')
    await isSound()
    await dialog.getByRole('button', { name: 'Create token' }).click()
    const once = page.getByRole('dialog', { name: 'Command of autumn racks' })
    const field = once.getByLabel('Command to run on the server')
    command = await field.inputValue()
    expect(command).toMatch(/^curl .+ --token set_\w{40}$/)
    for (const [way, line] of [
      ['cloud-init', '#cloud-config'],
      ['Ansible', 'no_log: true'],
      ['Machine image', '--image'],
    ] as const) {
      await once.getByRole('button', { name: way }).click()
      await expect.poll(() => field.inputValue()).toContain(line)
    }
    await isSound()
    await once.getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('listitem').filter({ hasText: 'autumn racks' })
    await row.getByText('0 of 2 servers').waitFor()
    await row.getByText('tags: eu, rack').waitFor()
    await row.getByText('Only from 127.0.0.0/8').waitFor()
    await isSound()
    // A refused network.
    expect(phone.complaints.splice(0).filter(text => !text.includes('400'))).toEqual([])
  })

  it('say who used them, each with a way to its page, and who was refused', async () => {
    const { page } = phone
    for (const status of [201, 201, 409]) expect((await enrol('rack-01')).status).toBe(status)
    await page.reload()
    const row = page.getByRole('listitem').filter({ hasText: 'autumn racks' })
    await row.getByText('Used up').waitFor()
    await row.getByText('1 request was refused, from').waitFor()
    await page.getByRole('link', { name: 'autumn racks' }).click()
    await page.waitForURL('**/servers/tokens?token=1')
    const enrolled = page.getByRole('list', { name: 'Enrolled servers' })
    await expect.poll(() => enrolled.getByRole('listitem').count()).toBe(2)
    await isSound()
    await enrolled.getByRole('link', { name: 'rack-01', exact: true }).click()
    await page.waitForURL('**/servers/*/overview')
    await page.getByRole('heading', { name: 'rack-01', exact: true }).waitFor()
    expect(phone.complaints).toEqual([])
  })

  it('say that their maker lost the right, and end after a question', async () => {
    const { page } = phone
    const { id, key } = await admin.client.call('POST /keys', { body: { name: 'robot', permissions: 'admin' } })
    await server
      .client(key)
      .call('POST /servers/enrolment-tokens', { body: { name: 'by a key', servers: 5, seconds: 3600 } })
    await admin.client.call('DELETE /keys/{keyId}', { params: { keyId: id } })
    await go(page, 'servers/tokens')
    const row = page.getByRole('listitem').filter({ hasText: 'by a key' })
    await row.getByText('key:robot, who made it, may not add servers any more.').waitFor()
    await row.getByText('Suspended').waitFor()
    await isSound()
    await row.getByRole('button', { name: 'Revoke by a key' }).click()
    await page.getByRole('dialog').getByText('Servers that it enrolled stay.').waitFor()
    await page.getByRole('button', { name: 'Revoke the token' }).click()
    await row.getByText('Revoked').waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
    await isSound()
    expect(phone.complaints).toEqual([])
  })
})
