import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'
import { buildDashboard } from '../../packages/dashboard/build.mjs'
import { conditionMs } from '../../packages/server/src/testing/waiting.ts'

/**
 * Debian's chromium, or the one that is named. The same without a window's outside, where there is one, needs two thirds
 * of the CPU; the first flows of a newcomer run in the whole program all the same.
 */
const named = process.env.CHROMIUM
const whole = named ?? '/usr/bin/chromium'
const bare = named ?? '/usr/bin/chromium-headless-shell'
/** Without a browser the tests are skipped, not failed: the runner says aloud what is missing. */
export const hasBrowser = existsSync(whole)

/** The dashboard as it is served; built when it is not there. */
export const built = async (): Promise<void> => {
  if (!existsSync(fileURLToPath(new URL('../../packages/dashboard/dist/index.html', import.meta.url))))
    await buildDashboard()
}

export const launch = (program: 'whole' | 'bare' = 'bare'): Promise<Browser> =>
  chromium.launch({
    timeout: conditionMs,
    executablePath: program === 'bare' && existsSync(bare) ? bare : whole,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      // A page lives for seconds: what the optimising compilers cost does not come back.
      '--js-flags=--no-opt --no-maglev',
    ],
  })

export const viewports = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 768, height: 1024 },
  phone: { width: 390, height: 844 },
} as const
export type Viewport = keyof typeof viewports
export type Scheme = 'light' | 'dark'
const everyLook = [
  ['desktop', 'light'],
  ['phone', 'dark'],
  ['desktop', 'dark'],
  ['phone', 'light'],
  ['tablet', 'light'],
  ['tablet', 'dark'],
] as const satisfies readonly (readonly [Viewport, Scheme])[]
const everything = process.env.STOCKADE_TEST_WHOLE === '1'
/** In what pages are judged: a desktop in light and a phone in dark; all six with `npm run check -- accessible`. */
export const appearances = everything ? everyLook : everyLook.slice(0, 2)
/** Long flows that are the same in both sizes: on a phone, which is the harder one; on a desktop too in a whole run. */
export const sizes: readonly Viewport[] = everything ? ['desktop', 'phone'] : ['phone']
/** Of pages that are judged by axe each one in turn in one of the two, since each takes a second; in a whole run all in all. */
export const inTurn = <T>(looks: readonly T[], [viewport]: readonly [Viewport, Scheme]): readonly T[] =>
  everything ? looks : looks.filter((_, index) => (index % 2 === 0) === (viewport === 'desktop'))

/** Where the server of each page is. */
const origins = new WeakMap<Page, string>()
/** What each page has asked for and has no answer to yet. */
const requests = new WeakMap<Page, Set<Request>>()
/** Waits until nothing is on its way any more, four seconds at most; the browser's own `networkidle` takes half a second more each time. */
export const settled = async (page: Page): Promise<void> => {
  const pending = requests.get(page)
  for (let quiet = 0, turns = 0; quiet < 2 && turns < 100; turns++) {
    await page.waitForTimeout(40)
    quiet = pending?.size === 0 ? quiet + 1 : 0
  }
}
/** Goes to a page as a link would, without loading the app anew. */
export const go = async (page: Page, path: string): Promise<void> => {
  await page.evaluate(
    `history.pushState(null, '', new URL(${JSON.stringify(path || '.')}, document.baseURI)); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}

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
    hasTouch: viewportName !== 'desktop',
    isMobile: phone,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
    ...rest,
  })
  // Of its pages and of its requests.
  context.setDefaultTimeout(conditionMs)
  const complaints: string[] = []
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', event => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  )
  const page = await context.newPage()
  // The announcer repeats words of the page to screen readers. A test that looks for a text on the page must not find them there.
  const byText = page.getByText.bind(page)
  page.getByText = (...sought) => byText(...sought).and(page.locator(':not([role=status][aria-live=polite])'))
  const pending = new Set<Request>()
  requests.set(page, pending)
  origins.set(page, new URL(baseURL).origin)
  page.on('request', request => pending.add(request))
  page.on('requestfinished', request => pending.delete(request))
  page.on('requestfailed', request => pending.delete(request))
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

/** Signs in without the page of it, which loads the app twice; the tests of the sign-in type into its form. */
export const signIn = async (page: Page, username: string, password: string): Promise<void> => {
  const reply = await page.request.post('api/v1/auth/login', {
    data: { username, password },
    headers: { origin: origins.get(page) ?? '' },
  })
  if (!reply.ok()) throw new Error(`The sign-in of ${username} was answered by ${reply.status()}.`)
  await page.goto('')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
interface Found {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly html: string }[]
}
/** A list of fifty rows takes as long as ten pages, and its rows are of the same parts: some at both ends are judged. */
const repeatedRows = '[data-row]:nth-of-type(n + 9):not(:nth-last-of-type(-n + 4))'
/** Breaches of WCAG 2.2 AA and of best practice, each with the first element, and on a phone what is too small; needs `bypassCSP`. */
export const breaches = async (page: Page): Promise<readonly string[]> => {
  // It stays for as long as the app is not loaded anew. What passes is not asked for: its elements would be described one by one.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe)
  const rows = everything ? '' : repeatedRows
  const found = await page.evaluate<readonly Found[]>(
    `axe.run({ include: [['html']], exclude: ${rows === '' ? '[]' : `[[${JSON.stringify(rows)}]]`} }, { resultTypes: ['violations'], runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] } }).then(result => result.violations)`,
  )
  const small = page.viewportSize()?.width === viewports.phone.width ? await smallTargets(page) : []
  return [...found.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html ?? ''}`), ...small]
}

