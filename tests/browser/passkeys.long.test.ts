import { createPublicKey } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { readOperatorKey, unapprovedRange } from '@stockade/contract/seal.ts'
import { aHost, movableClock, password, startServer } from '@stockade/server/testing'
import type { EnrolledHost, Signed, TestServer } from '@stockade/server/testing'
import { verifySeal } from '../../packages/agent/src/seal/verify.ts'
import { breaches, hasBrowser, overflows, signIn, viewports } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* Passkeys as a person uses them: in Chromium, with an authenticator that Chromium plays itself. */

/** An authenticator that answers at once, as one does whose owner is at hand. */
const plugIn = async (page: Page) => {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    /** Whether its owner proves to be there, by a finger or a PIN. */
    verify: (isUserVerified: boolean) =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }).then(() => {}),
  }
}
const operatorOf = (line: string, fingerprint: string) => {
  const key = readOperatorKey(line)
  const publicKey = createPublicKey({ key: Buffer.from(key.spki, 'base64url'), format: 'der', type: 'spki' })
  return { ...key, fingerprint, publicKey, addedAt: 0 }
}

describe.runIf(hasBrowser)('a passkey', () => {
  const clock = movableClock()
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  let device: Awaited<ReturnType<typeof plugIn>>
  beforeAll(async () => {
    server = await startServer({ clock })
    admin = await server.setUp()
    const site = `http://localhost:${server.port}`
    ;({ page, complaints, close } = await visit(site, { bypassCSP: true, viewportName: 'phone' }))
    device = await plugIn(page)
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const firstPage = () => page.getByRole('navigation', { name: 'Main' }).waitFor()
  const signOut = async () => {
    await page.context().clearCookies()
    await page.goto('login')
  }
  const own = async () => (await admin.client.call('GET /auth/passkeys')).passkeys
  const addOne = async (name: string) => {
    await page.goto('account/security')
    await page.getByLabel('Name of the passkey').fill(name)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('list', { name: 'Passkeys' }).getByText(name, { exact: true }).waitFor()
  }

  it('is not added when its owner does not prove to be there', async () => {
    await device.verify(false)
    await page.goto('account/security')
    await page.getByLabel('Name of the passkey').fill('phone')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('The passkey was not used').waitFor()
    expect(await own()).toEqual([])
    await device.verify(true)
  })
  it('is added, renamed, and told of to hosts with a fingerprint to compare', async () => {
    await addOne('fone')
    await page.getByRole('button', { name: 'Rename fone' }).click()
    await page.getByLabel('Name of the passkey').first().fill('phone')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Rename phone' }).waitFor()
    const [passkey] = await own()
    await page.getByText('Use it to sign commands').click()
    const command = await page.getByLabel('Command for the server').inputValue()
    expect(command).toBe(`sudo stockade-agent trust add ${passkey?.operator_key ?? ''}`)
    await page.getByText(passkey?.fingerprint ?? '?', { exact: true }).waitFor()
    expect(await breaches(page)).toEqual([])
    expect(await overflows(page)).toBe(false)
  })
  it('signs in without a password', async () => {
    await signOut()
    // The page has its heading when its ways to sign in are there.
    await page.getByRole('button', { name: 'Continue with a passkey' }).waitFor()
    expect(await breaches(page)).toEqual([])
    await page.getByRole('button', { name: 'Continue with a passkey' }).click()
    await firstPage()
    expect((await own())[0]?.last_used).not.toBeNull()
  })

  describe('for a host that takes commands only signed', () => {
    let host: EnrolledHost
    const orders = async () =>
      (await host.client.call('GET /servers/{serverId}/commands/pending', { params: { serverId: host.id } })).commands
    const disable = async () => {
      await page.goto(`servers/${host.id}/jails`)
      await page.getByRole('button', { name: 'Disable', exact: false }).first().click()
      await page.getByRole('dialog', { name: 'Sign commands' }).waitFor()
    }
    const dialog = () => page.getByRole('dialog', { name: 'Sign commands' })
    beforeAll(async () => {
      await page.setViewportSize(viewports.desktop)
      host = await aHost(server, admin.client, 'web-01')
      const [passkey] = await own()
      await host.client.call('POST /servers/heartbeat', {
        body: {
          hostname: 'web-01',
          jails: [{ name: 'nginx-http-auth', enabled: true, current_bans: 0 }],
          sealed: {
            types: ['jail-disable', 'wide-whitelist'],
            operators: [{ name: 'anna', kind: 'webauthn', fingerprint: passkey?.fingerprint ?? '' }],
            error: null,
          },
        },
      })
    })
    afterAll(() => page.setViewportSize(viewports.phone))

    it('shows what will be signed; without a signature nothing is given', async () => {
      await disable()
      await dialog().getByText('jail-disable {"jail":"nginx-http-auth"}').waitFor()
      await dialog().getByText('Your browser has compared').waitFor()
      await dialog()
        .getByRole('definition')
        .filter({ hasText: /^\d{4}-\d\d-\d\d \d\d:\d\d/ })
        .waitFor()
      expect(await breaches(page)).toEqual([])
      await dialog().getByRole('button', { name: 'Cancel' }).click()
      await page.getByText('takes this only with an operator').waitFor()
      expect(await orders()).toEqual([])
    })
    it('is not signed where the server would have another thing signed', async () => {
      await page.route('**/api/v1/commands/prepare', async route => {
        const reply = await route.fetch()
        const prepared = (await reply.json()) as { statements: string[] }
        const statements = prepared.statements.map(text => text.replace('nginx-http-auth', 'sshd'))
        await route.fulfill({ response: reply, json: { ...prepared, statements } })
      })
      await disable()
      await dialog().getByText('The server wants something else signed than you asked for: other parameters.').waitFor()
      expect(await dialog().getByRole('button', { name: 'Sign with a passkey' }).count()).toBe(0)
      await page.unroute('**/api/v1/commands/prepare')
      await dialog().getByRole('button', { name: 'Close' }).click()
      expect(await orders()).toEqual([])
    })
    it('signs what the host itself verifies', async () => {
      await disable()
      await dialog().getByRole('button', { name: 'Sign with a passkey' }).click()
      await dialog().waitFor({ state: 'detached' })
      const [passkey] = await own()
      // The dialog closes with the signature; the command follows it. A host gets each command once.
      let order: Awaited<ReturnType<typeof orders>>[number] | undefined
      await expect.poll(async () => (order ??= (await orders())[0])).toBeTruthy()
      if (!order || !passkey) throw new Error('there is no order')
      const operators = [operatorOf(passkey.operator_key, passkey.fingerprint)]
      const at = { serverId: host.id, operators, now: Date.now() }
      expect(await verifySeal(order, order.seal, at)).toMatchObject({
        statement: { type: 'jail-disable', params: { jail: 'nginx-http-auth' }, target: host.id },
      })
      await expect(verifySeal({ ...order, params: { jail: 'sshd' } }, order.seal, at)).rejects.toThrow(
        'other parameters were signed',
      )
    })
    it('approves, by a signature, the wide range that the host refused', async () => {
      const ip = '198.18.0.0/15'
      const { version } = await host.client.call('GET /agent/state')
      await host.client.call('POST /agent/state/ack', {
        body: { version, whitelist_version: null, entry_count: 0, error: unapprovedRange(ip) },
      })
      await page.goto(`servers/${host.id}/overview`)
      await page.getByRole('button', { name: `Approve ${ip} on web-01` }).click()
      await dialog().getByText(`approve-whitelist {"ip":"${ip}"}`).waitFor()
      await dialog().getByRole('button', { name: 'Sign with a passkey' }).click()
      await page.getByText('The approval is on its way.').waitFor()
      expect(await breaches(page)).toEqual([])
      const approval = (await orders()).find(({ type }) => type === 'approve-whitelist')
      expect(approval).toMatchObject({ params: { ip } })
      expect(approval?.seal).toBeTruthy()
    })
  })

  it('is the second factor after the password', async () => {
    await signOut()
    await page.getByLabel('Username').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL('**/login/mfa')
    expect(await breaches(page)).toEqual([])
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await firstPage()
  })
  it('proves again who one is', async () => {
    await page.goto('settings')
    await page.getByLabel('Site name').fill('Proved')
    clock.forward(16 * 60)
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await dialog.getByRole('button', { name: 'Use a passkey' }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(async () => (await admin.client.call('GET /settings')).service.site_name).toBe('Proved')
  })
  it('is asked of whoever must have one and has none', async () => {
    await page.goto('settings/security')
    await page.getByLabel('Require a passkey').selectOption('All users without a provider')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await admin.client.call('GET /settings')).security.passkey_required).toBe('all')
    await admin.client.call('POST /users', {
      body: { username: 'berta', email: 'berta@stockade.example', password, role: 'Viewer' },
    })
    await signOut()
    await page.getByLabel('Username').fill('berta')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL('**/login/enrol')
    await page.getByLabel('Name of the passkey').fill('laptop')
    expect(await breaches(page)).toEqual([])
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await firstPage()
  })
  it('is removed', async () => {
    await page.goto('account/security')
    await page.getByRole('button', { name: 'Remove laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    // Without it a required one is missing again.
    await expect.poll(() => page.getByRole('button', { name: 'Remove laptop' }).count()).toBe(0)
    expect(complaints.filter(text => !/40[139]/.test(text))).toEqual([])
  })
  it('is said not to be there where browsers have none: at a plain address', async () => {
    const other = await visit(server.url)
    try {
      await other.page.goto('login')
      await other.page.getByRole('button', { name: 'Continue with a passkey' }).click()
      await other.page.getByText('Open the page at that address').waitFor()
    } finally {
      await other.close()
    }
  })
})
