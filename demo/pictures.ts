import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { freePort } from '@stockade/server/testing'
import { account, startDemo } from './demo.ts'
import type { Demo } from './demo.ts'

/*
 * `npm run pictures`: pictures of the demo, taken by Debian's Chromium (CHROMIUM names another one). Those of the README go to
 * docs/images; each page on desktop and phone, light and dark, goes to pictures/, which Git ignores.
 */

const folderOf = (path: string): string => fileURLToPath(new URL(`../${path}/`, import.meta.url))
const readmeFolder = folderOf('docs/images')
const pagesFolder = folderOf('pictures')

interface Picture {
  readonly name: string
  readonly path: string
  /** What has to be seen before the picture is taken. */
  readonly seen: string
  readonly look?: BrowserContextOptions
}
const desktop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
/** A ban of the last minute, in the fence. */
const banned = 'ul[aria-label="All servers"] a > i'
const readme: readonly Picture[] = [
  {
    name: 'overview',
    path: '?period=month',
    seen: banned,
    look: { viewport: { width: 1440, height: 1200 } },
  },
  { name: 'overview-dark', path: '?period=month', seen: banned, look: { colorScheme: 'dark' } },
  { name: 'bans', path: 'bans?from=now-7d', seen: '[data-row]' },
  { name: 'servers', path: 'servers', seen: 'text=web-01' },
  { name: 'address-phone', path: 'ip/203.0.113.66', seen: 'main h2', look: phone },
  { name: 'commands', path: 'commands', seen: '[data-row]' },
]

/** Every page that the rail or a row of a list leads to. */
const pagesOf = async ({ admin, hosts }: Demo): Promise<readonly Omit<Picture, 'look'>[]> => {
  const server = `servers/${hosts[0]?.id ?? ''}`
  const { templates } = await admin.call('GET /templates')
  const { commands } = await admin.call('GET /commands', { query: { limit: 1 } })
  const { users } = await admin.call('GET /users')
  const paths: Readonly<Record<string, string>> = {
    overview: '',
    wall: '?kiosk=1',
    bans: 'bans',
    addresses: 'ip',
    address: 'ip/203.0.113.66',
    servers: 'servers',
    server: `${server}/overview`,
    'server-jails': `${server}/jails`,
    'server-commands': `${server}/commands`,
    'add-server': 'servers/new',
    'fleet-bans': 'fleet-bans',
    whitelist: 'whitelist',
    templates: 'templates',
    template: `templates/${templates[0]?.id ?? ''}`,
    'knock-sequences': 'portknock/sequences',
    'knock-history': 'portknock/history',
    commands: 'commands',
    command: `commands/${commands[0]?.id ?? ''}`,
    siem: 'siem',
    audit: 'audit',
    users: 'users',
    user: `users/${users[0]?.id ?? ''}`,
    settings: 'settings',
    account: 'account',
  }
  return Object.entries(paths).map(([name, path]) => ({ name, path, seen: 'main' }))
}
const looks = (['light', 'dark'] as const).flatMap(colorScheme => [
  { name: `desktop-${colorScheme}`, look: { ...desktop, colorScheme } },
  { name: `phone-${colorScheme}`, look: { ...phone, colorScheme } },
])

const signedIn = async (browser: Browser, url: string, look: BrowserContextOptions): Promise<Page> => {
  const context = await browser.newContext({
    ...desktop,
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...look,
    baseURL: `${url}/`,
  })
  const page = await context.newPage()
  await page.goto('login')
  await page.getByLabel('Username').fill(account.username)
  await page.getByLabel('Password', { exact: true }).fill(account.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return page
}
const take = async (page: Page, { path, seen }: Picture, file: string): Promise<void> => {
  await page.goto(path)
  await page.locator(seen).first().waitFor({ timeout: 180_000 })
  await page.waitForLoadState('networkidle')
  await page.screenshot({ path: file })
  process.stdout.write(`${file}\n`)
}

mkdirSync(readmeFolder, { recursive: true })
mkdirSync(pagesFolder, { recursive: true })
const demo = await startDemo({ port: await freePort() })
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  // The one that is silent has to be offline, not just quiet.
  process.stdout.write('waiting for the silent host to be offline …\n')
  await new Promise(resolve => setTimeout(resolve, 100_000))
  for (const picture of readme) {
    const page = await signedIn(browser, demo.url, picture.look ?? {})
    await take(page, picture, `${readmeFolder}${picture.name}.png`)
    await page.context().close()
  }
  const pages = await pagesOf(demo)
  for (const { name, look } of looks) {
    const page = await signedIn(browser, demo.url, look)
    for (const picture of pages) await take(page, picture, `${pagesFolder}${picture.name}-${name}.png`)
    await page.context().close()
  }
} finally {
  await browser.close()
  await demo.close()
}
