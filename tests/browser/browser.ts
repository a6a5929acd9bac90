import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { buildDashboard } from '../../packages/dashboard/build.mjs'

/** Debian's chromium, or the one that is named. */
const program = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** Without a browser the tests are skipped, not failed: the runner says aloud what is missing. */
export const hasBrowser = existsSync(program)

/** The dashboard as it is served; built when it is not there. */
export const built = async (): Promise<void> => {
  if (!existsSync(fileURLToPath(new URL('../../packages/dashboard/dist/index.html', import.meta.url))))
    await buildDashboard()
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  })

export const viewports = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const
export type Viewport = keyof typeof viewports
export type Scheme = 'light' | 'dark'
const everyLook = [
  ['desktop', 'light'],
  ['phone', 'dark'],
  ['desktop', 'dark'],
  ['phone', 'light'],
] as const satisfies readonly (readonly [Viewport, Scheme])[]
/** In what every page is judged: each size and each scheme once; all four with `npm run test:accessible`. */
export const appearances = process.env.STOCKADE_TEST_WHOLE === '1' ? everyLook : everyLook.slice(0, 2)

export interface Visit {
  readonly page: Page
  /** Everything that must not happen on any page: errors on the console, breaches of the policy, other hosts. */
  readonly complaints: string[]
  close(): Promise<void>
}

/** A browser window of its own, with what goes wrong in it written down. */
export const visit = async (
  browser: Browser,
  baseURL: string,
  options: BrowserContextOptions & { viewportName?: Viewport; scheme?: Scheme } = {},
): Promise<Visit> => {
  const { viewportName = 'desktop', scheme = 'light', ...rest } = options
  const phone = viewportName === 'phone'
  const context = await browser.newContext({
    baseURL,
    viewport: viewports[viewportName],
    colorScheme: scheme,
    hasTouch: phone,
    isMobile: phone,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...rest,
  })
  const complaints: string[] = []
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  )
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(`uncaught: ${error.message}`))
  page.on('request', request => {
    const url = new URL(request.url())
    if (/^(http|ws)/.test(url.protocol) && url.host !== new URL(baseURL).host)
      complaints.push(`other host: ${url.host}`)
  })
  return { page, complaints, close: () => context.close() }
}

export const signIn = async (page: Page, username: string, password: string): Promise<void> => {
  await page.goto('login')
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
interface Found {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly html: string }[]
}
/** Breaches of WCAG 2.2 AA and of best practice, each with the first element; needs a context with `bypassCSP`. */
export const breaches = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe)
  const found = await page.evaluate<readonly Found[]>(
    `axe.run(document, { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] } }).then(result => result.violations)`,
  )
  return found.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html ?? ''}`)
}

/** Whether the page is wider than the window. */
export const overflows = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth + 1')
