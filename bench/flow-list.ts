import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, Locator, Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import type { HttpReceiver } from '../packages/server/src/features/siem/receivers.ts'
import { visit } from '../tests/browser/browser.ts'
import type { Viewport } from '../tests/browser/browser.ts'
import { enrol } from '../tests/browser/host.ts'
import type { Host } from '../tests/browser/host.ts'

/* The daily flows, with the most taps that each may take. */

interface Flow {
  readonly name: string
  readonly most: number
  readonly run: (at: Stage) => Promise<void>
}
export interface Stage {
  readonly page: Page
  readonly browser: Browser
  readonly server: TestServer
  readonly admin: Client
  readonly hosts: readonly Host[]
  readonly receiver: HttpReceiver
  readonly viewport: Viewport
  readonly tap: (target: Locator) => Promise<void>
}
export const office = '198.51.100.7'
const attacker = '203.0.113.66'

/** Does what the hosts are asked to, once each of them was asked for that. */
const obey = async (hosts: readonly Host[], wanted: string): Promise<void> => {
  for (const host of hosts) {
    let isAsked = false
    for (let tries = 0; tries < 200 && !isAsked; tries++) {
      const orders = await host.orders()
      for (const { id } of orders) await host.answer(id)
      isAsked = orders.some(({ type }) => type === wanted)
      if (!isAsked) await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}
/** Types into the find box: Ctrl K opens it on a desktop, a tap on a phone. */
const find = async ({ page, tap, viewport }: Stage, typed: string): Promise<void> => {
  const button = page.getByRole('button', { name: /^Find an address/ }).first()
  await button.waitFor()
  if (viewport === 'desktop') await page.keyboard.press('Control+k')
  else await tap(button)
  await page.getByRole('dialog').getByRole('combobox').fill(typed)
}
const option = ({ page }: Stage, name: string): Locator => page.getByRole('option', { name }).first()
/** To a page of the rail. On a phone the find box has them all; "More" would take a tap of its own. */
const visitPlace = async (at: Stage, name: string): Promise<void> => {
  if (at.viewport === 'phone') {
    await find(at, name)
    await at.tap(option(at, name))
  } else await at.tap(at.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }))
}
const button = (page: Page, name: string | RegExp): Locator =>
  page
    .getByRole('main')
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first()
/** Settles what servers hold of the whitelist. */
const holdWhitelist = async (hosts: readonly Host[]): Promise<void> => {
  for (const { client } of hosts) {
    const { version, whitelist } = await client.call('GET /agent/state')
    await client.call('POST /agent/state/ack', {
      body: { version, whitelist_version: whitelist.version, entry_count: whitelist.count },
    })
  }
}
const sendToReceiver = ({ admin, receiver }: Stage): Promise<unknown> =>
  admin.call('PATCH /siem/settings', {
    body: {
      enabled: true,
      format: 'json',
      protocol: 'http',
      host: '127.0.0.1',
      port: receiver.port,
      tls_enabled: false,
    },
  })

