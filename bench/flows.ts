import { parseArgs } from 'node:util'
import type { Browser, Locator } from 'playwright-core'
import { password, raw, startServer } from '@stockade/server/testing'
import { httpReceiver } from '../packages/server/src/features/siem/receivers.ts'
import { built, launch, signIn, visit } from '../tests/browser/browser.ts'
import type { Viewport } from '../tests/browser/browser.ts'
import { enrol } from '../tests/browser/host.ts'
import type { Host } from '../tests/browser/host.ts'
import { flows, office } from './flow-list.ts'

/*
 * `npm run bench -- flows`: how many taps (clicks, or Enter) the daily flows take, counted while they are done, on a desktop and on a phone,
 * against the most that each may take. Typing and keys such as Ctrl K are not counted. `--only "3 ban"` does one.
 */
const { values } = parseArgs({ options: { only: { type: 'string' } } })

const stageFor = async (browser: Browser, viewport: Viewport) => {
  const server = await startServer({ env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.1', STOCKADE_RATE_LIMIT: '0' } })
  const { client } = await server.setUp()
  const receiver = await httpReceiver()
  const hosts: Host[] = []
  for (const hostname of ['web-01', 'web-02']) {
    const { install_command } = await client.call('POST /servers', { body: { hostname } })
    const host = await enrol(server, install_command, hostname)
    await host.beat()
    hosts.push(host)
  }
  // Another device of the same user, in the office; this one comes from elsewhere.
  await raw(server, 'POST', '/api/v1/auth/login', {
    body: { username: 'admin', password },
    headers: { 'x-forwarded-for': office, 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Firefox/145.0' },
  })
  const { page, close } = await visit(browser, server.url, {
    viewportName: viewport,
    extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' },
  })
  await signIn(page, 'admin', password)
  page.setDefaultTimeout(30_000)
  const finish = async () => {
    await close()
    await receiver.stop()
    await server.close()
  }
  return { stage: { page, browser, server, admin: client, hosts, receiver, viewport }, finish }
}

await built()
const browser = await launch()
process.stdout.write('| flow | at most | desktop | phone |\n|---|---|---|---|\n')
let isOver = false
try {
  const stages = [await stageFor(browser, 'desktop'), await stageFor(browser, 'phone')]
  for (const { name, most, run } of flows) {
    if (values.only !== undefined && !values.only.split(',').some(part => name.includes(part))) continue
    const counts: string[] = []
    for (const { stage } of stages) {
      let taps = 0
      const tap = async (target: Locator) => {
        taps++
        await target.click()
      }
      // A host that was silent for a minute is offline. The rotation of its key ends the old one.
      for (const host of stage.hosts) await host.beat().catch(() => undefined)
      const done = await run({ ...stage, tap }).then(
        () => '',
        (error: unknown) => `: ${error instanceof Error ? error.message.replaceAll('\n', ' ').slice(0, 160) : ''}`,
      )
      isOver ||= done !== '' || taps > most
      counts.push(`${taps}${done}`)
    }
    process.stdout.write(`| ${name} | ${most} | ${counts.join(' | ')} |\n`)
  }
  for (const { finish } of stages) await finish()
} finally {
  await browser.close()
}
process.exitCode = isOver ? 1 : 0