/** Whether the page is wider than the window. */
export const overflows = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth + 1')

/** What a finger is aimed at; links within a sentence are as high as its line. */
const targets =
  ':is(a[href], button, input, select, textarea, summary, [role=button], [role=menuitem], [role=menuitemradio], [role=option], [role=tab], [role=switch])'
/**
 * What a finger can hardly hit: less than 44 px wide or high, with all around it that answers for it (a label, a row, a pseudo-element
 * over the edge). It is measured by what lies under each point, so what another thing covers does not count.
 */
const smallTargets = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`(() => {
    const least = 43
    const open = document.querySelector('[role=dialog], [role=menu]')
    const inside = [...(open ?? document.body).querySelectorAll(${JSON.stringify(targets)})]
    const isShown = one => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.getBoundingClientRect().width > 1
    const isInSentence = one => {
      const around = [...(one.closest('p') ?? one.parentElement).childNodes].filter(node => !node.contains(one))
      const words = around.filter(node => node.nodeType === 3 || one.closest('p') !== null)
      return one.matches('a') && words.some(node => node.textContent.trim().length > 1)
    }
    // A stake is a part of a picture: its server has a line in the list of servers.
    const isStake = one => one.closest('ul[data-size]') !== null
    const answers = (one, x, y) => {
      const hit = document.elementFromPoint(x, y)
      return hit !== null && (one.contains(hit) || hit.closest('label')?.control === one)
    }
    const reach = (one, x, y, dx, dy) => {
      let far = 0
      while (far < 44 && answers(one, x + dx * (far + 1), y + dy * (far + 1))) far++
      return far
    }
    const tops = [scrollX, scrollY]
    const found = new Set()
    for (const one of inside) {
      if (!isShown(one) || one.disabled || isInSentence(one) || isStake(one) || one.matches(${JSON.stringify(`${repeatedRows} *`)})) continue
      let box = one.getBoundingClientRect()
      if (box.width >= least && box.height >= least) continue
      one.scrollIntoView({ block: 'center', inline: 'nearest' })
      box = one.getBoundingClientRect()
      const [x, y] = [box.left + box.width / 2, box.top + box.height / 2]
      if (!answers(one, x, y)) continue
      const wide = reach(one, x, y, -1, 0) + reach(one, x, y, 1, 0) + 1
      const high = reach(one, x, y, 0, -1) + reach(one, x, y, 0, 1) + 1
      if (wide < least || high < least) found.add((one.getAttribute('aria-label') ?? one.textContent).trim().slice(0, 40) + ' ' + one.tagName + '.' + one.className + ' ' + wide + ' x ' + high)
    }
    scrollTo(...tops)
    return [...found]
  })()`)
