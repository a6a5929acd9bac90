import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { eventually, password, startServer, within } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn, viewports } from './browser.ts'
import type { Visit } from './browser.ts'
import { aNewHost, enrol, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* The overview, the charts, the map, and what the pages of a server and of an address tell: every number leads to a list of as many. */

const hour = 3_600_000
/** When a bar begins and ends, and what it counts; the end has a date where it is of the next day. */
const barText = /\d+ \w+ \d\d:\d\d to (\d+ \w+ )?\d\d:\d\d: \d+ bans?$/

describe.runIf(hasBrowser)('the overview', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let host: Host
  let other: Host
  let seen: Visit
  let page: Page
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_RATE_LIMIT: '0', ...staysOnline } })
    admin = await server.setUp()
    seen = await visit(server.url, { bypassCSP: true })
    page = seen.page
    // What lies above the page pushes it down while a busy machine has lost the feed for seconds. Everything else counts.
    await page.addInitScript(
      `window.shift = 0; let notices = 0; new PerformanceObserver(list => { const shown = document.querySelectorAll('main[data-stale]').length; if (shown === notices) for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value; notices = shown }).observe({ type: 'layout-shift', buffered: true })`,
    )
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await seen?.close()
    await server?.close()
  })
  const panel = (title: string | RegExp) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name: title, level: 2 }) })
  const figure = (label: string) => page.getByText(label, { exact: true }).locator('xpath=..').getByRole('link').first()
  const reader = () => page.getByRole('slider', { name: /^Bars of: Bans(, last| over time)/ })
  const reading = () => reader().getAttribute('aria-valuetext')
  const showTable = async () => {
    await page.getByText('Show as table').click()
    await page.getByRole('columnheader', { name: 'When' }).waitFor()
  }
  /** Reports bans of the past, as a host does that was away. */
  const reportAt = async (by: Host, bans: readonly (readonly [ip: string, jail: string, at: number])[]) => {
    const { results } = await by.client.call('POST /bans/batch', {
      body: {
        bans: bans.map(([ip, jail, at]) => ({
          ip,
          jail,
          banned_at: new Date(at).toISOString(),
          ban_duration: 3600,
          event_id: randomUUID(),
        })),
      },
    })
    expect(results.map(({ error }) => error)).toEqual(bans.map(() => null))
  }
  const totalOf = async (href: string): Promise<number> => {
    // `by` only says how the page shows them.
    const { server: server_id, active, by: _by, ...query } = Object.fromEntries(new URL(href, server.url).searchParams)
    const { total } = await admin.client.call('GET /bans', {
      query: {
        ...query,
        ...(server_id ? { server_id } : {}),
        ...(active ? { active: active === 'true' } : {}),
      },
    })
    return total
  }
  /** Links to lists of bans, each with the number that stands beside it or on it. */
  const linksOf = (within = 'main') =>
    page.evaluate<[href: string, count: number][]>(
      `[...document.querySelectorAll(${JSON.stringify(`${within} a[href*="/bans?"]`)})].flatMap(link => {
        const row = link.closest('li, tr')
        const own = /^[\\d,]+/.exec(link.textContent)
        const marked = row?.querySelector('[data-count]')
        const beside = row && /[\\d,]+/.exec(marked ? marked.textContent : row.lastElementChild.tagName === 'TD' ? row.lastElementChild.textContent : row.children[1]?.textContent ?? '')
        const said = beside ?? own
        return said ? [[link.href, Number(said[0].replaceAll(',', ''))]] : []
      })`,
    )
  /** The page follows changes a moment later, so its numbers are read again until they agree. */
  const checkLinks = (within?: string, least = 1): Promise<number> =>
    eventually(async () => {
      const links = await linksOf(within)
      expect(links.length).toBeGreaterThanOrEqual(least)
      for (const [href, count] of links) expect(await totalOf(href), href).toBe(count)
      return links.length
    }, 250)

  it('asks for a server where there is none', async () => {
    await page.getByRole('heading', { name: 'No servers yet' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Add a server' }).waitFor()
    await admin.client.call('POST /users', {
      body: { username: 'vera', email: 'vera@stockade.example', password, role: 'Viewer' },
    })
    const viewer = await visit(server.url)
    await signIn(viewer.page, 'vera', password)
    await viewer.page.getByText('Ask an admin.').waitFor()
    await expect.poll(() => viewer.page.getByRole('main').getByRole('link', { name: 'Add a server' }).count()).toBe(0)
    await viewer.close()
  })
  it('says who watches where nothing was banned, and makes a test ban', async () => {
    host = await enrol(
      server,
      (await admin.client.call('POST /servers', { body: { hostname: 'web-01' } })).install_command,
    )
    await host.beat(['sshd', 'postfix'])
    await page.getByText('No bans in the last 24 hours. 1 server watches 2 jails.').waitFor()
    await page.getByRole('button', { name: 'Make a test ban' }).click()
    await page.getByRole('main').getByText('Pending').first().waitFor()
    const [order] = await host.orders()
    expect(order).toMatchObject({ type: 'ban-ip', params: { ip: '192.0.2.1', duration: 60 } })
    await host.answer(order?.id ?? '')
    await host.ban('192.0.2.1', { jail: 'stockade', ban_duration: 60 })
    // Without a reload: the page has its figures, its chart and the ban itself.
    await expect.poll(() => figure('Bans, last 24 hours').textContent()).toBe('1')
    await panel('Attacking now').getByRole('link', { name: '192.0.2.1' }).waitFor()
    await reader().waitFor()
  })
  it('leads from every number to a list of as many', async () => {
    other = await aNewHost(server, admin.client, 'db-01')
    await other.beat(['sshd'])
    const now = Date.now()
    const ips = ['8.8.4.1', '8.8.4.1', '8.8.4.2', '193.0.1.1', '203.0.113.7', '2001:db8::7', '198.51.100.9']
    const jails = ['sshd', 'sshd', 'postfix', 'sshd', 'nginx-http-auth', 'recidive', 'dovecot', 'exim']
    const draw = Array.from({ length: 160 }, (_, index) => {
      const age = ((index * 7919) % 1000) / 1000
      const spread = index % 2 === 0 ? 24 * hour : 29 * 24 * hour
      return [ips[index % 7] ?? '', jails[index % 8] ?? '', Math.floor(now - 1000 - age * spread)] as const
    })
    await reportAt(host, draw.slice(0, 100))
    await reportAt(other, draw.slice(100))
    for (const period of ['', '?period=week', '?period=month'] as const) {
      await page.goto(period)
      await reader().waitFor()
      // What was counted a moment ago may be given again for a day; longer periods are asked for the first time.
      if (period !== '') await panel('Networks').getByRole('listitem').first().waitFor()
      await settled(page)
      await showTable()
      const links = await checkLinks('main', 20)
      expect(links).toBeLessThan(100)
      await page.getByRole('img', { name: /^Bans over time\. \d+ bans, at most/ }).waitFor()
    }
    const { total_bans, bans_by_jail } = await admin.client.call('GET /bans/stats', { query: { period: 'month' } })
    const [most] = bans_by_jail
    // All but one of the tops are as many as are left without it.
    await panel('Jails')
      .getByRole('button', { name: `What to do with ${most?.jail ?? ''}` })
      .press('Enter')
    await page.getByRole('menuitem', { name: 'Show all but this' }).click()
    await page
      .getByText(`${total_bans - (most?.count ?? 0)} bans`, { exact: false })
      .first()
      .waitFor()
    await page.goBack()
    await figure('Bans, last 30 days').click()
    await page.getByText(`${total_bans} bans`).first().waitFor()
    expect(seen.complaints).toEqual([])
  })
  it('is moved by nothing that happens while it is read', async () => {
    await page.goto('')
    await reader().waitFor()
    await panel('Jails').getByRole('listitem').first().waitFor()
    await settled(page)
    const before = Number((await figure('Bans, last 24 hours').textContent())?.replaceAll(',', ''))
    for (let index = 1; index <= 6; index++) await other.ban(`198.51.100.${index}`, { jail: 'a'.repeat(64) })
    await expect.poll(() => figure('Bans, last 24 hours').textContent()).toBe(String(before + 6))
    await expect
      .poll(() => panel('Attacking now').getByRole('listitem').first().textContent())
      .toContain('198.51.100.6')
    // Also between two answers of the service the number and its list agree.
    const link = figure('Bans, last 24 hours')
    expect(await totalOf((await link.getAttribute('href')) ?? '')).toBe(before + 6)
    await settled(page)
    await expect.poll(() => page.evaluate<number>('window.shift')).toBeLessThanOrEqual(0.02)
  })
  it('reads, opens and zooms bars by keys and by the pointer', async () => {
    await page.keyboard.press('2')
    await page.waitForURL('**/?period=week')
    await page.keyboard.press('3')
    await page.waitForURL('**/?period=month')
    await page.keyboard.press('1')
    await page.waitForURL(url => url.search === '')
    await page.getByText('Bans, last 24 hours', { exact: true }).waitFor()
    await settled(page)
    await reader().focus()
    await page.keyboard.press('End')
    expect(await reading()).toMatch(/^\d+ Nov|^\d+ \w+ \d\d:\d\d to .*: [\d,]+ bans?, so far$/)
    await page.keyboard.press('ArrowLeft')
    const before = await reading()
    expect(before).not.toContain('so far')
    const count = Number(/: ([\d,]+) ban/.exec(before ?? '')?.[1])
    await page.keyboard.press('Enter')
    await page.waitForURL('**/bans?from=*')
    expect(await totalOf(page.url())).toBe(count)
    const one = new URL(page.url()).searchParams
    expect(Date.parse(one.get('to') ?? '') - Date.parse(one.get('from') ?? '')).toBe(hour)
    await page.goBack()
    // Drawn over: a range. The chart lies still while it is done.
    const canvas = page.locator('main [role=img][aria-label^="Bans over time"] svg')
    await canvas.waitFor()
    const box = await canvas.boundingBox()
    if (!box) throw new Error('There is no chart.')
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL('**/bans?from=*')
    const range = new URL(page.url()).searchParams
    expect(Date.parse(range.get('to') ?? '') - Date.parse(range.get('from') ?? '')).toBeGreaterThan(5 * hour)
    await page.goBack()
    await canvas.waitFor()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 80)
    await page.getByRole('heading', { level: 4, name: / to /, includeHidden: true }).waitFor()
    await page.mouse.click(box.x + box.width * 0.5, box.y + 80)
    await page.waitForURL('**/bans?from=*')
  })
  it('takes its colours from the other scheme at once', async () => {
    await page.goto('')
    await page.locator('main svg [data-series="0"]').first().waitFor()
    const fill = () =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('main svg [data-series="0"]')).fill`)
    const light = await fill()
    await page.evaluate(`document.documentElement.dataset.mantineColorScheme = 'dark'`)
    await expect.poll(fill).not.toBe(light)
  })
  it('has the map last, drawn when it is come to, with the same as a table', async () => {
    await page.setViewportSize({ width: 1440, height: 600 })
    await page.goto('')
    await reader().waitFor()
    await settled(page)
    await expect.poll(() => page.locator('[data-country]').count()).toBe(0)
    await page.getByRole('heading', { name: /came from$/ }).scrollIntoViewIfNeeded()
    await page.getByRole('img', { name: /from 2 countries\. Most from United States\./ }).waitFor()
    await panel(/came from$/)
      .getByRole('cell', { name: 'Netherlands' })
      .waitFor()
    expect(await breaches(page)).toEqual([])
    await page.locator('[data-country=US]').click()
    await page.waitForURL('**/bans?*country=US*')
    await page.setViewportSize({ width: 1440, height: 900 })
  })
  it('keeps what it has where one part fails', async () => {
    for (const [path, what] of [
      ['**/api/v1/bans/top?*', 'the most frequent networks and addresses'],
      ['**/api/v1/bans/stats?*', 'the statistics'],
      ['**/api/v1/bans/attackers?*', 'the attackers'],
      ['**/assets/over-time-*.js', null],
    ] as const) {
      await page.route(path, route => route.fulfill({ status: 403, json: { error: 'Forbidden', message: 'Not you.' } }))
      await page.goto('')
      await (
        what === null
          ? page.getByText('This part of the page could not be loaded.')
          : page.getByText(`Could not load ${what}`).first()
      ).waitFor()
      await page.getByText('Your address').waitFor()
      await expect.poll(() => page.getByRole('heading', { level: 2 }).count(), { message: path }).toBeGreaterThan(1)
      await page.unroute(path)
    }
    seen.complaints.splice(0)
  })
  it('keeps what went wrong while it tries again, and says when it will', async () => {
    const answer = Promise.withResolvers<null>()
    const answers = [
      { status: 429, headers: { 'retry-after': '8' }, json: { error: 'Too Many Requests', message: 'Too many.' } },
      { status: 403, json: { error: 'Forbidden', message: 'Not you.' } },
    ]
    await page.route('**/api/v1/commands/stats?*', async route => {
      const [next] = answers.splice(0, 1)
      if (next) return route.fulfill(next)
      await within(answer.promise, 'the sign to answer')
      await route.continue()
    })
    await page.goto('commands')
    await page.getByText(/Too many requests\. Retrying in \d s\./).waitFor()
    const wrong = page.getByRole('alert').filter({ hasText: 'Could not load the figures' })
    await wrong.waitFor()
    const again = page.waitForRequest('**/api/v1/commands/stats?*')
    await wrong.getByRole('button', { name: 'Retry' }).click()
    await again
    await page.waitForTimeout(60)
    await expect.poll(() => wrong.isVisible()).toBe(true)
    answer.resolve(null)
    await page.getByText('Mean time').waitFor()
    await expect.poll(() => wrong.count()).toBe(0)
    await page.unroute('**/api/v1/commands/stats?*')
    seen.complaints.splice(0)
  })
  it('on a wall has nothing around it', async () => {
    await page.goto('?kiosk=1&period=week')
    await page.getByText('Bans, last 7 days', { exact: true }).waitFor()
    await expect.poll(() => page.getByRole('navigation').count()).toBe(0)
    await expect.poll(() => page.getByRole('main').getByRole('button').count()).toBe(0)
    // A ban of now sticks in the stake of its server. Each look makes one: the feed may have been away for one of them.
    const fence = page.getByRole('list', { name: 'All servers' })
    let tries = 0
    await expect
      .poll(
        async () => {
          await reportAt(host, [[`203.0.113.${200 + (tries++ % 50)}`, 'sshd', Date.now()]])
          return fence
            .getByRole('link', { name: /^web-01: / })
            .locator('i')
            .count()
        },
        { interval: 1000 },
      )
      .toBeGreaterThan(0)
    expect(
      await fence
        .getByRole('link', { name: /^db-01: / })
        .locator('i')
        .count(),
    ).toBe(0)
    // A clock, and nothing to scroll; a larger screen shows the same, larger.
    await page.getByRole('main').locator('time').first().waitFor()
    const isWhole = () =>
      page.evaluate<boolean>(
        `(() => { const { scrollHeight, clientHeight } = document.documentElement; const end = document.querySelector('main').getBoundingClientRect().bottom; return getComputedStyle(document.documentElement).overflowY === 'hidden' && scrollHeight <= clientHeight && end <= innerHeight + 1 })()`,
      )
    await expect.poll(isWhole).toBe(true)
    await page.setViewportSize({ width: 2880, height: 1800 })
    await expect.poll(() => page.evaluate('document.documentElement.style.zoom')).toBe('2')
    // An upright one has room for the rankings, and is filled by them.
    const rankings = page.getByRole('heading', { name: 'Countries' })
    expect(await rankings.count()).toBe(0)
    await page.setViewportSize({ width: 1080, height: 1920 })
    await rankings.waitFor()
    await expect.poll(isWhole).toBe(true)
    const filled = `Math.max(...[...document.querySelectorAll('main section')].map(part => part.getBoundingClientRect().bottom)) / innerHeight`
    await expect.poll(() => page.evaluate<number>(filled)).toBeGreaterThan(0.75)
    await page.setViewportSize(viewports.desktop)
    await expect.poll(() => rankings.count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.waitForURL(url => url.search === '?period=week')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
  })
  it('on a wall without a period turns through the periods', async () => {
    const wall = await visit(server.url)
    await signIn(wall.page, 'admin', password)
    await wall.page.clock.install()
    await wall.page.goto('?kiosk=1')
    for (const label of ['24 hours', '7 days', '30 days']) {
      await wall.page.getByText(`Bans, last ${label}`, { exact: true }).waitFor()
      await wall.page.clock.fastForward(30_000)
    }
    await wall.page.getByText('Bans, last 24 hours', { exact: true }).waitFor()
    expect(new URL(wall.page.url()).search).toBe('?kiosk=1')
    await wall.page.keyboard.press('Escape')
    await wall.page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(wall.complaints).toEqual([])
    await wall.close()
  })
  it('shows the fleet as a fence, one stop of the Tab key', async () => {
    for (let index = 0; index < 30; index++)
      await admin.client.call('POST /servers', { body: { hostname: `node-${String(index).padStart(2, '0')}` } })
    await page.goto('')
    const fence = page.getByRole('list', { name: 'All servers' })
    const stakes = fence.getByRole('link', { name: /: Pending$/ })
    await expect.poll(() => stakes.count()).toBe(30)
    await expect.poll(() => fence.locator('a[tabindex="0"]').count()).toBe(1)
    await stakes.first().focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('node-01: Pending')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/servers/*/overview')
  })
  it('fits a phone, where the tops are one at a time and the map is asked for', async () => {
    const phone = await visit(server.url, { viewportName: 'phone', scheme: 'dark', bypassCSP: true })
    await signIn(phone.page, 'admin', password)
    await phone.page.getByRole('button', { name: 'Networks' }).click()
    await phone.page.getByRole('heading', { name: 'Networks', level: 2 }).waitFor()
    await expect.poll(() => phone.page.getByRole('heading', { name: 'Jails', level: 2 }).count()).toBe(0)
    await phone.page.getByRole('button', { name: 'Show the map' }).click()
    await phone.page.getByRole('cell', { name: 'Netherlands' }).waitFor()
    await settled(phone.page)
    expect(await overflows(phone.page)).toBe(false)
    expect(await breaches(phone.page)).toEqual([])
    // A finger does not point: the first tap reads a bar, the second opens it.
    const canvas = phone.page.locator('main [role=img][aria-label^="Bans over time"] svg')
    await canvas.scrollIntoViewIfNeeded()
    const box = await canvas.boundingBox()
    const at = [(box?.x ?? 0) + (box?.width ?? 0) * 0.6, (box?.y ?? 0) + 60] as const
    await phone.page.touchscreen.tap(...at)
    await phone.page.getByText(barText).waitFor()
    await phone.page.touchscreen.tap(...at)
    await phone.page.waitForURL('**/bans?from=*')
    expect(phone.complaints).toEqual([])
    await phone.close()
  })

  it('tells of one server what the list tells, and moves among its tabs by number', async () => {
    await page.goto(`servers/${host.id}/overview`)
    await reader().waitFor()
    await page.getByText('83 %', { exact: true }).first().waitFor()
    await settled(page)
    await showTable()
    await checkLinks('main', 10)
    for (const [key, name] of ['overview', 'jails', 'bans', 'commands', 'settings']
      .map((name, index) => [String(index + 1), name] as const)
      .reverse()) {
      await page.keyboard.press(key)
      await page.waitForURL(`**/servers/${host.id}/${name}`)
    }
    const seenAt = new Date(Date.now() - 24 * 60_000 - 5000)
    const told = await admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })
    // Away for so long only as far as this page is told: the host of this test can't be waited for.
    await page.route(`**/api/v1/servers/${host.id}`, route =>
      route.fulfill({ json: { ...told, status: 'offline', last_heartbeat: seenAt.toISOString() } }),
    )
    await page.reload()
    await page.getByText(/^Last seen .*\d\d:\d\d \(24 min ago\)\. Commands will wait, up to 24 h\.$/).waitFor()
    await page
      .locator('time')
      .filter({ hasText: /^Last seen/ })
      .click()
    await page
      .getByText(/^Last seen \d{4}-\d\d-\d\d \d\d:\d\d:\d\d .* \(24 min ago\)/)
      .first()
      .waitFor()
    await page
      .locator('time')
      .filter({ hasText: /^Last seen/ })
      .click()
    await page.unroute(`**/api/v1/servers/${host.id}`)
  })
  it('tells of an address when it was banned, who is beside it, and where else it stands', async () => {
    for (const ip of ['198.51.100.77', '198.51.100.7'])
      await admin.client.call('POST /whitelist', { body: { ip, description: randomUUID() } })
    await page.goto('ip/198.51.100.9')
    await page.getByRole('figure', { name: /^Attempts and bans of 198\.51\.100\.9 on \d servers?/ }).waitFor()
    await panel('Neighbours')
      .getByRole('img', { name: /of 256 addresses in 198\.51\.100\.0\/24/ })
      .waitFor()
    await settled(page)
    await checkLinks('main', 1)
    await page.getByRole('button', { name: 'Look up reverse DNS' }).click()
    await page.getByText('No reverse DNS').waitFor()
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Show its knocks' }).click()
    await page.getByText('It never knocked.').waitFor()
    await panel('What was done').getByText('No entry names this address.').waitFor()
    expect(await breaches(page)).toEqual([])
    await go(page, 'ip/198.51.100.7')
    await expect.poll(() => panel('What was done').getByRole('listitem').count()).toBe(1)
    expect(seen.complaints).toEqual([])
  })
})
