import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { breaches, hasBrowser, overflows, signIn } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/* From the click to the last server: what was asked, how far it is, what failed, and what follows later. */

const { visit } = useBrowser()

describe.runIf(hasBrowser)('a receipt', () => {
  let server: TestServer
  let admin: Client
  let hosts: Host[]
  let page: Page
  let close: () => Promise<void>
  const away = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example`
  beforeAll(async () => {
    server = await startServer({ env: staysOnline })
    const { client } = await server.setUp()
    admin = client
    hosts = []
    for (const hostname of ['web-01', 'web-02', away]) {
      hosts.push(await aNewHost(server, client, hostname))
    }
    ;({ page, close } = await visit(server.url, { bypassCSP: true }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const dialog = () => page.getByRole('dialog')
  const news = () => page.getByRole('region', { name: 'News' })
  /** The third host has never connected. */
  const [first, second] = [() => hosts[0], () => hosts[1]]
  const banEverywhere = async (ip: string) => {
    for (const host of [first(), second()]) await host?.beat()
    await page.goto(`ip/${ip}`)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Ban…' }).click()
    await dialog().getByRole('combobox', { name: 'Where' }).selectOption('some')
    await dialog().getByRole('button', { name: 'All', exact: true }).click()
    await dialog().getByRole('button', { name: 'Ban on 3 servers' }).click()
    await dialog().getByText('0 of 3 done').waitFor()
  }
  const work = async (host: Host | undefined, success = true, output?: string) => {
    for (const { id } of (await host?.orders()) ?? []) await host?.answer(id, success, output)
  }

  it('does not wait for a server that is away: it names it, and its rest can be cancelled', async () => {
    await banEverywhere('192.0.2.51')
    await work(first())
    await dialog().getByText('1 of 3 done').waitFor()
    await work(second())
    // Toasts go by themselves: first of all.
    await news().getByText('192.0.2.51 is banned on 2 servers').waitFor()
    await news().getByRole('button', { name: 'Undo' }).waitFor()
    await dialog().getByText('Done on 2 servers').waitFor()
    // Its jail, what became of it, and how long it took.
    await dialog()
      .getByRole('listitem')
      .filter({ hasText: /^web-01stockadeCompleted[\d.]+ m?s$/ })
      .waitFor()
    await dialog()
      .getByText(/^a+.*… will follow when it returns\.$/)
      .waitFor()
    expect(await overflows(page)).toBe(false)
    expect(await breaches(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Cancel rest' }).click()
    await dialog().getByText('will follow').waitFor({ state: 'detached' })
    await dialog().getByRole('button', { name: 'Done' }).click()
    await news().getByText('192.0.2.51 is banned on 2 servers').waitFor()
    await news().getByRole('button', { name: 'Undo' }).waitFor()
    expect(await hosts[2]?.orders()).toEqual([])
  })
  it('is there after a reload, and tells the end', async () => {
    await banEverywhere('192.0.2.52')
    await page.reload()
    await news().getByText('Banning 192.0.2.52 on 3 servers…').waitFor()
    await page.getByRole('group', { name: 'Activity' }).getByText('0 of 3', { exact: true }).waitFor()
    await work(first())
    await page.getByRole('group', { name: 'Activity' }).getByText('1 of 3', { exact: true }).waitFor()
    await work(second())
    await news().getByText('192.0.2.52 is banned on 2 servers').waitFor()
    await news().getByText('192.0.2.52').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await news().getByText('192.0.2.52').count()).toBe(0)
  })
  it('names the server and the cause of a failure, stays until it is closed, and retries only there', async () => {
    await banEverywhere('192.0.2.53')
    await work(first())
    await work(second(), false, `nft: ${'x'.repeat(1000)}`)
    await dialog().getByText('Done on 1 server, failed on 1').waitFor()
    await dialog()
      .getByText(/^web-02: nft: x+$/)
      .waitFor()
    expect(await overflows(page)).toBe(false)
    await dialog().getByRole('button', { name: 'Retry failed (1)' }).click()
    await dialog().getByText('0 of 1 done').waitFor()
    await work(second())
    await dialog().getByText('Done on 1 server', { exact: true }).waitFor()
    await dialog().getByRole('button', { name: 'Done' }).click()
    await news().getByText('192.0.2.53 is banned on 1 server, failed on 1').waitFor()
    await news().getByRole('button', { name: 'Close this' }).last().click()
    await news().getByText('192.0.2.53').waitFor({ state: 'detached' })
  })
  it('stands beside a list that shows the beginning of a long name', async () => {
    await page.goto('servers')
    // What an ellipsis replaces as a whole takes no pointer.
    await page
      .getByRole('main')
      .getByRole('link', { name: /^a{20}/ })
      .hover({ position: { x: 5, y: 5 } })
  })
  it('is one entry of the activity, however many servers it is for', async () => {
    await page.getByRole('group', { name: 'Activity' }).getByRole('button').first().click()
    const sheet = page.getByRole('region', { name: 'Activity' })
    await sheet.getByText('192.0.2.52 is banned on 2 servers').waitFor()
    expect(await breaches(page)).toEqual([])
  })
  it('settles while several commands wait for each server that is away, more than a page of a list holds', async () => {
    await first()?.beat()
    const ids = [hosts[0], hosts[2]].flatMap(host => host?.id ?? [])
    const list = Array.from({ length: 101 }, (_, index) => ({ jail: 'sshd', ip: `198.51.100.${index}` }))
    const { batch_id } = await admin.call('POST /commands/batch', {
      body: { server_ids: ids, type: 'ban-ip', params_list: list },
    })
    await page.goto(`batches/${batch_id}`)
    await page.getByText('0 of 202 done').waitFor()
    for (let fetched = 0, turn; fetched < list.length; fetched += turn) {
      const orders = (await first()?.orders()) ?? []
      turn = orders.length
      expect(turn).toBeGreaterThan(0)
      await Promise.all(orders.map(({ id }) => first()?.answer(id)))
    }
    const receipt = page.getByRole('status', { name: 'Progress' })
    await receipt.getByText('Done: 101 commands').waitFor()
    await receipt.getByText(/^a+.*… will follow when it returns\.$/).waitFor()
  })
})
