import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { aHost, password, raw, startServer } from '@stockade/server/testing'
import type { EnrolledHost, Signed, TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* What limits hosts, keys and users who may be in wrong hands, as an admin meets it on a phone. */

describe.runIf(hasBrowser)('guarding', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let host: EnrolledHost
  let page: Page
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer()
    admin = await server.setUp()
    host = await aHost(server, admin.client, 'web-01')
    ;({ page, close } = await visit(server.url, { bypassCSP: true, viewportName: 'phone' }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const detail = () => admin.client.call('GET /servers/{serverId}', { params: { serverId: host.id } })
  const fits = async () => {
    await settled(page)
    expect(await breaches(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
  }

  it('puts a server in quarantine with a reason, and says so on its page and in the list', async () => {
    await go(page, `servers/${host.id}/settings`)
    await page.getByRole('button', { name: 'Put in quarantine' }).click()
    await page.getByText('Enter a reason.').waitFor()
    await page.getByLabel('Reason').fill('odd reports')
    await page.getByRole('button', { name: 'Put in quarantine' }).click()
    await page.getByText('In quarantine by admin: odd reports').waitFor()
    expect((await detail()).quarantined).toMatchObject({ reason: 'odd reports', by: 'admin' })
    await page.getByText('Forget its reports…').click()
    await fits()
    await go(page, 'servers')
    await page.getByText('Quarantined').waitFor()
    await fits()
  })
  it('forgets its reports only with its name typed, and releases it', async () => {
    await go(page, `servers/${host.id}/settings`)
    await page.getByText('Forget its reports…').click()
    await page.getByLabel('Reported since').fill('2020-01-01T00:00')
    const verb = page.getByRole('button', { name: 'Forget them' })
    await page.getByLabel('web-01', { exact: true }).fill('web-02')
    expect(await verb.isDisabled()).toBe(true)
    await page.getByLabel('web-01', { exact: true }).fill('web-01')
    await verb.click()
    await page.getByText('0 bans are forgotten.').waitFor()
    await page.getByRole('button', { name: 'Release from quarantine' }).click()
    await expect.poll(async () => (await detail()).quarantined).toBeNull()
  })
  it('says what a host takes only signed, and that it takes nothing where its file is broken', async () => {
    const sealed = (error: string | null) =>
      host.client.call('POST /servers/heartbeat', {
        body: {
          hostname: 'web-01',
          sealed: {
            types: ['deploy-template', 'jail-disable'],
            operators: [{ name: 'anna', kind: 'ed25519', fingerprint: `SHA256:${'A'.repeat(43)}` }],
            error,
          },
        },
      })
    await sealed(null)
    await page.goto(`servers/${host.id}/overview`)
    await page.getByText('Takes deploy-template, jail-disable only signed by anna.').waitFor()
    await sealed('operators.json is not JSON')
    await page.goto(`servers/${host.id}/overview`)
    await page.getByText('No command is taken: operators.json is not JSON').waitFor()
    await fits()
  })
  it('shows that a server can be online and not protected, with the reasons', async () => {
    const since = new Date(Date.now() - 60_000).toISOString()
    const report = (level: 'protected' | 'unprotected', checks: readonly object[]) =>
      raw(server, 'POST', '/api/v1/servers/heartbeat', {
        token: host.key,
        body: {
          hostname: 'web-01',
          protection: {
            level,
            since,
            summary: level === 'protected' ? 'All checks are fine.' : 'fail2ban does not answer.',
            checks,
            counted: { ok: 8, not_ok: checks.length, unknown: 0 },
          },
        },
      })
    await report('unprotected', [
      { id: 'engine', subject: null, state: 'bad', since, detail: 'fail2ban does not answer.' },
      { id: 'published', subject: '8080', state: 'warning', since, detail: 'Port 8080 leads to a container.' },
    ])
    await go(page, '.')
    await page.getByText('1 unprotected.').waitFor()
    const problems = page.getByRole('list', { name: 'Servers that need attention' })
    await problems.getByText('fail2ban does not answer.').waitFor()
    await fits()
    await go(page, 'servers')
    await page.getByRole('group', { name: 'Protection' }).getByRole('button', { name: 'Unprotected' }).click()
    await page.locator('[data-group=attention]').getByText('fail2ban does not answer.').waitFor()
    await fits()
    await page.getByRole('link', { name: 'web-01', exact: true }).click()
    await page.getByText(/^Unprotected since .*: fail2ban does not answer\.$/).waitFor()
    const reasons = page.getByRole('list', { name: 'What was found' })
    await reasons.getByText('fail2ban does not answer.').waitFor()
    expect(await reasons.getByRole('listitem').count()).toBe(2)
    await page.getByText('8 checks are fine, 2 not, 0 could not be done.').waitFor()
    await fits()
    // The page hears of it by itself.
    await report('protected', [])
    await page.getByText(/^Protected since/).waitFor()
    await expect.poll(() => reasons.count()).toBe(0)
  })
  /** The host carries out the self-test that was asked for, as far as the page can see. */
  const answerTest = async (success: boolean, output: string) => {
    const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', {
      params: { serverId: host.id },
    })
    const { id, params } = commands.find(({ type }) => type === 'self-test') ?? { id: '', params: {} }
    const body = { success, output, exit_code: success ? 0 : 1 }
    await host.client.call('POST /commands/{commandId}/result', { params: { commandId: id }, body })
    return params
  }
  const step = (name: string, text: string, ok: boolean | null = true) => ({ step: name, family: 4, ok, ms: 12, text })
  const steps = [
    step('control', 'a packet from 192.0.2.77 is answered by 198.51.100.4:22'),
    step('ban', 'the kernel holds a ban of 192.0.2.77'),
    step('drop', 'packets of the banned address get no answer; the kernel dropped 1'),
    step('lift', 'after the ban, packets are answered again'),
  ]
  it('proves on the page of a host that bans stop packets, hop by hop', async () => {
    await go(page, `servers/${host.id}/overview`)
    await page.getByRole('button', { name: 'Test now' }).click()
    await page.getByText('The test is running.').waitFor()
    expect(await answerTest(true, JSON.stringify({ result: 'proved', steps }))).toEqual({})
    await page.getByText('Proved: bans stop packets').waitFor()
    const list = page.getByRole('list', { name: 'Steps' })
    await list.getByText('the kernel dropped 1', { exact: false }).waitFor()
    expect(await list.getByRole('listitem').count()).toBe(5)
    await fits()
    // Later the page has the result without reading the command.
    await page.reload()
    await page.getByText('Proved: bans stop packets').waitFor()
    await page.getByRole('link', { name: 'Show the steps' }).waitFor()
    // A host that can't do it says why.
    await page.getByRole('button', { name: 'Test now' }).click()
    await page.getByText('The test is running.').waitFor()
    await answerTest(false, 'the shield does not work on this host')
    await page.getByText('the shield does not work on this host').waitFor()
  })
  it('tests fail2ban too, and names the action whose bans do not hold', async () => {
    const both = page.getByRole('button', { name: 'Test fail2ban too' })
    const list = page.getByRole('list', { name: 'Steps' })
    const ofAction = (action: string, text: string, ok: boolean | null) => [
      step('engine-jail', `fail2ban runs a jail for the test, with the action ${action}`),
      step('engine-ban', 'fail2ban read a line of 192.0.2.77 in a log and banned it after 400 ms'),
      step('engine-drop', text, ok),
      step('engine-lift', 'after fail2ban lifted the ban, packets are answered again'),
    ]
    await both.click()
    await page.getByText('The test is running.').waitFor()
    const held = ofAction('hostsdeny', 'not tried: hostsdeny stops no packets', null)
    expect(await answerTest(true, JSON.stringify({ result: 'held', steps: [...steps, ...held] }))).toEqual({
      level: 'engine',
    })
    await page.getByText('Held by the kernel, no packet tried').waitFor()
    await list.getByText('not tried: hostsdeny stops no packets').waitFor()
    await list.getByText('IPv4: fail2ban bans because of a line in a log').waitFor()
    expect(await list.getByText('Not tried', { exact: true }).count()).toBe(1)
    await fits()

    await both.click()
    await page.getByText('The test is running.').waitFor()
    const through = 'fail2ban says that 192.0.2.77 is banned by dummy, but 198.51.100.4:22 still answers its packets'
    const broken = [
      ...ofAction('nftables-multiport', 'packets do not get through', true),
      ...ofAction('dummy', through, false),
    ]
    await answerTest(false, JSON.stringify({ result: 'failed', steps: [...steps, ...broken] }))
    await list.getByText(through).waitFor()
    // Our own hop, those of the shield, and those of each action.
    expect(await list.getByRole('listitem').count()).toBe(13)
    expect(await list.getByText('Failed', { exact: true }).count()).toBe(1)
    await fits()
  })
  it('whitelists a large part of the Internet only after the figure is typed', async () => {
    await go(page, 'whitelist')
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByLabel('Text, CSV or JSON').fill(Array.from({ length: 5 }, (_, i) => `${i + 20}.0.0.0/8`).join('\n'))
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('button', { name: 'Import 5' }).click()
    const dialog = page.getByRole('dialog', { name: 'This covers a large part of the Internet' })
    const asked = /Type ([\d.]+) to confirm/.exec(await dialog.getByText(/^Type/).innerText())?.[1] ?? ''
    await fits()
    await dialog.getByRole('textbox').fill('1')
    await dialog.getByRole('button', { name: 'Whitelist all of it' }).click()
    await dialog.getByText('This is not the figure above.').waitFor()
    expect((await admin.client.call('GET /whitelist')).total).toBe(0)
    await dialog.getByRole('textbox').fill(asked)
    await dialog.getByRole('button', { name: 'Whitelist all of it' }).click()
    await page.getByText('5 imported').waitFor()
    expect((await admin.client.call('GET /whitelist')).total).toBe(5)
  })
  it('makes a key for one purpose and one network, and shows both', async () => {
    await go(page, 'account/keys')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByLabel('Name', { exact: true }).fill('report')
    await page.getByLabel('Bans', { exact: true }).check()
    await page.getByLabel('Used from').fill('192.0.2.0/24, 2001:db8::/32')
    await fits()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Only from 192.0.2.0/24, 2001:db8::/32').waitFor()
    const { id } = await admin.client.call('GET /auth/me')
    const { keys } = await admin.client.call('GET /users/{userId}/keys', { params: { userId: id } })
    expect(keys).toMatchObject([{ scopes: ['bans'], source_networks: ['192.0.2.0/24', '2001:db8::/32'] }])
    await fits()
  })
  it.each([true, false])('asks whether keys stay when a password is replaced: %s', async keep => {
    const username = keep ? 'keeper' : 'loser'
    const { id } = await admin.client.call('POST /users', {
      body: { username, email: `${username}@stockade.example`, password, role: 'Viewer' },
    })
    await admin.client.call('POST /users/{userId}/keys', { params: { userId: id }, body: { name: 'old' } })
    await go(page, `users/${id}`)
    await page.getByRole('button', { name: 'Reset the password…' }).click()
    const dialog = page.getByRole('dialog')
    if (keep) await dialog.getByLabel('Keep the API keys of this user').check()
    await fits()
    await dialog.getByRole('button', { name: 'Reset' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { keys } = await admin.client.call('GET /users/{userId}/keys', { params: { userId: id } })
    expect(keys).toHaveLength(keep ? 1 : 0)
  })
})
