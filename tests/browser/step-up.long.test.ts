import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { movableClock, password, startServer, within } from '@stockade/server/testing'
import type { Signed, TestServer } from '@stockade/server/testing'
import { breaches, hasBrowser, signIn } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* What is dangerous asks a session that is older than a quarter of an hour who it is, and goes on with what was begun. */

describe.runIf(hasBrowser)('a proof of identity', () => {
  const clock = movableClock()
  const { visit } = useBrowser()
  let server: TestServer
  let admin: Signed
  let page: Page
  let close: () => Promise<void>
  /** What the shell loads after the page comes late, as on a slow line. */
  const late = Promise.withResolvers<undefined>()
  beforeAll(async () => {
    server = await startServer({ clock })
    admin = await server.setUp()
    ;({ page, close } = await visit(server.url, { bypassCSP: true }))
    await page.route(/\/second-[^/]+\.js$/, async route => {
      await within(late.promise, 'the sign to answer')
      await route.continue()
    })
    await signIn(page, 'admin', password)
    await page.goto('settings')
    await page.getByLabel('Site name').waitFor()
    clock.forward(16 * 60)
  })
  afterAll(async () => {
    late.resolve(undefined)
    await close?.()
    await server?.close()
  })
  const siteName = async () => (await admin.client.call('GET /settings')).service.site_name
  const save = async (name: string) => {
    await page.getByLabel('Site name').fill(name)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog', { name: 'Confirm it’s you' }).waitFor()
  }
  const dialog = () => page.getByRole('dialog', { name: 'Confirm it’s you' })

  it('is asked for, can be refused, and then nothing is changed', async () => {
    await save('Refused')
    late.resolve(undefined)
    expect(await breaches(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByText('needs a proof of identity').first().waitFor()
    expect(await siteName()).toBe('Stockade')
  })
  it('says when the password is wrong, and goes on with what was begun when it is right', async () => {
    await save('Proved')
    await dialog().getByRole('button', { name: 'Continue' }).click()
    await dialog().getByText('Enter your password.').waitFor()
    await dialog().getByLabel('Your password').fill('Wrong-password-1')
    await dialog().getByRole('button', { name: 'Continue' }).click()
    await dialog().getByText('Wrong password.').waitFor()
    await dialog().getByLabel('Your password').fill(password)
    await dialog().getByRole('button', { name: 'Continue' }).click()
    await dialog().waitFor({ state: 'detached' })
    await expect.poll(siteName).toBe('Proved')
  })
})
