import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { password, raw, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { hasBrowser } from './browser.ts'
import { aNewHost, enrol, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/*
 * The five flows that matter most by the keyboard alone. Every stop of the focus on the way has to be seen: inside the
 * window, with a ring, and not behind a bar (WCAG 2.2, 2.1.1, 2.4.7 and 2.4.11).
 */

/** What is wrong with the place of the focus, null where nothing is. */
const focusTrouble = (page: Page) =>
  page.evaluate<string | null>(`(() => {
    const element = document.activeElement
    if (!element || element === document.body) return null
    const name = element.tagName + ' ' + (element.getAttribute('aria-label') ?? element.textContent).trim().slice(0, 40)
    const { left, top, right, bottom, width, height } = element.getBoundingClientRect()
    if (width === 0 || height === 0) return name + ' has no size'
    const x = Math.min(Math.max((left + right) / 2, left + 1), innerWidth - 1)
    const inside = [0.1, 0.5, 0.9].map(part => top + height * part).filter(y => y >= 0 && y < innerHeight && x >= 0)
    if (inside.length === 0) return name + ' is outside of the window'
    const seen = inside.some(y => {
      const there = document.elementFromPoint(x, y)
      return there !== null && (element.contains(there) || there.contains(element))
    })
    if (!seen) return name + ' is behind something'
    const ringed = node => {
      const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(node)
      return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none' || node.matches('input, select, textarea')
    }
    return ringed(element) || (element.parentElement && ringed(element.parentElement)) ? null : name + ' has no ring'
  })()`)
/** Tabs on until the focus is where it shall be; every stop is looked at. */
const tabTo = async (page: Page, target: Locator, most = 80): Promise<void> => {
  await target.first().waitFor()
  const there = () => target.first().evaluate(element => element === element.ownerDocument.activeElement)
  for (let presses = 0; presses <= most; presses++) {
    if (await there()) return
    await page.keyboard.press('Tab')
    expect(await focusTrouble(page)).toBeNull()
  }
  throw new Error(`The focus did not get to ${target.toString()} within ${most} presses.`)
}
const press = async (page: Page, target: Locator) => {
  await tabTo(page, target)
  await page.keyboard.press('Enter')
}
const type = async (page: Page, target: Locator, text: string) => {
  await tabTo(page, target)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

describe.runIf(hasBrowser)('by keyboard alone', () => {
  let server: TestServer
  const { visit } = useBrowser()
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  const hosts: Host[] = []
  const dialog = () => page.getByRole('dialog')
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' })

  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.1', ...staysOnline } })
    ;({ page, complaints, close } = await visit(server.url, {
      extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' },
    }))
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })

  it('flow 1: from the set-up link to the first server', async () => {
    await page.goto(`setup?code=${server.setupCode ?? ''}`)
    await type(page, page.getByLabel('Username'), 'admin')
    await type(page, page.getByLabel('Email'), 'admin@stockade.example')
    await type(page, page.getByLabel('Password', { exact: true }), password)
    await press(page, button('Create and add the first server'))
    await page.waitForURL('**/servers/new')
    // The page asks about the code by a password that is always refused.
    complaints.splice(0, complaints.length, ...complaints.filter(text => !text.includes('400')))
    await type(page, page.getByLabel('Name', { exact: true }), 'web-01')
    await press(page, button('Create the command'))
    const command = page.getByLabel('Command to run on the server')
    await tabTo(page, button('Copy'))
    const first = await enrol(server, await command.inputValue())
    await first.beat()
    hosts.push(first)
    await press(page, button('Make a test ban'))
    await expect.poll(async () => (await first.orders()).map(({ type: what }) => what)).toContain('ban-ip')
    const admin = await server.signIn()
    const second = await aNewHost(server, admin.client, 'web-02')
    await second.beat()
    hosts.push(second)
  })

  it('flow 2: locked out at another address, and free again', async () => {
    await raw(server, 'POST', '/api/v1/auth/login', {
      body: { username: 'admin', password },
      headers: { 'x-forwarded-for': '198.51.100.7' },
    })
    for (const host of hosts) await host.ban('198.51.100.7')
    await page.goto('servers')
    const notice = page.getByRole('alert').filter({ hasText: '198.51.100.7' })
    await press(page, notice.getByRole('button', { name: 'Unban everywhere' }))
    await press(page, dialog().getByRole('button', { name: 'Unban on 2 servers' }))
    await expect.poll(async () => (await hosts[1]?.orders())?.map(({ type: what }) => what)).toContain('unban-ip')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'hidden' })
  })

  it('flow 3: an address is banned on all servers', async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find an address, server or page' }).waitFor()
    await page.keyboard.type('198.51.100.99')
    await page.getByRole('option', { name: 'Ban 198.51.100.99…' }).waitFor()
    for (let presses = 0; presses < 6; presses++) {
      if (await page.getByRole('option', { name: 'Ban 198.51.100.99…', selected: true }).isVisible()) break
      await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('Enter')
    await dialog().getByLabel('Address or range', { exact: true }).waitFor()
    await press(page, dialog().getByRole('button', { name: 'Ban on all servers' }))
    await dialog().getByRole('button', { name: 'Ban another' }).waitFor()
    const admin = await server.signIn()
    const { fleet_bans: fleetBans } = await admin.client.call('GET /fleet/bans', { query: { active: true } })
    expect(fleetBans.map(({ entry }) => entry)).toEqual(['198.51.100.99'])
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'hidden' })
  })

  it('flow 4: an office range is whitelisted, and seen to be confirmed', async () => {
    await page.goto('whitelist')
    await press(page, button('Add').first())
    await type(page, dialog().getByLabel('Addresses and ranges'), '192.0.2.0/24 # Office')
    await press(page, dialog().getByRole('button', { name: 'Add', exact: true }))
    await dialog().getByText('0 of 2 done').waitFor()
    for (const host of hosts) {
      const { version, whitelist } = await host.client.call('GET /agent/state')
      await host.client.call('POST /agent/state/ack', {
        body: { version, whitelist_version: whitelist.version, entry_count: whitelist.count },
      })
    }
    await dialog().getByText('Done on 2 servers').waitFor()
    await press(page, dialog().getByRole('button', { name: 'Done' }))
  })

  it('flow 5: a template goes to every server that is online', async () => {
    await page.goto('templates?search=sshd')
    await press(page, page.getByRole('link', { name: 'SSH', exact: true }))
    await press(page, page.getByRole('link', { name: 'Deploy', exact: true }))
    await press(page, button('All online'))
    await page.getByText('2 servers chosen').waitFor()
    await press(page, button('Review'))
    await press(page, button('Deploy to 2 servers'))
    await page.getByRole('main').getByText('0 of 2 done').waitFor()
    expect(complaints).toEqual([])
  })
})
