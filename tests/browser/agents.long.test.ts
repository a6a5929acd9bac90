import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aHost, password, startServer } from '@stockade/server/testing'
import type { EnrolledHost, Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { staysOnline } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* Upgrades of agents as an administrator starts and follows them. The hosts answer as agents do. */

const newUrl = 'http://localhost:8421'
const agentDir = mkdtempSync(join(tmpdir(), 'stockade-agent-'))

describe.runIf(hasBrowser)('upgrades of agents', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let host: EnrolledHost
  let phone: Visit
  beforeAll(async () => {
    writeFileSync(join(agentDir, 'stockade-agent.mjs'), '// an agent\n')
    server = await startServer({ env: { STOCKADE_AGENT_DIR: agentDir, STOCKADE_BASE_URL: newUrl, ...staysOnline } })
    admin = await server.setUp()
    host = await aHost(server, admin.client, 'web-01')
    await beat()
    phone = await visit(server.url, { viewport: { width: 390, height: 844 }, bypassCSP: true })
    await signIn(phone.page, 'admin', password)
  })
  afterAll(async () => {
    await phone?.close()
    await server?.close()
    rmSync(agentDir, { recursive: true, force: true })
  })
  const beat = () =>
    host.client.call('POST /servers/heartbeat', {
      body: {
        hostname: 'web-01',
        agent_id: host.agentId,
        agent_version: '0.0.9',
        upgrades: { able: true, reason: null, release: '0.0.9-00000000', previous: null },
      },
    })

  it('are started after a question, followed, and say why a server failed', async () => {
    const { page, complaints } = phone
    await go(page, '/settings/agents')
    await page.getByText('1 server runs another release than').waitFor()
    await page.getByText('Unsigned release:').waitFor()
    await page.getByRole('button', { name: 'Upgrade 1 server' }).click()
    await page.getByRole('dialog').getByText('One server goes first').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Upgrade' }).click()
    await page.getByText('Running').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Upgrade 1 server' }).count()).toBe(0)
    await expect
      .poll(async () => {
        const { commands } = await beat()
        const results = commands.map(({ id }) => ({ id, success: false, output: 'the disk of this host is full' }))
        if (results.length > 0) await host.client.call('POST /agent/results', { body: { results } })
        return page.getByText('the disk of this host is full').count()
      })
      .toBe(1)
    await page.getByText('1 of 1 server in wave 1 failed.').waitFor()
    await settled(page)
    expect(await overflows(page)).toBe(false)
    expect(await breaches(page)).toEqual([])
    await page.getByRole('button', { name: 'Abort' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Abort' }).click()
    await page.getByText('Aborted by admin.').waitFor()
    await page.getByRole('button', { name: 'Upgrade 1 server' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('go to another URL that is ordered, say why a server did not move, and the order is withdrawn', async () => {
    const { page, complaints } = phone
    await beat()
    await go(page, '/settings/agents')
    const panel = page.locator('section', { has: page.getByRole('heading', { name: 'URL of Stockade' }) })
    await panel.getByText('All servers use this URL.').waitFor()
    await panel.getByRole('button', { name: 'Move to a new URL…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('New URL of this Stockade').fill('https://evil.example')
    // What is typed survives a reload.
    await page.reload()
    await panel.getByRole('button', { name: 'Move to a new URL…' }).click()
    await expect.poll(() => dialog.getByLabel('New URL of this Stockade').inputValue()).toBe('https://evil.example')
    await dialog.getByRole('button', { name: 'Order all servers' }).click()
    await dialog.getByText('No server would move to https://evil.example').waitFor()
    await dialog.getByLabel('New URL of this Stockade').fill(newUrl)
    await dialog.getByRole('button', { name: 'Order all servers' }).click()
    await panel.getByText('1 waits').waitFor()
    const { version, whitelist, move } = await host.client.call('GET /agent/state')
    const told = { revision: move?.revision ?? 0, state: 'failed' as const, reason: 'the name is unknown' }
    await host.client.call('POST /agent/state/ack', {
      body: { version, whitelist_version: whitelist.version, entry_count: 0, move: told },
    })
    await panel.getByText('the name is unknown').waitFor()
    await panel.getByText('1 failed').waitFor()
    await settled(page)
    expect(await overflows(page)).toBe(false)
    expect(await breaches(page)).toEqual([])
    await panel.getByRole('button', { name: 'Try again now' }).click()
    await panel.getByText('1 waits').waitFor()
    await panel.getByRole('button', { name: 'Withdraw the order' }).click()
    await page.getByRole('dialog').getByText('Servers that moved stay.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw the order' }).click()
    await panel.getByText('All servers use this URL.').waitFor()
    // The refused order.
    expect(complaints.filter(text => !text.includes('409'))).toEqual([])
  })
})
