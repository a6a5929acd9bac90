import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page, Request, Route } from 'playwright-core'
import { aHost, conditionMs, password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { hasBrowser, settled, signIn } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/*
 * Each request of each page fails by itself, and is slow by itself: the shell and the rest of the page stay, the part
 * that failed says so, and its button brings it back. All pages in a whole run, one of them otherwise.
 */

const isWhole = process.env.STOCKADE_TEST_WHOLE === '1'
const few = ['servers']
const all = [
  ...['', 'bans', 'bans?by=bans', 'bans/:ban', 'ip', 'ip/203.0.113.9', 'servers/new', 'whitelist', ...few],
  ...['', '/jails', '/bans', '/commands', '/settings'].map(tab => `servers/:server${tab}`),
  ...['lists', 'lists/blocklists', 'lists/rules', 'lists/feeds', 'fleet-bans', 'audit', 'alerts', 'reports', 'users'],
  ...['commands', 'commands/:command', 'batches/:batch'],
  ...['templates', 'templates/sshd', 'templates/new?from=sshd', 'templates/sshd/deploy'],
  ...['sequences', 'open', 'history', 'blocked', 'stats'].map(tab => `portknock/${tab}`),
  ...['destination', 'delivery', 'queue', 'replay'].map(tab => `siem/${tab}`),
  ...['profile', 'security', 'keys', 'preferences'].map(tab => `account/${tab}`),
  ...['general', 'security', 'oauth', 'notifications'].map(section => `settings/${section}`),
  ...['reputation', 'agents', 'backup', 'licence'].map(section => `settings/${section}`),
]
/** What only adds a hint to what is there: names of templates and servers in words, suggested tags, who changed a setting last. */
const hints = [
  ['commands', '/api/v1/servers/summary'],
  ['', '/api/v1/templates'],
  ['servers/', '/api/v1/servers/tags'],
  ['settings/', '/api/v1/settings/audit'],
  ['siem/delivery', '/api/v1/siem/event-types'],
] as const
const isHint = (path: string, pathname: string) =>
  hints.some(([start, hint]) => path.startsWith(start) && pathname === hint && !path.startsWith('templates'))
/** How long to wait for what need not come, in ms. */
const brief = conditionMs / 8
/** Without this answer there is no page: it is asked for again until it comes. */
const start = '/api/v1/bootstrap'

/** Every page by each refusal in a whole run, one otherwise. */
const refusals = (isWhole ? all : few).flatMap((template, index) =>
  [402, 403, 404, 429].filter((_, turn) => isWhole || turn === index % 4).map(status => ({ template, status })),
)
/** Whether a page reads more than what every page does. */
const asksMore = (asked: readonly string[]) => asked.some(pathname => pathname !== '/api/v1/commands')

describe.runIf(hasBrowser).concurrent('a page of which one request', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let state: Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>
  const ids: Record<string, string> = {}
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_RATE_LIMIT: '0' } })
    const { client } = await server.setUp()
    const host = await aHost(server, client, 'web-01')
    await host.client.call('POST /servers/heartbeat', {
      body: { hostname: 'web-01', jails: [{ name: 'sshd', enabled: true }] },
    })
    await host.client.call('POST /bans', { body: { ip: '203.0.113.9', jail: 'sshd', log_lines: 'Failed password' } })
    const { bans } = await client.call('GET /bans', {})
    const batch = await client.call('POST /commands/batch', {
      body: { server_ids: [host.id], type: 'reload-all', params: {} },
    })
    const { commands } = await client.call('GET /commands', {})
    Object.assign(ids, {
      ban: String(bans[0]?.id),
      server: host.id,
      batch: batch.batch_id,
      command: String(commands[0]?.id),
    })
    const { page, close } = await visit(server.url)
    await signIn(page, 'admin', password)
    state = await page.context().storageState()
    await close()
  })
  afterAll(() => server?.close())

  const shown = async (page: Page) => {
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await settled(page)
  }
  /** What the page asks for when all is well, each path once, and the headings that it then has. */
  const ofGoodDay = async (page: Page, path: string) => {
    const asked = new Set<string>()
    const note = (request: Request) => {
      const { pathname } = new URL(request.url())
      if (request.method() === 'GET' && pathname.startsWith('/api/v1/')) asked.add(pathname)
    }
    page.on('request', note)
    await page.goto(path)
    await shown(page)
    // Only this one: others tell when the page has settled, and what it must not ask for.
    page.off('request', note)
    return { asked: [...asked].filter(pathname => pathname !== start && pathname !== '/api/v1/ws') }
  }
  const said = /Refused by the test\.|Could not load|could not be loaded/

  it.each(isWhole ? all : few)('fails stays whole: /%s', async template => {
    const path = template.replace(/:(\w+)/, (_, name: string) => ids[name] ?? '')
    const { page, complaints, close } = await visit(server.url, { storageState: state })
    const found: string[] = []
    try {
      const { asked } = await ofGoodDay(page, path)
      for (const one of asked) {
        complaints.length = 0
        const url = (address: URL) => address.pathname === one
        await page.route(url, route =>
          route.fulfill({ status: 500, json: { error: 'Internal', message: 'Refused by the test.' } }),
        )
        await page.goto(path)
        await shown(page)
        const wait = isHint(path, one) ? brief : conditionMs
        const words = page.getByText(said).filter({ visible: true })
        // What the shell reads says a word in its button, and the rest where that is opened.
        const button = page.getByRole('group', { name: 'Activity' }).getByRole('button', { name: 'Not loaded' })
        await words
          .or(button)
          .first()
          .waitFor({ timeout: wait })
          .catch(() => undefined)
        if (await button.isVisible()) await button.click()
        const tells = await words
          .first()
          .waitFor({ timeout: wait })
          .then(
            () => true,
            () => false,
          )
        const text = await page.getByRole('main').innerText()
        if (!(await page.getByRole('navigation', { name: 'Main' }).isVisible())) found.push(`${one}: no shell`)
        if (text.trim().length < 20) found.push(`${one}: blank`)
        if (text.includes('This page broke')) found.push(`${one}: broke`)
        if (!tells && !isHint(path, one)) found.push(`${one}: silent`)
        const retry = page.getByRole('button', { name: /Retry|Try again/ }).filter({ visible: true })
        if (tells && (await retry.count()) === 0) found.push(`${one}: no retry`)
        await page.unroute(url)
        if (tells && (await retry.count()) > 0) {
          // What is asked for again by itself may be there already.
          await retry
            .first()
            .click({ timeout: brief })
            .catch(() => undefined)
          await words
            .first()
            .waitFor({ state: 'detached' })
            .catch(() => found.push(`${one}: stays failed`))
        }
        for (const text of complaints) if (!/status of 500/.test(text)) found.push(`${one}: ${text}`)
      }
      expect(found, found.join('\n')).toEqual([])
    } finally {
      await close()
    }
  })

  /** What a page says that may not be read, and the ways out of it. */
  const refused =
    /Refused by the test\.|Could not load|could not be loaded|Not for your role|Not found|There is no such|does not exist|needs Pro/
  const ways = /Retry|Try again|^Go to|^To the|^All |licence/

  it.each(refusals)('is refused by $status says so: /$template', async ({ template, status }) => {
    const path = template.replace(/:(\w+)/, (_, name: string) => ids[name] ?? '')
    const { page, complaints, close } = await visit(server.url, { storageState: state })
    const found: string[] = []
    try {
      const { asked } = await ofGoodDay(page, path)
      complaints.length = 0
      const url = (address: URL) => asked.includes(address.pathname)
      await page.route(url, route =>
        route.request().method() === 'GET'
          ? route.fulfill({
              status,
              ...(status === 429 ? { headers: { 'retry-after': '3' } } : {}),
              json: { error: 'Refused', message: 'Refused by the test.' },
            })
          : route.continue(),
      )
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      const main = page.getByRole('main')
      const words = main.getByText(status === 429 ? /Retrying in \d+ s/ : refused).filter({ visible: true })
      const tells = await words
        .first()
        .waitFor({ timeout: asksMore(asked) ? conditionMs : brief })
        .then(
          () => true,
          () => false,
        )
      if (!tells && asksMore(asked)) found.push(`silent: ${(await main.innerText()).slice(0, 200)}`)
      if (!(await page.getByRole('navigation', { name: 'Main' }).isVisible())) found.push('no shell')
      if ((await main.innerText()).includes('This page broke')) found.push('broke')
      if (tells && status !== 429) {
        const way = page.getByRole('button', { name: ways }).or(main.getByRole('link', { name: ways }))
        if ((await way.filter({ visible: true }).count()) === 0) found.push('no way out')
      }
      await page.unroute(url)
      if (status === 429)
        // By itself, and without a click.
        await words
          .first()
          .waitFor({ state: 'detached' })
          .catch(() => found.push('stays refused'))
      for (const text of complaints) if (!new RegExp(`status of ${status}`).test(text)) found.push(text)
      expect(found, found.join('\n')).toEqual([])
    } finally {
      await close()
    }
  })

  it.each(isWhole ? all : few)('is slow waits for nothing else: /%s', async template => {
    const path = template.replace(/:(\w+)/, (_, name: string) => ids[name] ?? '')
    const { page, complaints, close } = await visit(server.url, { storageState: state })
    const found: string[] = []
    try {
      const { asked } = await ofGoodDay(page, path)
      for (const one of asked) {
        complaints.length = 0
        const held: Route[] = []
        const url = (address: URL) => address.pathname === one
        await page.route(url, route => {
          held.push(route)
        })
        const sent = page.waitForRequest(request => new URL(request.url()).pathname === one)
        await page.goto(path)
        await sent
        const heading = page.getByRole('heading', { level: 1 }).first()
        if (
          !(await heading.waitFor().then(
            () => true,
            () => false,
          ))
        )
          found.push(`${one}: no heading`)
        if (!(await page.getByRole('navigation', { name: 'Main' }).isVisible())) found.push(`${one}: no shell`)
        await Promise.all(held.splice(0).map(route => route.continue()))
        await page.unroute(url)
        await Promise.all(held.map(route => route.continue()))
        await shown(page)
        const failed = await page.getByText(said).filter({ visible: true }).count()
        if (failed > 0) found.push(`${one}: failed after all`)
        found.push(...complaints.map(text => `${one}: ${text}`))
      }
      expect(found, found.join('\n')).toEqual([])
    } finally {
      await close()
    }
  })
})
