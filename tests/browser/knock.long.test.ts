import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { breaches, hasBrowser, overflows, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* Port knocking, as admins and viewers meet it; the hosts are stand-ins that speak the interface as the agent does. */

const { visit } = useBrowser()

const stateOf = async (host: Host) => (await host.client.call('GET /agent/state')).portknock
/** The host says that it holds what it should; or that it could not do it for one sequence. */
const confirm = async (host: Host, failing?: { readonly sequence: number; readonly error: string }) => {
  const { version, portknock } = await host.client.call('GET /agent/state')
  const sequences = portknock.sequences.map(({ id, revision }) =>
    id === failing?.sequence
      ? { id, revision, state: 'failed' as const, error: failing.error }
      : { id, revision, state: 'enforced' as const },
  )
  const openings = portknock.openings.map(({ id }) => id)
  await host.client.call('POST /agent/state/ack', { body: { version, portknock: { sequences, openings } } })
}
const report = (host: Host, sequence_id: number, ip: string, status: 'success' | 'failed' | 'blocked', reason = '') =>
  host.client.call('POST /agent/knocks', {
    body: {
      events: [{ event_id: randomUUID(), sequence_id, ip, status, reason, timestamp: new Date().toISOString() }],
    },
  })
const person = (admin: Client, username: string, role: 'Operator' | 'Viewer') =>
  admin.call('POST /users', { body: { username, email: `${username}@stockade.example`, password, role } })

describe.runIf(hasBrowser)('port knocking', () => {
  let server: TestServer
  let admin: Client
  let web: Host
  let db: Host
  let seen: Visit
  let page: Page
  beforeAll(async () => {
    server = await startServer({ env: staysOnline })
    admin = (await server.setUp()).client
    const host = async (hostname: string) => {
      const enrolled = await aNewHost(server, admin, hostname)
      await enrolled.beat()
      return enrolled
    }
    web = await host('web-01')
    db = await host('db-01')
    seen = await visit(server.url)
    ;({ page } = seen)
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await seen?.close()
    await server?.close()
  })
  /** What the browser itself says of a refused request is no complaint. */
  const unexpected = () => seen.complaints.filter(text => !/status of (402|403|409)/.test(text))
  const dialog = () => page.getByRole('dialog')
  const field = (name: string) => dialog().getByLabel(name, { exact: true })
  const sequences = async () => (await admin.call('GET /portknock/sequences')).sequences
  const idOf = async (name: string) => (await sequences()).find(sequence => sequence.name === name)?.id ?? 0

  it('a first sequence is an example, judged while it is typed; its host confirms it', async () => {
    // Ten seconds between two looks would be ten seconds of this test.
    await page.clock.install()
    await page.getByRole('link', { name: 'Port knocking' }).click()
    await page.waitForURL('**/portknock/sequences')
    await page.getByRole('button', { name: 'Use this example…' }).click()
    await expect.poll(() => field('Name').inputValue()).toBe('SSH')
    await dialog().getByText('closes only after its agent has confirmed').waitFor()
    await dialog().getByText('127.0.0.1, is not on the whitelist').waitFor()

    await field('Knock ports, in order').fill('7000 22')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().getByText('Fix the errors first.').waitFor()
    await dialog().getByText('22 is the protected port').waitFor()
    await field('Knock ports, in order').fill('7000 8000 9000')
    await dialog().getByText('The knock ports only rise').waitFor()
    await field('Knock ports, in order').fill('7000 9000 8000')
    await expect
      .poll(() =>
        dialog()
          .getByText(/only rise|protected port, which/)
          .count(),
      )
      .toBe(0)
    await dialog().getByRole('checkbox', { name: 'web-01' }).check()
    await dialog().getByRole('button', { name: 'Create' }).click()

    const card = page.getByRole('region', { name: 'SSH' })
    await card.getByText('Pending', { exact: true }).waitFor()
    await page.getByText('SSH was created. 1 server will confirm it.').waitFor()
    await expect
      .poll(() => card.getByRole('list', { name: 'Order of the knocks' }).innerText())
      .toMatch(/7000\D+9000\D+8000/)
    const [told] = (await stateOf(web)).sequences
    expect(told).toMatchObject({ protected_port: 22, knock_ports: [7000, 9000, 8000], protocol: 'tcp', timeout: 30 })
    expect((await stateOf(db)).sequences).toEqual([])

    await confirm(web)
    await page.clock.fastForward(10_000)
    await card.getByText('Enforced', { exact: true }).waitFor()
    await page.clock.resume()
    await card.getByText('How to knock').click()
    await expect.poll(() => card.getByLabel('With stockade').inputValue()).toBe('stockade knock web-01 7000 9000 8000')
    await expect.poll(() => card.getByLabel('With any shell, by bash').inputValue()).toContain('</dev/tcp/web-01/$p')
    expect(unexpected()).toEqual([])
  })

  it('what another sequence stands against is said beside the field; what a host could not do, with its reason', async () => {
    await page.goto('portknock/sequences')
    await page.getByRole('button', { name: 'Add a sequence' }).click()
    await field('Name').fill('Database')
    await field('Protected port').fill('5432')
    await field('Knock ports, in order').fill('7101 9000 7102')
    await dialog().getByRole('radio', { name: 'UDP' }).check()
    await dialog().getByRole('radio', { name: 'TCP' }).check()
    await dialog().getByRole('checkbox', { name: 'web-01' }).check()
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().getByText('The sequence "SSH" shares a knock port with it (on web-01).').waitFor()
    const knocks = field('Knock ports, in order')
    await expect.poll(() => knocks.getAttribute('aria-invalid')).toBe('true')
    await knocks.fill('7101 7103 7102')
    await expect.poll(() => knocks.getAttribute('aria-invalid')).toBeNull()
    await dialog().getByRole('checkbox', { name: 'db-01' }).check()
    await dialog().getByRole('button', { name: 'Create' }).click()
    const card = page.getByRole('region', { name: 'Database' })
    await card.waitFor()

    const error = '<img src=x onerror=alert(1)> Port 7101 is taken by <another> program.'
    await confirm(web, { sequence: await idOf('Database'), error })
    await page.reload()
    await card.getByText('Failed', { exact: true }).waitFor()
    await card.getByText(error).waitFor()

    await card.getByRole('button', { name: 'Edit Database' }).click()
    await expect.poll(() => field('Open for').inputValue()).toBe('30s')
    await field('Open for').fill('5m')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await card.getByText('5 min').waitFor()
    expect((await stateOf(db)).sequences).toMatchObject([{ protected_port: 5432, timeout: 300 }])
    const [entry] = (await admin.call('GET /settings/audit', { query: { action: 'portknock.update' } })).entries
    expect(entry?.details).toMatchObject({ fields: ['timeout'] })

    await card.getByRole('button', { name: 'Delete Database' }).click()
    await dialog().getByText('Port 5432 will be open to everyone on 2 servers').waitFor()
    await dialog().getByRole('button', { name: 'Delete the sequence' }).click()
    await card.waitFor({ state: 'detached' })
    expect((await stateOf(db)).sequences).toEqual([])
    expect(unexpected()).toEqual([])
  })

  it('opens for me by the key O, and says when the host has done it; then it is closed again', async () => {
    // Longer than a slow machine takes for what follows.
    const sequenceId = await idOf('SSH')
    await admin.call('PATCH /portknock/sequences/{sequenceId}', { params: { sequenceId }, body: { timeout: 600 } })
    await confirm(web)
    await page.goto('portknock/open')
    await page.getByText('No port is open.').waitFor()
    await page.keyboard.press('o')
    await dialog().getByText('127.0.0.1').waitFor()
    await dialog().getByText('Opens port 22 for 10 min.').waitFor()
    await dialog().getByText('web-01 enforces it.').waitFor()
    await dialog().getByRole('button', { name: 'Open for me' }).click()
    await dialog().getByText('web-01 has not confirmed yet.').waitFor()
    await confirm(web)
    await dialog().getByText('web-01 has confirmed.').waitFor()
    await dialog().getByText('Port 22 is open for 127.0.0.1.').waitFor()

    await dialog().getByLabel('The key O opens this').uncheck()
    await dialog().getByRole('button', { name: 'Done' }).click()
    await dialog().waitFor({ state: 'detached' })
    const row = page.locator('[data-opening]', { hasText: '127.0.0.1' })
    await expect.poll(() => row.innerText()).toMatch(/You[^]+web-01[^]+SSH[^]+22[^]+Open[^]+\d+ min left/)
    await page.keyboard.press('o')
    await expect.poll(() => dialog().count()).toBe(0)

    await row.getByRole('button', { name: 'Close: port 22 of web-01 for 127.0.0.1' }).click()
    await page.getByText('Port 22 of web-01 is closed for 127.0.0.1.').waitFor()
    await page.getByText('No port is open.').waitFor()
    expect(await stateOf(web)).toMatchObject({ openings: [], cuts: [] })
    expect(unexpected()).toEqual([])
  })

  it('shows what hosts report: who is let in, who is blocked; and cuts, and unblocks', async () => {
    const ssh = await idOf('SSH')
    await admin.call('PATCH /portknock/sequences/{sequenceId}', {
      params: { sequenceId: ssh },
      body: { server_ids: [web.id, db.id] },
    })
    await report(web, ssh, '198.51.100.7', 'success')
    for (const host of [web, db]) {
      await report(host, ssh, '203.0.113.9', 'failed', 'wrong order')
      await report(host, ssh, '203.0.113.9', 'blocked')
    }
    await report(db, ssh, '2001:db8::9', 'blocked')

    await page.goto('portknock/open')
    await page.getByRole('button', { name: 'Close and cut connections: port 22 of web-01 for 198.51.100.7' }).click()
    await dialog().getByText('connections from there to that port end at once').waitFor()
    await dialog().getByRole('button', { name: 'Close and cut connections' }).click()
    await page.getByText('closed for 198.51.100.7, and its connections are cut.').waitFor()
    expect((await stateOf(web)).cuts).toMatchObject([{ ip: '198.51.100.7' }])

    await page.getByRole('link', { name: 'Statistics' }).click()
    const figure = page.getByRole('main').locator('dl > div', { hasText: 'Wrong' })
    await expect.poll(() => figure.innerText()).toMatch(/2\s+33 % of all/)
    await expect.poll(() => page.getByRole('row', { name: /SSH/ }).innerText()).toMatch(/6\s+17 %/)
    await figure.getByRole('link').click()
    await page.waitForURL('**/portknock/history?from=now-24h&status=failed')
    await page.getByText('wrong order').first().waitFor()
    await expect.poll(() => page.locator('[data-knock]').count()).toBe(2)
    await page.getByLabel('Server', { exact: true }).selectOption('db-01')
    await page.getByText('1–1 of 1').waitFor()
    await page.reload()
    await page.getByText('1–1 of 1').waitFor()
    await expect.poll(() => page.getByLabel('Result').inputValue()).toBe('failed')
    await page.getByLabel('Sequence', { exact: true }).selectOption('SSH')
    await page.goBack()
    await page.getByLabel('Result').selectOption('success')
    await page.getByText('No knock matches these filters.').waitFor()

    await page.getByRole('link', { name: 'Blocked' }).click()
    await page.getByRole('button', { name: 'Unblock here: 2001:db8::9 on db-01' }).click()
    await page.getByText('2001:db8::9 is unblocked on db-01.').waitFor()
    await page.getByRole('button', { name: 'Unblock everywhere: 203.0.113.9' }).first().click()
    await dialog().getByRole('button', { name: 'Unblock on 2 servers' }).click()
    await page.getByText('No address is blocked.').waitFor()
    for (const host of [web, db]) expect((await stateOf(host)).blocked).toEqual([])
    expect(unexpected()).toEqual([])
  })

  it('where the sequences can not be read, what else a page shows is there', async () => {
    const path = '**/api/v1/portknock/sequences'
    const alert = page.getByRole('main').getByRole('alert')
    await page.route(path, route => route.fulfill({ status: 403, json: { error: 'Forbidden', message: 'Not you.' } }))
    for (const [tab, text] of [
      ['open', 'No port is open.'],
      ['history', '203.0.113.9'],
      ['blocked', 'No address is blocked.'],
      ['stats', 'Addresses that knock most'],
    ] as const) {
      await page.goto(`portknock/${tab}`)
      await page.getByRole('main').getByText(text).first().waitFor()
      await alert.getByText('Not you.').waitFor()
      await expect.poll(() => alert.count(), { message: tab }).toBe(1)
    }
    await page.unroute(path)
    await alert.getByRole('button', { name: 'Retry' }).click()
    await alert.waitFor({ state: 'detached' })
    await expect.poll(() => page.getByRole('button', { name: 'Open for me' }).isEnabled()).toBe(true)
  })

  it('viewers see no numbers and nothing that they may not do; on a narrow phone too', async () => {
    await person(admin, 'vera', 'Viewer')
    const ssh = await idOf('SSH')
    await report(web, ssh, '198.51.100.8', 'success')
    await confirm(db, { sequence: ssh, error: 'something on this host listens on its knock port tcp 7000' })
    const other = await visit(server.url, { viewportName: 'phone', viewport: { width: 360, height: 740 } })
    try {
      await signIn(other.page, 'vera', password)
      await other.page.goto('portknock')
      const card = other.page.getByRole('region', { name: 'SSH' })
      await card.getByText('You are a Viewer: the ports to knock at are not shown.').waitFor()
      await card.getByText('The server could not do this. Operators see why.').waitFor()
      expect(await other.page.content()).not.toMatch(/7000|9000|8000/)
      await expect.poll(() => other.page.getByRole('button', { name: /Add|Edit|Delete/ }).count()).toBe(0)
      await expect.poll(() => other.page.getByRole('button', { name: 'Open for me' }).count()).toBe(0)
      await other.page.keyboard.press('o')
      await expect.poll(() => other.page.getByRole('dialog').count()).toBe(0)
      for (const [tab, text] of [
        ['sequences', 'SSH'],
        ['open', '198.51.100.8'],
        ['history', '198.51.100.8'],
        ['blocked', 'No address is blocked.'],
        ['stats', 'Addresses that knock most'],
      ] as const) {
        await other.page.goto(`portknock/${tab}`)
        await other.page.getByRole('main').getByText(text).first().waitFor()
        expect(await overflows(other.page), tab).toBe(false)
        await expect
          .poll(() => other.page.getByRole('button', { name: /^Close|Unblock/ }).count(), { message: tab })
          .toBe(0)
      }
      expect(other.complaints).toEqual([])
    } finally {
      await other.close()
    }
  })
})

it.runIf(hasBrowser)(
  'without a licence port knocking says what it would be, and an admin gets one in one step',
  async () => {
    const server = await startServer({ licence: null, env: { STOCKADE_LICENSE_PUBLIC_KEY: '' } })
    try {
      const { client } = await server.setUp()
      await person(client, 'olga', 'Operator')
      for (const [username, links] of [
        ['olga', 0],
        ['admin', 1],
      ] as const) {
        const { page, complaints, close } = await visit(server.url, { viewportName: 'phone', bypassCSP: true })
        try {
          await signIn(page, username, password)
          await page.goto('portknock/open')
          await page.getByRole('heading', { name: 'Port knocking needs Pro' }).waitFor()
          const main = page.getByRole('main')
          await expect.poll(() => main.getByRole('link', { name: 'Go to the licence' }).count()).toBe(links)
          await expect.poll(() => main.getByRole('button').count()).toBe(links)
          if (links === 0) await page.getByText('An admin can issue one here').waitFor()
          else {
            expect(await breaches(page)).toEqual([])
            await main.getByRole('button', { name: 'Issue a licence for this installation' }).click()
            await main.getByRole('navigation', { name: 'Port knocking' }).waitFor()
          }
          expect(complaints.filter(text => !text.includes('status of 402'))).toEqual([])
        } finally {
          await close()
        }
      }
    } finally {
      await server.close()
    }
  },
)
