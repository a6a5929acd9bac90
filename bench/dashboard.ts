import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import type { BrowserContext, Page } from 'playwright-core'
import { createClient } from '@stockade/client'
import { password, spawnServer } from '@stockade/server/testing'
import { seed } from './seed.ts'
import type { Seeded } from './seed.ts'

/*
 * How fast the dashboard is, in Debian's Chromium, over an instance of many servers and bans:
 *   pages   from the click on a link to the page's content, at full speed; the budget is a second
 *   load    what a cold page loads and asks for, and how far it shifts; budgets 300 KB of JavaScript, six calls of the API and none
 *           twice, 0.02
 *   rest    what the overview asks for in a minute in which only bans end, and in one with 20 new ones; the budget is ten requests
 *   paint   first paint and first use without a cache, at a quarter of the CPU and over 1.6 Mb/s with 150 ms, the median of three; budgets
 *           1.0, 2.5 and 3.5 s
 *   life    the heap after many live events; the budget is 20 MB more than at the beginning
 * `--servers 300 --bans 1000000` and `--events 288000` (eight hours of ten a second) are the full setting; `--data DIR`
 * keeps the instance for the next run.
 */
const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '30' },
    bans: { type: 'string', default: '20000' },
    events: { type: 'string', default: '5000' },
    rate: { type: 'string', default: '300' },
    data: { type: 'string' },
    only: { type: 'string' },
  },
})
const dataDir = values.data ?? mkdtempSync(join(tmpdir(), 'stockade-bench-'))
const remembered = join(dataDir, 'seeded.json')
const seeded = existsSync(remembered)
  ? (JSON.parse(readFileSync(remembered, 'utf8')) as Seeded)
  : await seed(dataDir, Number(values.servers), Number(values.bans))
if (values.data) writeFileSync(remembered, JSON.stringify(seeded))
const say = (text: string) => process.stdout.write(`${text}\n`)
const wanted = (part: string) => values.only === undefined || values.only === part

