import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { formatted, streamBytes } from '../../packages/server/src/features/siem/formats/formats.ts'
import type { Format } from '../../packages/server/src/features/siem/formats/formats.ts'
import { httpReceiver } from '../../packages/server/src/features/siem/receivers.ts'
import type { HttpReceiver } from '../../packages/server/src/features/siem/receivers.ts'
import { sampleEvent, samples } from '../../packages/dashboard/src/features/siem/samples.ts'
import { breaches, hasBrowser, overflows, signIn } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* Forwarding to a SIEM, as an admin meets it in the browser: events really go to a receiver, and are counted there. */

it.each(Object.keys(samples) as Format[])('the sample of %s is what the server makes of that event', format => {
  const made = formatted(format, sampleEvent, { host: 'stockade.example', version: '1.0' }, streamBytes)
  if (format === 'json') expect(JSON.parse(samples.json)).toEqual([JSON.parse(made)])
  else if (format === 'collector') expect(JSON.parse(samples.collector)).toEqual(JSON.parse(made))
  else expect(samples[format]).toBe(made)
})

describe.runIf(hasBrowser)('forwarding', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Client
  let receiver: HttpReceiver
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  beforeAll(async () => {
    receiver = await httpReceiver()
    server = await startServer()
    admin = (await server.setUp()).client
    ;({ page, complaints, close } = await visit(server.url))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
    await receiver?.stop()
  })
  const bar = () => page.getByRole('group', { name: 'Unsaved changes' })
  const saved = () => bar().waitFor({ state: 'detached' })
  const steps = () => page.getByRole('list', { name: 'Steps of the test' }).getByRole('listitem')
  const figure = (name: string) => page.locator('dl > div').filter({ hasText: name }).locator('dd')
  const test = () => page.getByRole('button', { name: 'Send a test event' }).click()
  /** What the browser itself says of refused requests is no complaint. */
  const unexpected = () => complaints.filter(text => !/status of (400|402|403|409)/.test(text))

  it('four clicks from anywhere to an event that the other side really has', async () => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'SIEM' }).click()
    await page.waitForURL('**/siem/destination')
    await expect.poll(() => page.getByRole('button', { name: 'Send a test event' }).count()).toBe(0)
    await page.getByRole('radio', { name: 'JSON over HTTP' }).click()
    // A pasted address goes to the fields that it is made of.
    await page.getByLabel('Host', { exact: true }).fill(`http://127.0.0.1:${receiver.port}/in`)
    await expect.poll(() => page.getByLabel('Host', { exact: true }).inputValue()).toBe('127.0.0.1')
    await expect.poll(() => page.getByLabel('Port', { exact: true }).inputValue()).toBe(String(receiver.port))
    await expect.poll(() => page.getByLabel('Path', { exact: true }).inputValue()).toBe('/in')
    await bar().getByText('Format: Syslog → JSON over HTTP').waitFor()
    await bar().getByRole('button', { name: 'Save' }).click()
    await saved()
    await test()
    await page.getByText('The test event was taken.').first().waitFor()
    const [event] = receiver.events
    expect(event?.type).toBe('test')
    await page
      .getByRole('definition')
      .filter({ hasText: event?.id ?? 'no event' })
      .waitFor()
    await expect.poll(() => page.getByLabel('What to search for').inputValue()).toBe(`"id":"${event?.id ?? ''}"`)
    const told = await steps().allTextContents()
    expect(told.map(text => text.replace(/\d+ ms.*/, ''))).toEqual(['Look up the name', 'Connect', 'Write', 'Answer'])
    expect(told.every(text => /\d+ msDone/.test(text))).toBe(true)
    expect(await admin.call('GET /siem/settings')).toMatchObject({ enabled: false, format: 'json', protocol: 'http' })
  })

  it('then it is turned on where the test says that it is off', async () => {
    await page.getByText('Forwarding is still off.').waitFor()
    await page.getByRole('button', { name: 'Turn it on' }).click()
    await page.getByText('Forwarding is still off.').waitFor({ state: 'detached' })
    await expect.poll(() => page.getByLabel('Forward events').isChecked()).toBe(true)
  })

  it('the lowest severity strikes out what will not be sent; Ctrl S saves it', async () => {
    await page.getByLabel('Seconds until the rest is sent').fill('1')
    await page.getByLabel('Lowest severity').selectOption('5')
    await page.locator('[data-type=unban]').getByText('Below the minimum: not sent.').waitFor()
    await expect.poll(() => page.locator('[data-type=ban]').getByText('Below the minimum').count()).toBe(0)
    await page.getByText('3 of 8 types are sent.').waitFor()
    await page.getByLabel('Login failed').uncheck()
    await page.getByText('2 of 8 types are sent.').waitFor()
    await page.getByLabel('Lowest severity').selectOption('3')
    await bar().getByText('Events: 8 of 8 → 7 of 8').waitFor()
    await page.keyboard.press('Control+s')
    await saved()
    expect(await admin.call('GET /siem/settings')).toMatchObject({ min_severity: 3, flush_interval: 1 })
  })

  it('a test saves first; what is wrong is said beside its field', async () => {
    await page.getByLabel('Port', { exact: true }).fill('70000')
    await test()
    await page.getByText('Fix the errors first.').waitFor()
    await expect.poll(() => page.getByLabel('Port', { exact: true }).getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Port', { exact: true }).fill(String(receiver.port))
    // What the server alone can judge.
    await page.getByLabel('Host', { exact: true }).fill('169.254.169.254')
    await bar().getByRole('button', { name: 'Save' }).click()
    await page
      .getByText(/host can't be used/)
      .first()
      .waitFor()
    await expect.poll(() => page.getByLabel('Host', { exact: true }).getAttribute('aria-invalid')).toBe('true')
    await bar().getByRole('button', { name: 'Discard' }).click()
  })

  it('events are delivered and counted', async () => {
    await page.goto('siem/delivery')
    await admin.call('POST /whitelist', { body: { ip: '192.0.2.0/24', description: 'Office' } })
    await expect.poll(() => receiver.events.filter(({ type }) => type === 'whitelist_add').length).toBe(1)
    await page.getByText('Connected', { exact: true }).waitFor()
    // The receiver has an event before Stockade has read its answer and counted it. The test event is not counted.
    const counted = async () => {
      const { events_sent_today, queue_size } = await admin.call('GET /siem/status')
      return { queue_size, uncounted: receiver.events.length - events_sent_today }
    }
    await expect.poll(counted).toEqual({ queue_size: 0, uncounted: 1 })
    const { events_sent_today } = await admin.call('GET /siem/status')
    // Within one poll, without a reload.
    await expect.poll(() => figure('Sent today').textContent()).toBe(String(events_sent_today))
    await expect.poll(() => figure('Failed today').textContent()).toBe('0')
    await page.getByRole('img', { name: /^Events each hour, last 24 h\. \d+ events since/ }).waitFor()
    const table = page.getByText('Show as table')
    await table.click()
    const cells = page.getByRole('table', { name: 'Events each hour, last 24 h' }).locator('td:last-child')
    await expect
      .poll(async () => (await cells.allTextContents()).reduce((sum, text) => sum + Number(text), 0))
      .toBe(events_sent_today)
    await page.locator('[data-attempt=ok]').filter({ hasText: 'HTTP 200' }).first().waitFor()
  })

  it('a target that is not reached shows the step that failed, and what to check', async () => {
    await page.goto('siem/destination')
    receiver.answer = () => ({ status: 403, text: 'This token was revoked.' })
    await test()
    await page.getByRole('alert').getByText('This token was revoked.').waitFor()
    await expect.poll(async () => (await steps().allTextContents()).at(-1)).toMatch(/^Answer\d+ msFailedHTTP 403/)
    // Nothing listens on port 1.
    await page.getByLabel('Port', { exact: true }).fill('1')
    await page.getByRole('button', { name: 'Save and send a test event' }).click()
    await page.getByText('The test event did not arrive.').waitFor()
    // The steps of the test before stay until this one has its own.
    const step = async (index: number) => (await steps().allTextContents())[index]
    await expect.poll(() => step(1)).toMatch(/^Connect\d+ msFailed.*nothing listens there/)
    const told = await steps().allTextContents()
    expect(told[0]).toMatch(/^Look up the name\d+ msDone/)
    expect(told.slice(2)).toEqual(['WriteNot reached', 'AnswerNot reached'])
    await page.getByText('Is the receiver running').waitFor()
  })

  it('what can’t be sent waits, and is discarded only when that is typed', async () => {
    for (const ip of ['198.51.100.1', '198.51.100.2']) await admin.call('POST /whitelist', { body: { ip } })
    const added = async () =>
      (await admin.call('GET /siem/queue')).events.filter(({ type }) => type === 'whitelist_add').length
    await expect.poll(added).toBe(2)
    await page.goto('siem/queue')
    await page.locator('[data-event]').filter({ hasText: 'Whitelist entry added' }).nth(1).waitFor()
    await page.goto('siem/delivery')
    await page.getByText('Not connected', { exact: true }).waitFor()
    await page.getByText('Failing since').waitFor()
    await page.getByText('Does the endpoint take a POST of a JSON array').waitFor()
    await page.getByRole('link', { name: /events wait$/ }).click()
    await page.waitForURL('**/siem/queue')
    await page.getByRole('button', { name: 'Send now' }).click()
    await page
      .getByText(/still wait\.|Sending goes on\./)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Discard all…' }).click()
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.getByRole('button', { name: 'Discard them' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Type discard to confirm').fill('discard')
    await dialog.getByRole('button', { name: 'Discard them' }).click()
    await page.getByText('Nothing waits.').waitFor()
    expect((await admin.call('GET /siem/queue')).queue_size).toBe(0)
    await page
      .getByText(/\d+ events were discarded\./)
      .first()
      .waitFor()
  })

  it('past events are replayed, under the ids that they had; the address leads back to it', async () => {
    receiver.answer = null
    await admin.call('PATCH /siem/settings', { body: { port: receiver.port } })
    const before = receiver.events.length
    await page.goto('siem/replay')
    await page.getByLabel('Last hour').check()
    for (const type of ['Settings changed', 'Login', 'Login failed'])
      await page.getByLabel(type, { exact: true }).uncheck()
    await page.getByRole('button', { name: 'Replay them' }).click()
    await page.waitForURL('**/siem/replay?job=*')
    await page.getByText('Completed').waitFor()
    await page.getByText('3 of 3 sent').waitFor()
    const again = receiver.events.slice(before).filter(({ type }) => type === 'whitelist_add')
    expect(again).toHaveLength(3)
    expect(receiver.events.slice(0, before).map(({ id }) => id)).toContain(again[0]?.id)
    await page.reload()
    await page.getByText('3 of 3 sent').waitFor()
    await page.getByRole('link', { name: 'Replay something else' }).click()
    await page.getByLabel('Between…').check()
    await page.getByRole('button', { name: 'Replay them' }).click()
    await page.getByText('Enter two moments, the earlier one first.').first().waitFor()
    await page.goto('siem/replay?job=019a9c4e-7b00-7abc-8def-0123456789ab')
    await page.getByText('There is no such replay any more.').waitFor()
    expect(unexpected().filter(text => !/status of 404/.test(text))).toEqual([])
  })

  it.each([
    ['settings', 'delivery', 'Sent today'],
    ['settings', 'replay', 'Replay them'],
    ['status', 'queue', 'Nothing waits'],
  ])(
    'where the %s can not be read, the rest of the page %s is there, and it is asked for again alone',
    async (part, name, text) => {
      const path = `**/api/v1/siem/${part}`
      await page.route(path, route => route.fulfill({ status: 403, json: { error: 'Forbidden', message: 'Not you.' } }))
      await page.goto(`siem/${name}`)
      await page.getByRole('main').getByText(text).first().waitFor()
      const alert = page.getByRole('main').getByRole('alert')
      await alert.getByText('Not you.').waitFor()
      await expect.poll(() => alert.count()).toBe(1)
      await page.unroute(path)
      await alert.getByRole('button', { name: 'Retry' }).click()
      await alert.waitFor({ state: 'detached' })
      await page.getByRole('main').getByText(text).first().waitFor()
    },
  )

  it('nothing keeps people out of what a test and a refused save show', async () => {
    const other = await visit(server.url, { viewportName: 'phone', bypassCSP: true })
    try {
      await signIn(other.page, 'admin', password)
      await other.page.goto('siem/destination')
      await other.page.getByRole('button', { name: 'Send a test event' }).click()
      await other.page.getByText('The test event was taken.').first().waitFor()
      await other.page.getByLabel('Lowest severity').selectOption('6')
      await other.page.getByLabel('Host', { exact: true }).fill('')
      await other.page.getByRole('group', { name: 'Unsaved changes' }).getByRole('button', { name: 'Save' }).click()
      await other.page.getByText('Fix the errors first.').waitFor()
      expect(await breaches(other.page)).toEqual([])
      expect(await overflows(other.page)).toBe(false)
    } finally {
      await other.close()
    }
  })

  it('is for admins', async () => {
    await admin.call('POST /users', {
      body: { username: 'olga', email: 'olga@stockade.example', password, role: 'Operator' },
    })
    const other = await visit(server.url)
    try {
      await signIn(other.page, 'olga', password)
      await expect.poll(() => other.page.getByRole('link', { name: 'SIEM' }).count()).toBe(0)
      await other.page.goto('siem/destination')
      await other.page.getByText('This page is for the role Admin.').waitFor()
    } finally {
      await other.close()
    }
  })

  it('without a licence it says what there would be, and where the licence goes', async () => {
    const personal = await startServer({ licence: null })
    const other = await visit(personal.url)
    try {
      await personal.setUp()
      await signIn(other.page, 'admin', password)
      for (const name of ['destination', 'queue']) {
        await other.page.goto(`siem/${name}`)
        await other.page.getByRole('heading', { name: 'Forwarding needs Pro' }).waitFor()
      }
      await other.page.getByRole('link', { name: 'Go to the licence' }).click()
      await other.page.waitForURL('**/settings/licence')
      expect(other.complaints.filter(text => !/status of 402/.test(text))).toEqual([])
    } finally {
      await other.close()
      await personal.close()
    }
  })
})