export const flows: readonly Flow[] = [
  {
    name: '2 locked out',
    most: 2,
    run: async ({ page, hosts, tap }) => {
      await page.goto('whitelist')
      for (const host of hosts) await host.ban(office)
      await tap(page.getByRole('alert').getByRole('button', { name: 'Unban everywhere' }))
      await tap(page.getByRole('dialog').getByRole('button', { name: /^Unban on 2 servers/ }))
      await obey(hosts, 'unban-ip')
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
      await obey(hosts, 'unban-ip')
      await page.getByText('Done on 2 servers').first().waitFor()
    },
  },
  {
    name: '3 ban everywhere',
    most: 2,
    run: async at => {
      const { page, hosts, tap } = at
      await page.goto('')
      await find(at, attacker)
      for (const host of hosts) await host.hold()
      await tap(page.getByRole('dialog').getByRole('button', { name: 'Ban on all servers' }))
      await page.getByText(`Banning ${attacker} on all servers`).first().waitFor()
      for (const host of hosts) await host.hold()
      await page.getByText(`${attacker} is banned on 2 servers`).first().waitFor()
    },
  },
  {
    name: '3b the same with another duration',
    most: 3,
    run: async at => {
      const { page, hosts, tap } = at
      await page.goto('')
      await find(at, '203.0.113.67')
      await tap(option(at, 'Ban 203.0.113.67…'))
      await page.getByRole('dialog').getByLabel('Duration', { exact: true }).fill('1 week')
      await tap(page.getByRole('dialog').getByRole('button', { name: 'Ban on all servers' }))
      for (const host of hosts) await host.hold()
      await page.getByRole('dialog').getByText('Done on 2 servers').waitFor()
    },
  },
  {
    name: '4 whitelist an office range, and see it confirmed',
    most: 3,
    run: async at => {
      const { page, hosts, tap, viewport } = at
      await hosts[0]?.ban('192.0.2.9')
      await page.goto('')
      if (viewport === 'phone') {
        await find(at, '192.0.2.0/24')
        await tap(option(at, 'Whitelist 192.0.2.0/24…'))
      } else {
        await visitPlace(at, 'Whitelist')
        await tap(button(page, 'Add'))
      }
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Addresses and ranges').fill('192.0.2.0/24 # Office')
      await dialog.getByText('Lifts 1 current ban.').waitFor()
      await tap(dialog.getByRole('button', { name: 'Add', exact: true }))
      await dialog.getByText('0 of 2 done').waitFor()
      await holdWhitelist(hosts)
      await dialog.getByText('Done on 2 servers').waitFor()
    },
  },
  {
    name: '5 a template to all servers',
    most: 6,
    run: async at => {
      const { page, hosts, tap, viewport } = at
      await page.goto('')
      if (viewport === 'phone') {
        await find(at, 'sshd')
        await tap(page.getByRole('option', { name: 'SSH sshd', exact: true }))
      } else {
        await visitPlace(at, 'Templates')
        await tap(page.getByRole('main').getByRole('link', { name: 'SSH', exact: true }))
      }
      await tap(page.getByRole('link', { name: 'Deploy', exact: true }).first())
      await tap(button(page, 'All online'))
      await page.getByText('2 servers chosen').waitFor()
      await tap(button(page, 'Review'))
      await tap(button(page, 'Deploy to 2 servers'))
      await obey(hosts, 'deploy-template')
      await page.getByText('Done on 2 servers').first().waitFor()
    },
  },
  {
    name: '6 an address, a filter by a value of it, its neighbours',
    most: 3,
    run: async ({ page, hosts, tap }) => {
      for (const [index, host] of hosts.entries()) await host.ban(`203.0.113.${80 + index}`)
      await page.goto('bans')
      const main = page.getByRole('main')
      await tap(main.getByRole('link', { name: /203\.0\.113\.80/ }).first())
      await page
        .getByText(/^Banned on 1 server/)
        .first()
        .waitFor()
      await tap(main.getByRole('link', { name: /^1 ban/ }).first())
      await page.waitForURL(/\/bans\?.*ip=203\.0\.113\.80/)
      await page.goBack()
      await tap(main.getByRole('link', { name: 'Show their bans' }))
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
      await obey(hosts, 'unban-ip')
      await page.getByText('Done on 2 servers').first().waitFor()
    },
  },
  {
    name: '7 a teammate with 2FA',
    most: 4,
    run: async at => {
      const { page, server, browser, tap, viewport } = at
      await page.goto('')
      if (viewport === 'phone') {
        await find(at, 'Add a user')
        await tap(option(at, 'Add a user'))
      } else {
        await visitPlace(at, 'Users')
        await tap(page.getByRole('main').getByRole('link', { name: 'Add a user' }).first())
      }
      await page.getByLabel('Username').fill('berta')
      await page.getByLabel('Email').fill('berta@stockade.example')
      await tap(button(page, 'Add the user'))
      await tap(button(page, 'Copy'))
      const link = await page.getByLabel('Set-up link').inputValue()
      const other = await visit(browser, server.url, { viewportName: viewport })
      try {
        await other.page.goto(link)
        await other.page.getByLabel('Password', { exact: true }).fill(password)
        await other.page.getByRole('button', { name: 'Set the password and go on' }).click()
        await other.page.getByRole('button', { name: 'Set up 2FA' }).waitFor()
      } finally {
        await other.close()
      }
    },
  },
  {
    name: '8 an API key whose command works',
    most: 5,
    run: async ({ page, tap }) => {
      await page.goto('')
      await tap(page.getByRole('button', { name: 'Account of admin' }))
      await tap(page.getByRole('menuitem', { name: 'API keys' }))
      await tap(button(page, 'Create a key'))
      await page.getByLabel('Name', { exact: true }).fill('nightly report')
      await tap(button(page, 'Create key'))
      await tap(button(page, 'Copy'))
      const line = await page.getByLabel('Command that uses the key').inputValue()
      const { stdout } = await promisify(execFile)('sh', ['-c', line])
      if (!stdout.includes('web-01')) throw new Error(`The command answered ${stdout.slice(0, 100)}`)
    },
  },
  {
    name: '9 SIEM with a test event',
    most: 4,
    run: async at => {
      const { page, tap, receiver } = at
      await page.goto('')
      await visitPlace(at, 'SIEM')
      await tap(page.getByRole('radio', { name: 'JSON over HTTP' }))
      await page.getByLabel('Host', { exact: true }).fill(`http://127.0.0.1:${receiver.port}/in`)
      await tap(button(page, 'Save and send a test event'))
      await page.getByText('The test event was taken.').first().waitFor()
    },
  },
  {
    name: '10 replay events',
    most: 4,
    run: async at => {
      const { page, tap, viewport } = at
      await sendToReceiver(at)
      await page.goto('')
      if (viewport === 'phone') {
        await find(at, 'Replay')
        await tap(option(at, 'Replay events to the SIEM'))
      } else {
        await visitPlace(at, 'SIEM')
        await tap(page.getByRole('main').getByRole('link', { name: 'Replay', exact: true }))
      }
      await tap(page.getByLabel('Last hour'))
      await tap(button(page, 'Replay them'))
      await page.getByText('Completed', { exact: true }).waitFor()
      await page.getByText(/^\d+ of \d+ sent$/).waitFor()
    },
  },
  {
    name: '11 rotate the key of an agent, and see the old one off',
    most: 5,
    run: async ({ page, server, hosts, tap }) => {
      await page.goto('servers')
      await tap(page.getByRole('main').getByRole('link', { name: 'web-01' }).first())
      await tap(page.getByRole('main').getByRole('link', { name: 'Settings', exact: true }))
      await tap(button(page, 'Rotate the key…'))
      await tap(button(page, 'Create a new command'))
      await tap(button(page, 'Copy'))
      const renewed = await enrol(server, await page.getByLabel('Command to run on the server').inputValue(), 'web-01')
      await renewed.beat()
      await page.getByText(/web-01 uses the new key since .* The old key is off\./).waitFor()
      const isOff = await hosts[0]?.beat().then(
        () => false,
        () => true,
      )
      if (isOff !== true) throw new Error('The old key still works.')
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
        await obey([host], 'ban-ip')
        await host.ban('192.0.2.1', { jail: 'stockade', ban_duration: 60 })
        await tap(page.getByRole('link', { name: 'View its bans' }))
        await page.getByText('192.0.2.1', { exact: true }).first().waitFor()
      } finally {
        await fresh.close()
      }
    },
  },
]
