import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { freePort } from '@stockade/server/testing'
import { account, startDemo } from './demo.ts'

/* `npm run pictures`: the pictures of the README, taken of the demo by Debian's Chromium (CHROMIUM names another one). */

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url))

interface Picture {
  readonly name: string
  readonly path: (about: { serverId: string }) => string
  /** What has to be seen before the picture is taken. */
  readonly seen: string
  readonly look?: BrowserContextOptions
  readonly act?: (page: Page) => Promise<void>
}
const desktop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
const pictures: readonly Picture[] = [
  {
    name: 'overview',
    path: () => '?period=month',
    seen: 'text=Last bans',
    look: { viewport: { width: 1440, height: 1200 } },
  },
  { name: 'overview-dark', path: () => '?period=month', seen: 'text=Last bans', look: { colorScheme: 'dark' } },
  { name: 'bans', path: () => 'bans?from=now-7d', seen: '[data-ban]' },
  { name: 'servers', path: () => 'servers', seen: 'text=web-01' },
  { name: 'address-phone', path: () => 'ip/203.0.113.66', seen: 'text=Unban everywhere', look: phone },
  { name: 'commands', path: () => 'commands', seen: 'text=servers' },
]

const take = async (browser: Browser, url: string, serverId: string, picture: Picture): Promise<void> => {
  const context = await browser.newContext({
    ...desktop,
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...picture.look,
    baseURL: `${url}/`,
  })
  try {
    const page = await context.newPage()
    await page.goto('login')
    await page.getByLabel('Username').fill(account.username)
    await page.getByLabel('Password', { exact: true }).fill(account.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.goto(picture.path({ serverId }))
    await page.locator(picture.seen).first().waitFor()
    await picture.act?.(page)
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: `${folder}${picture.name}.png` })
    process.stdout.write(`${picture.name}.png\n`)
  } finally {
    await context.close()
  }
}

mkdirSync(folder, { recursive: true })
const demo = await startDemo({ port: await freePort() })
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  // The one that is silent has to be offline, not just quiet.
  process.stdout.write('waiting for the silent host to be offline …\n')
  await new Promise(resolve => setTimeout(resolve, 100_000))
  for (const picture of pictures) await take(browser, demo.url, demo.hosts[0]?.id ?? '', picture)
} finally {
  await browser.close()
  await demo.close()
}
