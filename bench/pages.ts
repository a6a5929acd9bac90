import { parseArgs } from 'node:util'
import { launch, settled, signIn, visit } from '../tests/browser/browser.ts'
import type { Viewport, Visit } from '../tests/browser/browser.ts'
import { account, startDemo } from '../demo/demo.ts'
import { say } from './report.ts'

/*
 * `npm run bench -- pages`: what each page of the demo asks for when it is loaded cold, how far its content moves (CLS), how much script
 * it loads, and what a page asks for in a minute at rest. `--base URL` measures a demo that runs already.
 */
const { values } = parseArgs({
  options: { base: { type: 'string' }, only: { type: 'string' }, rest: { type: 'string', default: '60' } },
})
const goals = { calls: 6, twice: 0, shift: 0.02, script: 300, atRest: 10 } as const

const demo = values.base === undefined ? await startDemo({ port: 8429 }) : null
const base = values.base ?? demo?.url ?? ''
const browser = await launch()

interface Call {
  readonly name: string
  readonly bytes: number
}
/** Everything that a page asks of the API, and the kilobytes of script that it loads. */
const watch = ({ page }: Visit) => {
  const calls: string[] = []
  const scripts: Promise<Call>[] = []
  page.on('request', request => {
    const { pathname, search } = new URL(request.url())
    if (pathname.includes('/api/')) calls.push(`${request.method()} ${pathname.replace(/.*\/api\/v1/, '')}${search}`)
  })
  page.on('response', response => {
    const { pathname } = new URL(response.url())
    if (pathname.endsWith('.js'))
      scripts.push(
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => ({ name: pathname, bytes: responseBodySize }))
          .catch(() => ({ name: pathname, bytes: 0 })),
      )
  })
  return { calls, scripts }
}
const observeShift = `window.moved = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value
}).observe({ type: 'layout-shift', buffered: true })`

const signedIn = async (viewportName: Viewport) => {
  const visited = await visit(browser, `${base}/`, { viewportName })
  await signIn(visited.page, account.username, account.password)
  await settled(visited.page)
  const state = await visited.page.context().storageState()
  const paths = await pathsOf(visited)
  await visited.close()
  return { state, paths }
}
/** The main pages; an address and a server of the demo stand for all. */
const pathsOf = async ({ page }: Visit) => {
  const first = async (path: string, list: string): Promise<Record<string, string>> => {
    const reply = await page.request.get(`${base}/api/v1/${path}`)
    const found = (await reply.json()) as Record<string, Record<string, string>[]>
    return found[list]?.[0] ?? {}
  }
  const { ip = '' } = await first('bans?limit=1', 'bans')
  const { id = '' } = await first('servers?limit=1', 'servers')
  const wanted = [
    '',
    'bans',
    'bans?by=bans',
    `ip/${ip}`,
    'servers',
    `servers/${id}`,
    'whitelist',
    'commands',
    'audit',
    'templates',
    'settings',
    'users',
    'keys',
    'account',
  ]
  return wanted.filter(path => values.only === undefined || values.only.split(',').includes(`/${path}`))
}
const mark = (value: number, goal: number, digits = 0) =>
  `${value.toFixed(digits)}${value > goal ? ' !' : '  '}`.padStart(10)

const cold = async (viewportName: Viewport, { state, paths }: Awaited<ReturnType<typeof signedIn>>) => {
  for (const path of paths) {
    const visited = await visit(browser, `${base}/`, { viewportName, storageState: state })
    const { page } = visited
    await page.addInitScript(observeShift)
    const { calls, scripts } = watch(visited)
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await settled(page)
    // The live feed opens, and what it wants to catch up with is read.
    await page.waitForTimeout(1500)
    await settled(page)
    const asked = [...calls]
    const twice = asked.length - new Set(asked).size
    const moved = await page.evaluate<number>('window.moved')
    const script = (await Promise.all(scripts)).reduce((sum, { bytes }) => sum + bytes, 0) / 1024
    say(
      `${viewportName.padEnd(8)} /${path.padEnd(42)}${mark(asked.length, goals.calls)}${mark(twice, goals.twice)}${mark(moved, goals.shift, 3)}${mark(script, goals.script)}`,
    )
    if (viewportName === 'desktop') for (const call of asked) say(`           ${call}`)
    await visited.close()
  }
}
const atRest = async (path: string, { state }: Awaited<ReturnType<typeof signedIn>>) => {
  const visited = await visit(browser, `${base}/`, { storageState: state })
  await visited.page.goto(path)
  await visited.page.waitForTimeout(5000)
  const { calls } = watch(visited)
  const seconds = Number(values.rest)
  await visited.page.waitForTimeout(seconds * 1000)
  const counts = Object.entries(Object.groupBy(calls, call => call)).map(
    ([call, all = []]) => `${all.length} x ${call}`,
  )
  say(`/${path.padEnd(20)}${mark((calls.length * 60) / seconds, goals.atRest)} requests a minute: ${counts.join(', ')}`)
  await visited.close()
}

try {
  say(`${'page'.padEnd(52)}  API calls     twice       CLS  script KB`)
  say(
    `${'at most'.padEnd(52)}${[goals.calls, goals.twice, goals.shift, goals.script].map(goal => String(goal).padStart(8)).join('  ')}`,
  )
  for (const viewport of ['desktop', 'phone'] as const) await cold(viewport, await signedIn(viewport))
  const signed = await signedIn('desktop')
  if (Number(values.rest) > 0) for (const path of ['', 'bans', 'servers']) await atRest(path, signed)
} finally {
  await browser.close()
  await demo?.close()
}
