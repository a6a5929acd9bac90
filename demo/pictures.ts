import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { freePort } from '@stockade/server/testing'
import { account, startDemo } from './demo.ts'
import { furnishPages, pages } from './pages.ts'
import type { PageOfDashboard, Subjects } from './pages.ts'

/*
 * `npm run make -- pictures`: pictures of the demo, taken by Debian's Chromium (CHROMIUM names another one). Those of the README go to
 * docs/images; each page on desktop and phone, light and dark, goes to pictures/, which Git ignores. `npm run make -- pictures bans server`
 * takes only the named pages, `PICTURES_LOOKS=desktop-light` only the named looks; then those of the README stay as they are.
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

const tablet = { viewport: { width: 768, height: 1024 }, hasTouch: true }
const namedLooks = process.env.PICTURES_LOOKS?.split(',')
const isNamedLook = ({ name }: { name: string }) => namedLooks?.includes(name) ?? !name.startsWith('tablet')
const looks = (['light', 'dark'] as const)
  .flatMap(colorScheme => [
    { name: `desktop-${colorScheme}`, look: { ...desktop, colorScheme } },
    { name: `phone-${colorScheme}`, look: { ...phone, colorScheme } },
    { name: `tablet-${colorScheme}`, look: { ...tablet, colorScheme } },
  ])
  .filter(isNamedLook)
const namedPages = process.argv.slice(2)
const unknownName = namedPages.find(name => !pages.some(page => page.name === name))
if (unknownName !== undefined)
  throw new Error(`There is no page "${unknownName}". Pages: ${pages.map(({ name }) => name).join(', ')}.`)
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
if (!existsSync(executablePath))
  throw new Error(`There is no browser at ${executablePath}. CHROMIUM names another one.`)
const isWhole = namedPages.length === 0 && namedLooks === undefined

const windowOf = (browser: Browser, url: string, look: BrowserContextOptions) =>
  browser.newContext({
    ...desktop,
    colorScheme: 'light',
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...look,
    baseURL: `${url}/`,
  })
const signedIn = async (browser: Browser, url: string, look: BrowserContextOptions): Promise<Page> => {
  const context = await windowOf(browser, url, look)
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

/** A page of somebody who is not signed in gets a window of its own. */
const takePage = async (
  { name, path, isOutside, act }: PageOfDashboard,
  { inside, outside, subjects, look }: { inside: Page; outside: Page; subjects: Subjects; look: string },
): Promise<void> => {
  const page = isOutside ? outside : inside
  await page.goto(typeof path === 'string' ? path : path(subjects))
  await page.locator('main').first().waitFor()
  await page.waitForLoadState('networkidle')
  await act?.(page)
  await page.waitForLoadState('networkidle')
  if ((await page.getByRole('heading', { name: 'This page broke' }).count()) > 0)
    throw new Error(`The page "${name}" (${look}) broke: ${await page.locator('main').innerText()}`)
  const file = `${pagesFolder}${name}-${look}.png`
  await page.screenshot({ path: file })
  process.stdout.write(`${file}\n`)
}

mkdirSync(readmeFolder, { recursive: true })
mkdirSync(pagesFolder, { recursive: true })
const demo = await startDemo({ port: await freePort() })
const furnished = await furnishPages(demo)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const takeReadme = async (): Promise<void> => {
  // The one that is silent has to be offline, not just quiet.
  process.stdout.write('waiting for the silent host to be offline …\n')
  await new Promise(resolve => setTimeout(resolve, 100_000))
  for (const picture of readme) {
    const page = await signedIn(browser, demo.url, picture.look ?? {})
    await take(page, picture, `${readmeFolder}${picture.name}.png`)
    await page.context().close()
  }
}
try {
  if (isWhole) await takeReadme()
  for (const { name, look } of looks) {
    const inside = await signedIn(browser, demo.url, look)
    const outside = await (await windowOf(browser, demo.url, look)).newPage()
    for (const page of pages)
      if (namedPages.length === 0 || namedPages.includes(page.name))
        await takePage(page, { inside, outside, subjects: furnished.subjects, look: name })
    await inside.context().close()
    await outside.context().close()
  }
} finally {
  await browser.close()
  await furnished.close()
  await demo.close()
}