const server = await spawnServer({ dataDir, env: { STOCKADE_LOG_LEVEL: 'error' } })
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--js-flags=--expose-gc', '--enable-precise-memory-info'],
})
const context = () =>
  browser.newContext({ baseURL: `${server.url}/`, viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
const signIn = async (page: Page) => {
  await page.goto('login')
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}
const beats = async () => {
  for (const [index, key] of seeded.hostKeys.entries())
    await createClient({ baseUrl: server.url, token: key }).call('POST /servers/heartbeat', {
      body: {
        hostname: `web-${index + 1}.example`,
        metrics: { cpu_percent: 10, memory_percent: 20, disk_percent: 30, uptime: 1000 },
        jails: [{ name: 'sshd', enabled: true, current_bans: 0 }],
      },
    })
}

/** Hosts that fall silent go offline, and each that does makes a page read something again. */
const beating = setInterval(() => void beats().catch(() => undefined), 30_000)

/** Goes as a link does, and waits for what shows that the page is there; milliseconds. */
const visits: readonly (readonly [name: string, path: string, seen: string, or?: string])[] = [
  ['overview', '', 'text=Attacking now'],
  ['overview, 30 days', '?period=month', 'text=Attacking now'],
  ['bans', 'bans', '[data-ban]'],
  ['bans, page 1000', 'bans?page=1000', '[data-ban]'],
  ['bans of a jail, active', 'bans?q=jail%3Asshd%20state%3Aactive', '[data-ban]'],
  ['bans of a network', 'bans?q=asn%3A64500', '[data-ban]', 'text=No ban'],
  ['bans, free text', 'bans?q=example', '[data-ban]', 'text=No ban'],
  ['servers', 'servers', '[data-row]'],
  ['a server', `servers/${seeded.hostIds[7] ?? ''}`, 'h1:has-text("web-8")'],
  ['its bans', `servers/${seeded.hostIds[7] ?? ''}/bans`, '[data-ban]'],
  ['whitelist', 'whitelist', 'h1:has-text("Whitelist")'],
  ['commands', 'commands', 'h1:has-text("Commands")'],
  ['templates', 'templates', 'text=sshd'],
  ['audit', 'audit', 'table'],
]
const pages = async () => {
  const page = await (await context()).newPage()
  await signIn(page)
  say(`\n| page (${seeded.hostIds.length} servers) | shown after ms, first | again |\n|---|---|---|`)
  const times = new Map<string, number[]>()
  for (let round = 1; round <= 3; round++)
    for (const [name, path, seen, or] of visits) {
      await page.evaluate(
        `history.pushState(null, '', new URL(${JSON.stringify('account/profile')}, document.baseURI)); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      await page.getByText('Also manages').or(page.locator('h1')).first().waitFor()
      await page.waitForTimeout(300)
      const start = performance.now()
      await page.evaluate(
        `history.pushState(null, '', new URL(${JSON.stringify(path || '.')}, document.baseURI)); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      // The heading is in the top bar.
      const main = page.locator(seen.startsWith('h1') ? 'body' : 'main')
      await main
        .locator(seen)
        .or(main.locator(or ?? seen))
        .first()
        .waitFor({ timeout: 20_000 })
      times.set(name, [...(times.get(name) ?? []), performance.now() - start])
    }
  for (const [name, [first = 0, ...again]] of times)
    say(`| ${name} | ${first.toFixed(0)} | ${Math.min(...again).toFixed(0)} |`)
  await page.context().close()
}

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>

/** Adds up the shifts of the layout that no input caused. */
const watchShifts = `window.shift = 0; new PerformanceObserver(list => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value }).observe({ type: 'layout-shift', buffered: true })`
const kilobytes = (page: Page) =>
  page.evaluate<number>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1024`,
  )
const callsOf = (page: Page) => {
  const calls: string[] = []
  page.on('request', request => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/')) calls.push(pathname + search)
  })
  return calls
}
const rowsInView = (page: Page) =>
  page.evaluate<number>(
    `[...document.querySelectorAll('main [data-row]')].filter(row => row.getBoundingClientRect().top >= 0 && row.getBoundingClientRect().bottom <= (document.querySelector('[data-thumb]')?.getBoundingClientRect().top ?? innerHeight)).length`,
  )
const load = async () => {
  say(
    '\n| cold page | JavaScript KB gz | API calls | twice | shift, desktop | shift, phone | rows in view, desktop and phone |',
  )
  say('|---|---|---|---|---|---|---|')
  const first = await (await context()).newPage()
  await signIn(first)
  const storageState = await first.context().storageState()
  await first.context().close()
  const sizes = [
    { viewport: { width: 1440, height: 900 } },
    { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  ]
  const cold = [['sign-in', 'login'], ...visits.map(([name, path]) => [name, path] as const)] as const
  for (const [name, path] of cold) {
    const seen: { size: number; calls: string[]; shift: number; rows: number }[] = []
    for (const size of sizes) {
      const own = await browser.newContext({
        baseURL: `${server.url}/`,
        reducedMotion: 'reduce',
        ...size,
        ...(path === 'login' ? {} : { storageState }),
      })
      await own.addInitScript(watchShifts)
      const page = await own.newPage()
      const calls = callsOf(page)
      await page.goto(path, { waitUntil: 'networkidle' })
      await page.waitForTimeout(1000)
      const shift = await page.evaluate<number>('window.shift')
      seen.push({ size: await kilobytes(page), calls: [...calls], shift, rows: await rowsInView(page) })
      await own.close()
    }
    const [desktop, phone] = seen
    if (!desktop || !phone) continue
    const twice = desktop.calls.length - new Set(desktop.calls).size
    say(
      `| ${name} | ${desktop.size.toFixed(0)} | ${desktop.calls.length} | ${twice} | ${desktop.shift.toFixed(3)} | ${phone.shift.toFixed(3)} | ${desktop.rows} and ${phone.rows} |`,
    )
  }
}

const rest = async () => {
  const first = await (await context()).newPage()
  await signIn(first)
  const storageState = await first.context().storageState()
  await first.context().close()
  await minuteOf(storageState, 'nothing is reported', async () => {})
  const [host] = seeded.hostKeys.map(token => createClient({ baseUrl: server.url, token }))
  await minuteOf(storageState, 'a ban is reported every three seconds', async () => {
    const ip = `198.51.100.${1 + Math.floor(Math.random() * 250)}`
    await host?.call('POST /bans', { body: { ip, jail: 'sshd', ban_duration: 600, event_id: randomUUID() } })
  })
}
/** What the overview asks for in a minute after its first. */
const minuteOf = async (storageState: StorageState, name: string, report: () => Promise<unknown>) => {
  const reporting = setInterval(() => void report().catch(() => undefined), 3000)
  const page = await (await browser.newContext({ baseURL: `${server.url}/`, storageState })).newPage()
  await page.goto('', { waitUntil: 'networkidle' })
  await page.waitForTimeout(60_000)
  const calls = callsOf(page)
  await page.waitForTimeout(60_000)
  clearInterval(reporting)
  const counts = Object.entries(Object.groupBy(calls, call => call.replace(/from=[^&]*/, 'from=…'))).map(
    ([call, all = []]) => `${all.length} x ${call}`,
  )
  say(`\nat rest on the overview, one minute in which ${name}: ${calls.length} requests (${counts.join(', ')})`)
  await page.context().close()
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
/** From the navigation to the first paint and to what can be used, in a context without a cache. */
const paintOf = async (path: string, seen: string, isSigned: boolean) => {
  const own = await context()
  const page = await own.newPage()
  if (isSigned) await signIn(page)
  const cdp = await own.newCDPSession(page)
  await cdp.send('Network.clearBrowserCache')
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: 1_600_000 / 8,
    uploadThroughput: 750_000 / 8,
  })
  const start = performance.now()
  await page.goto(path, { waitUntil: 'commit' })
  await page.locator(seen).first().waitFor({ timeout: 60_000 })
  const usable = performance.now() - start
  const first = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1`,
  )
  await own.close()
  return { first, usable }
}
const paint = async () => {
  say('\n| at CPU/4, 1.6 Mb/s, 150 ms | first contentful paint ms | usable ms |\n|---|---|---|')
  // A browser that has just been started still loads its own parts.
  const blank = await (await context()).newPage()
  await blank.waitForTimeout(2000)
  for (const [name, path, seen, isSigned] of [
    ['sign-in, cold', 'login', 'input[autocomplete=username]', false],
    ['overview, cold', '', 'text=Attacking now', true],
    ['bans, cold', 'bans', '[data-ban]', true],
  ] as const) {
    const visits = []
    for (let visit = 1; visit <= 3; visit++) visits.push(await paintOf(path, seen, isSigned))
    const [first, usable] = [median(visits.map(visit => visit.first)), median(visits.map(visit => visit.usable))]
    say(`| ${name} | ${first.toFixed(0)} | ${usable.toFixed(0)} |`)
  }
  await blank.context().close()
}

const life = async () => {
  const page = await (await context()).newPage()
  await signIn(page)
  await page.goto('bans')
  await page.locator('[data-ban]').first().waitFor()
  const cdp = await page.context().newCDPSession(page)
  const heap = async () => {
    await cdp.send('HeapProfiler.collectGarbage')
    const { usedSize } = await cdp.send('Runtime.getHeapUsage')
    return usedSize / 1_048_576
  }
  const hosts = seeded.hostKeys.slice(0, 10).map(token => createClient({ baseUrl: server.url, token }))
  const events = Number(values.events)
  const rate = Number(values.rate)
  let sent = 0
  const send = async (count: number) => {
    for (let done = 0; done < count; done += rate) {
      const start = performance.now()
      const host = hosts[sent % hosts.length]
      await host?.call('POST /bans/batch', {
        body: {
          bans: Array.from({ length: Math.min(rate, count - done) }, () => ({
            ip: `198.51.100.${1 + (sent++ % 250)}`,
            jail: 'sshd',
            ban_duration: 600,
            event_id: randomUUID(),
            log_lines: 'Failed password for root',
          })),
        },
      })
      await new Promise(resolve => setTimeout(resolve, Math.max(0, 1000 - (performance.now() - start))))
    }
  }
  await send(Math.min(2000, events / 5))
  const before = await heap()
  say(`\nheap after ${sent} events: ${before.toFixed(1)} MB`)
  for (let part = 1; part <= 4; part++) {
    await send(events / 4)
    const now = await heap()
    say(
      `heap after ${sent} events: ${now.toFixed(1)} MB (${(now - before >= 0 ? '+' : '') + (now - before).toFixed(1)})`,
    )
  }
  const nodes = await page.evaluate<number>('document.querySelectorAll("*").length')
  say(`elements in the page: ${nodes}`)
  await page.context().close()
}

try {
  await beats()
  if (wanted('pages')) await pages()
  if (wanted('load')) await load()
  if (wanted('rest')) await rest()
  if (wanted('paint')) await paint()
  if (wanted('life')) await life()
} finally {
  clearInterval(beating)
  await browser.close()
  await server.close()
  if (!values.data) rmSync(dataDir, { recursive: true, force: true })
}
