import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { appearances, breaches, go, hasBrowser, inTurn, overflows, settled, signIn } from './browser.ts'
import { enrol, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* Every page, in both schemes, on a desktop and on a phone: nothing that keeps people out, nothing that sticks out. */
describe.runIf(hasBrowser)('every page is accessible', () => {
  let server: TestServer
  let fresh: TestServer
  let admin: Signed
  const { visit } = useBrowser()
  let host: Host
  let banId: number
  let waitingId: string
  let commandId: string
  let batchId: string

  beforeAll(async () => {
    server = await startServer({ env: staysOnline })
    fresh = await startServer()
    admin = await server.setUp()
    const made = await admin.client.call('POST /servers', { body: { hostname: 'web-01', description: 'Shop' } })
    host = await enrol(server, made.install_command)
    await host.beat(['sshd', 'nginx-http-auth'])
    banId = await host.ban('203.0.113.7', { log_lines: 'Failed password for root from 203.0.113.7 port 4242 ssh2' })
    await host.ban('2001:db8:85a3:8d3:1319:8a2e:370:7348', { jail: 'nginx-http-auth', ban_duration: -1 })
    for (let index = 1; index <= 60; index++) await host.ban(`198.51.100.${index}`)
    waitingId = (await admin.client.call('POST /servers', { body: { hostname: 'web-02' } })).id
    await admin.client.call('POST /whitelist', { body: { ip: '192.0.2.0/24', description: 'Office' } })
    const asked = await admin.client.call('POST /servers/{serverId}/commands', {
      params: { serverId: host.id },
      body: { type: 'jail-status', params: { jail: 'sshd' } },
    })
    commandId = asked.id
    await host.orders()
    await host.answer(commandId, true, 'Status for the jail: sshd\n|- Currently failed: 3')
    const batch = await admin.client.call('POST /commands/batch', {
      body: { server_ids: [host.id, waitingId], type: 'reload-all', params: {} },
    })
    batchId = batch.batch_id
    // Nothing listens there: events wait.
    const target = { format: 'cef', host: '127.0.0.1', port: 1, protocol: 'tcp', flush_interval: 1 } as const
    await admin.client.call('PATCH /siem/settings', { body: { enabled: true, min_severity: 3, ...target } })
    await addKnocks()
  })
  /** A sequence that its host could not do, what is open by it, who knocked, and who is blocked. */
  const addKnocks = async () => {
    const { id } = await admin.client.call('POST /portknock/sequences', {
      body: {
        name: 'SSH',
        protected_port: 22,
        knock_ports: [7000, 8000, 9000],
        timeout: 86_400,
        server_ids: [host.id, waitingId],
      },
    })
    const { version, portknock } = await host.client.call('GET /agent/state')
    const told = { id, state: 'failed' as const, error: 'A program listens on port 8000.' }
    const sequences = portknock.sequences.map(({ revision }) => ({ ...told, revision }))
    await host.client.call('POST /agent/state/ack', { body: { version, portknock: { sequences, openings: [] } } })
    const knock = (ip: string, status: 'success' | 'failed' | 'blocked') => ({
      event_id: randomUUID(),
      sequence_id: id,
      ip,
      status,
      reason: status === 'failed' ? 'Wrong order.' : null,
      timestamp: new Date().toISOString(),
    })
    await host.client.call('POST /agent/knocks', {
      body: {
        events: [knock('198.51.100.7', 'success'), knock('203.0.113.9', 'failed'), knock('203.0.113.9', 'blocked')],
      },
    })
  }
  afterAll(async () => {
    await server?.close()
    await fresh?.close()
  })

  /** What to open, what has to be seen before it is judged, and what is done first. */
  type Look = {
    readonly name: string
    readonly path: () => string
    readonly seen: string
    readonly act?: (page: Page) => Promise<void>
  }
  const inside: readonly Look[] = [
    { name: 'servers', path: () => 'servers', seen: 'text=web-01' },
    { name: 'servers, nothing found', path: () => 'servers?search=nothing', seen: 'text=No server matches.' },
    { name: 'server', path: () => `servers/${host.id}`, seen: 'text=nginx-http-auth >> visible=true' },
    {
      name: 'server, gone',
      path: () => 'servers/01934f9e-0000-7000-8000-000000000001',
      seen: 'text=There is no such server',
    },
    {
      name: 'delete a server',
      path: () => `servers/${host.id}/settings`,
      seen: 'text=Delete…',
      act: async page => {
        await page.getByRole('button', { name: 'Delete…' }).click()
        await page.getByRole('dialog').getByLabel('Type web-01 to confirm').waitFor()
      },
    },
    { name: 'add a server', path: () => 'servers/new', seen: 'text=Run one line on the server' },
    {
      name: 'add a server, waiting',
      path: () => `servers/new?id=${waitingId}`,
      seen: 'text=Waiting for the command to be run.',
    },
    { name: 'add a server, done', path: () => `servers/new?id=${host.id}`, seen: 'text=View its bans' },
    { name: 'enrolment tokens', path: () => 'servers/tokens', seen: 'text=An enrolment token enrols' },
    { name: 'bans', path: () => 'bans', seen: '[data-ban]' },
    { name: 'single bans', path: () => 'bans?by=bans', seen: '[data-ban]' },
    {
      name: 'bans, filtered',
      path: () => 'bans?jail=sshd&ip=203.0.113.0/24&from=now-7d&active=true',
      seen: '[data-ban]',
    },
    { name: 'bans, nothing found', path: () => 'bans?ip=192.0.2.200', seen: 'text=No ban matches.' },
    { name: 'bans, wrong address', path: () => 'bans?ip=192.0.2.300', seen: 'text=Not an address or range.' },
    { name: 'bans, wrong search', path: () => 'bans?q=jali:sshd', seen: 'text=Use jail' },
    {
      name: 'bans, help and suggestions',
      path: () => 'bans?q=jail:sshd',
      seen: '[data-ban]',
      act: async page => {
        await page.getByRole('button', { name: 'How to search' }).click()
        await page.getByRole('combobox', { name: 'Search the bans' }).fill('st')
        await page.getByRole('option').first().waitFor()
      },
    },
    {
      name: 'bans, some chosen',
      path: () => 'bans?by=bans',
      seen: '[data-ban]',
      act: async page => {
        if ((await page.locator('[data-row] input').count()) === 0) return
        await page.locator('[data-row] input').first().check()
        await page.getByText('1 ban selected').waitFor()
      },
    },
    {
      name: 'bans, the menu of a value',
      path: () => 'bans?sort=ip',
      seen: '[data-ban]',
      act: async page => {
        await page
          .getByRole('button', { name: /^What to do with/ })
          .first()
          .press('Enter')
        await page.getByRole('menuitem').first().waitFor()
      },
    },
    {
      name: 'bans, filters',
      path: () => 'bans?from=now-7d',
      seen: '[data-ban]',
      act: async page => {
        await page.getByRole('button', { name: /^Filters/ }).click()
        await page.getByRole('dialog').getByLabel('Jail').waitFor()
      },
    },
    { name: 'bans, second page', path: () => 'bans?page=2', seen: '[data-ban]' },
    { name: 'one ban', path: () => `bans/${banId}`, seen: 'text=Failed password' },
    {
      name: 'ban an address',
      path: () => 'bans',
      seen: '[data-ban]',
      act: async page => {
        await page.getByRole('button', { name: 'Ban an address' }).click()
        await page.getByRole('dialog').getByLabel('Address or range').waitFor()
      },
    },
    {
      name: 'account menu',
      path: () => 'bans',
      seen: '[data-ban]',
      act: async page => {
        await page.getByRole('button', { name: 'Account of admin' }).click()
        await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor()
      },
    },
    { name: 'not found', path: () => 'nowhere', seen: 'text=Nothing here' },
  ]
  /** Pages of the same parts: two of the four ways to see them are enough. */
  const ofFleet: readonly Look[] = [
    { name: 'overview', path: () => '', seen: 'text=Attacking now' },
    { name: 'look-up, wrong address', path: () => 'ip/203.0.113.300', seen: 'text=is above 255' },
    { name: 'an address', path: () => 'ip/203.0.113.7', seen: 'text=Failed password' },
    {
      name: 'unban everywhere',
      path: () => 'ip/203.0.113.7',
      seen: 'text=Banned on 1 server',
      act: async page => {
        await page.getByRole('button', { name: 'Unban everywhere' }).click()
        await page.getByRole('dialog').getByText('Whitelist it as well').click()
        await page.getByRole('dialog').getByLabel('Description').waitFor()
      },
    },
    { name: 'whitelist', path: () => 'whitelist', seen: 'text=0 of 2 done' },
    {
      name: 'whitelist, wrong line',
      path: () => 'whitelist',
      seen: 'text=0 of 2 done',
      act: async page => {
        await page.getByRole('button', { name: 'Add', exact: true }).click()
        await page.getByRole('dialog').getByLabel('Addresses and ranges').fill('nonsense')
        await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
        await page.getByRole('dialog').getByText('Line 1: nonsense').waitFor()
      },
    },
    { name: 'commands', path: () => 'commands', seen: 'text=2 servers' },
    {
      name: 'run a command',
      path: () => 'commands',
      seen: 'text=2 servers',
      act: async page => {
        await page.getByRole('button', { name: 'Run a command' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'All online' }).waitFor()
      },
    },
    { name: 'one command', path: () => `commands/${commandId}`, seen: 'text=Currently failed' },
    { name: 'a batch', path: () => `batches/${batchId}`, seen: 'text=0 of 2 done' },
    { name: 'templates', path: () => 'templates?category=mail', seen: 'text=postfix' },
    { name: 'a template', path: () => 'templates/sshd', seen: 'text=Files on the server' },
    {
      name: 'a new template',
      path: () => 'templates/new?from=wordpress',
      seen: 'text=No problems found.',
      act: async page => {
        await page.getByRole('button', { name: 'Fill in an example' }).click()
        await page.getByText('2 of 3 lines match.').waitFor()
      },
    },
    { name: 'deploy a template', path: () => 'templates/sshd/deploy', seen: 'text=All online' },
    { name: 'jails', path: () => `servers/${host.id}/jails`, seen: 'text=Ban here' },
    { name: 'bans of a server', path: () => `servers/${host.id}/bans`, seen: '[data-ban]' },
    { name: 'commands of a server', path: () => `servers/${host.id}/commands`, seen: 'text=Status of sshd' },
    {
      name: 'knock sequences',
      path: () => 'portknock/sequences',
      seen: 'text=A program listens on port 8000.',
      act: page => page.getByText('How to knock').click(),
    },
    {
      name: 'a wrong knock sequence',
      path: () => 'portknock/sequences',
      seen: 'text=A program listens on port 8000.',
      act: async page => {
        await page.getByRole('button', { name: 'Add a sequence' }).click()
        await page.getByRole('dialog').getByLabel('Knock ports, in order').fill('1 2')
        await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
        await page.getByText('Fix the errors first.').waitFor()
      },
    },
    {
      name: 'open ports; open for me',
      path: () => 'portknock/open',
      seen: '[data-opening]',
      act: async page => {
        expect(await breaches(page)).toEqual([])
        await page.getByRole('button', { name: 'Open for me' }).click()
        await page.getByRole('dialog').getByText('Opens port 22').waitFor()
      },
    },
    { name: 'knocks', path: () => 'portknock/history?from=2026-01-01T00:00:00Z', seen: '[data-knock]' },
    { name: 'blocked for knocking', path: () => 'portknock/blocked', seen: '[data-blocked]' },
    { name: 'statistics of knocks', path: () => 'portknock/stats?period=week', seen: 'text=Addresses that knock most' },
    {
      name: 'SIEM destination, a test that fails',
      path: () => 'siem/destination',
      seen: '[data-type]',
      act: async page => {
        await page.getByRole('button', { name: 'Send a test event' }).click()
        await page.getByText('The test event did not arrive.').waitFor()
      },
    },
    { name: 'SIEM delivery', path: () => 'siem/delivery', seen: '[data-attempt]' },
    {
      name: 'discard the SIEM queue',
      path: () => 'siem/queue',
      seen: '[data-event]',
      act: async page => {
        await page.getByRole('button', { name: 'Discard all…' }).click()
        await page.getByRole('dialog').getByLabel('Type discard to confirm').waitFor()
      },
    },
    { name: 'SIEM replay', path: () => 'siem/replay', seen: 'text=Whitelist entry added' },
    { name: 'more', path: () => 'more', seen: 'main >> text=Templates' },
  ]
  const outside: readonly Look[] = [
    { name: 'sign-in', path: () => `${server.url}/login`, seen: 'text=Password' },
    {
      name: 'sign-in, ended session',
      path: () => `${server.url}/login?ended=1&next=/bans`,
      seen: 'text=Your session ended',
    },
    {
      name: 'set-up',
      path: () => `${fresh.url}/setup?code=${fresh.setupCode ?? ''}`,
      seen: 'text=2. URL and time zone',
    },
    { name: 'set-up without a code', path: () => `${fresh.url}/setup`, seen: 'text=A set-up code is needed' },
  ]

  describe.each(appearances)('%s, %s', (viewportName, scheme) => {
    let page: Page
    let close: () => Promise<void>
    beforeAll(async () => {
      // axe is put into the page, which the policy of the pages rightly forbids.
      ;({ page, close } = await visit(server.url, { viewportName, scheme, bypassCSP: true }))
      await signIn(page, 'admin', password)
    })
    afterAll(() => close?.())

    let fresh = true
    const judge = async ({ path, seen, act }: Look) => {
      // Loaded anew where the last one was left with a dialog open, or is on another server.
      if (fresh || path().startsWith('http')) await page.goto(path())
      else await go(page, path())
      fresh = act !== undefined || path().startsWith('http')
      await page.locator(seen).first().waitFor()
      await act?.(page)
      // Whatever is still on its way has to be in.
      await settled(page)
      await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme')).toBe(scheme)
      expect(await breaches(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
      // An administrator may do everything: a button that does nothing has no place on a page.
      expect(await page.locator('main button:disabled').filter({ visible: true }).allTextContents()).toEqual([])
    }
    it.each(inTurn([...inside, ...outside, ...ofFleet], [viewportName, scheme]))('$name', judge)
  })
})
