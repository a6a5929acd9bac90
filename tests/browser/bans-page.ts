import { afterAll, beforeAll } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { signIn } from './browser.ts'
import { aNewHost, staysOnline } from './host.ts'
import type { Host } from './host.ts'
import { useBrowser } from './use-browser.ts'

/** The list of bans with 120 bans of 110 addresses on two servers, for the tests of the file that calls this. */
export const useBansPage = () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let web: Host
  let mail: Host
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_RATE_LIMIT: '0', ...staysOnline } })
    admin = await server.setUp()
    const enrolled = async (hostname: string) => {
      return aNewHost(server, admin.client, hostname)
    }
    web = await enrolled('web-01')
    await web.beat(['sshd', 'postfix'])
    // Without a heartbeat it is not online; those who need it online send one.
    mail = await enrolled('mail-01')
    const bans = (host: Host, jail: string, net: string, count: number) =>
      host.client.call('POST /bans/batch', {
        body: {
          bans: Array.from({ length: count }, (_, index) => ({
            ip: `${net}.${index + 1}`,
            jail,
            ban_duration: 3600,
            event_id: crypto.randomUUID(),
            log_lines: `Failed password for root from ${net}.${index + 1}`,
          })),
        },
      })
    await bans(web, 'sshd', '198.51.100', 70)
    await bans(mail, 'postfix', '203.0.113', 40)
    // Twice: the same addresses on another server.
    await bans(mail, 'sshd', '198.51.100', 10)
    ;({ page, complaints, close } = await visit(server.url, { bypassCSP: true }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const field = () => page.getByRole('combobox', { name: 'Search the bans' })
  const addresses = () => page.locator('[data-ban]').allTextContents()
  const count = (text: string) => page.getByText(text, { exact: true }).first().waitFor()
  const query = () => new URL(page.url()).searchParams.get('q')
  const news = () => page.getByRole('region', { name: 'News' })
  /** The list of single bans. */
  const open = async (path = 'bans') => {
    await page.goto(`${path}${path.includes('?') ? '&' : '?'}by=bans`)
    await page.locator('[data-ban]').first().waitFor()
  }
  /** Hosts take what is ordered and answer, until nothing is left; resolves to how many that were. */
  const work = async (host: Host, success = true) => {
    let total = 0
    for (let orders = await host.orders(); orders.length > 0; orders = await host.orders()) {
      await Promise.all(orders.map(({ id }) => host.answer(id, success)))
      total += orders.length
    }
    return total
  }
  return {
    get page() {
      return page
    },
    get server() {
      return server
    },
    get admin() {
      return admin
    },
    /** Online, with 70 bans of `sshd`. */
    get web() {
      return web
    },
    /** Has never connected; 40 bans of `postfix`, and 10 of `sshd` of addresses that the other server has banned, too. */
    get mail() {
      return mail
    },
    get complaints() {
      return complaints
    },
    visit,
    field,
    addresses,
    count,
    query,
    news,
    open,
    work,
  }
}
