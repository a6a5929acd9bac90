import { parseArgs } from 'node:util'
import type { Browser, Locator, Page } from 'playwright-core'
import { password, raw, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { built, launch, signIn, visit } from '../tests/browser/browser.ts'
import type { Viewport } from '../tests/browser/browser.ts'
import { enrol } from '../tests/browser/host.ts'
import type { Host } from '../tests/browser/host.ts'

/*
 * `npm run bench:flows`: how many taps (clicks, or Enter) the daily flows take, counted while they are done, on a desktop and on a phone,
 * against the most that each may take. Typing is not counted. `--only locked-out` does one.
 */
const { values } = parseArgs({ options: { only: { type: 'string' } } })

interface Flow {
  readonly name: string
  readonly most: number
  /** Where a page of the rail is behind "More". */
  readonly mostOnPhone?: number
  readonly run: (at: Stage) => Promise<void>
}
interface Stage {
  readonly page: Page
  readonly server: TestServer
  readonly hosts: readonly Host[]
  readonly viewport: Viewport
  readonly tap: (target: Locator) => Promise<void>
}
const office = '198.51.100.7'
const attacker = '203.0.113.66'

/** Does what the hosts are asked to, once each of them was asked. */
const obey = async (hosts: readonly Host[]): Promise<void> => {
  for (const host of hosts)
    for (let tries = 0; tries < 200; tries++) {
      const orders = await host.orders()
      for (const { id } of orders) await host.answer(id)
      if (orders.length > 0) break
      await new Promise(resolve => setTimeout(resolve, 50))
    }
}
/** To a page of the rail, which on a phone may be behind "More". */
const visitPlace = async ({ page, tap }: Stage, name: string): Promise<void> => {
  const link = page.getByRole('link', { name, exact: true }).first()
  if (!(await link.isVisible())) await tap(page.getByRole('link', { name: /^More/ }).first())
  await tap(link)
}

const flows: readonly Flow[] = [
  {
    name: '2 locked out',
    most: 2,
    run: async ({ page, hosts, tap }) => {
      await page.goto('whitelist')
      for (const host of hosts) await host.ban(office)
      await tap(page.getByRole('alert').getByRole('button', { name: 'Unban everywhere' }))
      await tap(page.getByRole('dialog').getByRole('button', { name: /^Unban on 2 servers/ }))
      await obey(hosts)
      await page.getByText('Done on 2 servers').first().waitFor()
    },
  },
  {
    name: '2b an address that nobody knows',
    most: 3,
    run: async ({ page, hosts, tap }) => {
      await page.goto('servers')
      for (const host of hosts) await host.ban('203.0.113.201')
      await tap(page.getByRole('link', { name: 'Addresses', exact: true }).first())
      await page.getByLabel('Address', { exact: true }).fill('203.0.113.201')
      await page.getByRole('main').getByRole('button', { name: 'Unban everywhere' }).waitFor()
      await tap(page.getByRole('main').getByRole('button', { name: 'Unban everywhere' }))
      await tap(page.getByRole('dialog').getByRole('button', { name: /^Unban on 2 servers/ }))
      await obey(hosts)
      await page.getByText('Done on 2 servers').first().waitFor()
    },
  },
  {
    name: '3 ban everywhere',
    most: 3,
    run: async ({ page, hosts, tap, viewport }) => {
      await page.goto('')
      if (viewport === 'desktop') await page.keyboard.press('Control+k')
      else await tap(page.getByRole('button', { name: /^Find/ }).first())
      await page.getByRole('dialog').getByRole('combobox').fill(attacker)
      await tap(page.getByRole('option', { name: `Ban ${attacker}…` }))
      await tap(page.getByRole('dialog').getByRole('button', { name: 'Ban on 2 servers' }))
      await obey(hosts)
      await page
        .getByText(/Done on 2 servers|Banned/)
        .first()
        .waitFor()
    },
  },
  {
    name: '6 an address, its neighbours, a filter by a value',
    most: 3,
    run: async ({ page, hosts, tap }) => {
      for (const [index, host] of hosts.entries()) await host.ban(`203.0.113.${80 + index}`)
      await page.goto('bans')
      await tap(
        page
          .getByRole('main')
          .getByRole('link', { name: /203\.0\.113\.80/ })
          .first(),
      )
      await page
        .getByText(/^Banned on 1 server/)
        .first()
        .waitFor()
      await tap(page.getByRole('link', { name: 'Show their bans' }))
      await page.waitForURL(/\/bans\?/)
      await page.getByText('203.0.113.81', { exact: true }).first().waitFor()
    },
  },
  {
    name: '6b from the link of an alert mail',
    most: 3,
    run: async ({ page, hosts, tap }) => {
      for (const host of hosts) await host.ban('203.0.113.90')
      await page.goto('ip/203.0.113.90')
      await tap(page.getByRole('button', { name: 'Unban everywhere' }).first())
      await tap(page.getByRole('dialog').getByRole('button', { name: /^Unban on 2 servers/ }))
      await obey(hosts)
      await page.getByText('Done on 2 servers').first().waitFor()
    },
  },
  {
    name: '9 SIEM with a test event',
    most: 4,
    mostOnPhone: 5,
    run: async at => {
      const { page, tap } = at
      await page.goto('')
      await visitPlace(at, 'SIEM')
      await tap(page.getByRole('radio', { name: 'Syslog' }))
      await page.getByLabel('Host', { exact: true }).fill('127.0.0.1')
      await page.getByLabel('Port', { exact: true }).fill('1')
      const save = page.getByRole('button', { name: /^Save/ }).first()
      if (await save.isVisible()) await tap(save)
      await tap(page.getByRole('button', { name: 'Send a test event' }))
      await page.getByText('The test event did not arrive.').waitFor()
    },
  },
  {
    name: '11 rotate the key of an agent',
    most: 5,
    run: async ({ page, hosts, tap }) => {
      await page.goto('servers')
      await page.getByText('web-01').first().waitFor()
      await tap(page.getByRole('main').getByRole('link', { name: 'web-01' }).first())
      await tap(page.getByRole('main').getByRole('link', { name: 'Settings', exact: true }))
      await tap(page.getByRole('button', { name: /^Rotate the key/ }))
      await tap(page.getByRole('button', { name: 'Create a new command' }))
      await tap(page.getByRole('button', { name: 'Copy', exact: true }).first())
      if (hosts[0]) await hosts[0].beat()
    },
  },
  // The last one: cookies know no port, so it ends the session of the others.
  {
    name: '1 first server',
    most: 6,
    run: async ({ page, tap }) => {
      const fresh = await startServer({ licence: null })
      try {
        await page.goto(`${fresh.url}/setup?code=${fresh.setupCode ?? ''}`)
        await page.getByLabel('Username').fill('anna')
        await page.getByLabel('Email').fill('anna@stockade.example')
        await page.getByLabel('Password', { exact: true }).fill(password)
        await tap(page.getByRole('button', { name: 'Create and add the first server' }))
        await page.getByLabel('Name', { exact: true }).fill('web-01')
        await tap(page.getByRole('button', { name: 'Create the command' }))
        const command = await page.getByLabel('Command to run on the server').inputValue()
        await tap(page.getByRole('button', { name: 'Copy', exact: true }).first())
        const host = await enrol(fresh, command)
        await host.beat()
        await tap(page.getByRole('button', { name: 'Make a test ban' }))
        await obey([host])
        await host.ban('192.0.2.1', { jail: 'stockade', ban_duration: 60 })
        await tap(page.getByRole('link', { name: 'View its bans' }))
        await page.getByText('192.0.2.1', { exact: true }).first().waitFor()
      } finally {
        await fresh.close()
      }
    },
  },
]

const stageFor = async (browser: Browser, viewport: Viewport) => {
  const server = await startServer({ env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.1', STOCKADE_RATE_LIMIT: '0' } })
  const { client } = await server.setUp()
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
    await server.close()
  }
  return { stage: { page, server, hosts, viewport }, finish }
}

await built()
const browser = await launch()
process.stdout.write('| flow | at most | desktop | phone |\n|---|---|---|---|\n')
let isOver = false
try {
  const stages = [await stageFor(browser, 'desktop'), await stageFor(browser, 'phone')]
  for (const { name, most, mostOnPhone = most, run } of flows) {
    if (values.only !== undefined && !values.only.split(',').some(part => name.includes(part))) continue
    const counts: string[] = []
    for (const { stage } of stages) {
      let taps = 0
      const tap = async (target: Locator) => {
        taps++
        await target.click()
      }
      const done = await run({ ...stage, tap }).then(
        () => '',
        (error: unknown) => `: ${error instanceof Error ? error.message.replaceAll('\n', ' ').slice(0, 160) : ''}`,
      )
      isOver ||= done !== '' || taps > (stage.viewport === 'phone' ? mostOnPhone : most)
      counts.push(`${taps}${done}`)
    }
    process.stdout.write(`| ${name} | ${most} | ${counts.join(' | ')} |\n`)
  }
  for (const { finish } of stages) await finish()
} finally {
  await browser.close()
}
process.exitCode = isOver ? 1 : 0
