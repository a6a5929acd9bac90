import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Secret, TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { built, hasBrowser, launch, overflows, visit } from './browser.ts'

/* Who one is: second factors, teammates, keys and sessions, each as a person meets them in the browser. */

let browser: Browser
beforeAll(async () => {
  if (!hasBrowser) return
  await built()
  browser = await launch()
})
afterAll(() => browser?.close())

/** An authenticator. A code is good once: the next one is that of a step ahead, which the server's drift allows. */
const authenticator = (key: string) => {
  const totp = new TOTP({
    secret: Secret.fromBase32(key.replaceAll(' ', '')),
    algorithm: 'SHA1',
    digits: 6,
    period: 30,
  })
  return (stepsAhead = 0) => totp.generate({ timestamp: Date.now() + stepsAhead * 30_000 })
}
const firstPage = (page: Page) => page.getByRole('navigation', { name: 'Main' }).waitFor()
const givePassword = async (page: Page, username: string, typed = password) => {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(typed)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
const person = (admin: Client, username: string, role: 'Admin' | 'Operator' | 'Viewer' = 'Viewer') =>
  admin.call('POST /users', { body: { username, email: `${username}@stockade.example`, password, role } })
/** Turns a second factor on without the browser; answers its authenticator and the backup codes. */
const withFactor = async (client: Client) => {
  const { secret, backup_codes } = await client.call('POST /auth/mfa/enable')
  const codeOf = authenticator(secret)
  await client.call('POST /auth/mfa/confirm', { body: { code: codeOf() } })
  return { codeOf, backup_codes }
}

describe.runIf(hasBrowser)('a second factor that is required', () => {
  let server: TestServer
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  let codeOf: (stepsAhead?: number) => string
  let backupCodes: string[]
  beforeAll(async () => {
    server = await startServer()
    const admin = await server.setUp()
    await person(admin.client, 'berta')
    await withFactor(admin.client)
    await admin.client.call('PATCH /settings', { body: { security: { mfa_required: true } } })
    ;({ page, complaints, close } = await visit(browser, server.url))
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })

  it('is set up before anything else', async () => {
    await page.goto('bans?jail=sshd')
    await page.waitForURL('**/login?next=*')
    await givePassword(page, 'berta')
    await page.waitForURL('**/login/enrol?next=*')
    expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Set up a second factor' }).click()
    await page.getByRole('img', { name: 'QR code of the key below' }).waitFor()
    const key = await page.getByLabel('Key for the authenticator app').inputValue()
    expect(key).toMatch(/^(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}$/)
    const link = await page.getByRole('link', { name: 'Open it in the authenticator app' }).getAttribute('href')
    expect(link).toContain(`secret=${key.replaceAll(' ', '')}`)
    codeOf = authenticator(key)
    const field = page.getByLabel('Code that the app shows now')
    const right = codeOf()
    await field.pressSequentially(right === '000000' ? '000001' : '000000')
    await page.getByText('Wrong code.').first().waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('code')
    // What was wrong is selected: typing replaces it, and the sixth digit sends it.
    await page.keyboard.type(right)
    await page.getByRole('heading', { name: 'Backup codes' }).waitFor()
  })
  it('shows the backup codes until they are saved', async () => {
    backupCodes = (await page.getByLabel('Backup codes').inputValue()).split('\n')
    expect(backupCodes).toHaveLength(10)
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    expect((await downloading).suggestedFilename()).toBe('stockade-backup-codes.txt')
    await page.getByRole('button', { name: 'Finish' }).click()
    await page.getByText('Tick the box once you have saved them').waitFor()
    await page.getByLabel('I have saved these codes').check()
    await page.getByRole('button', { name: 'Finish' }).click()
    // On to the page that was asked for in the beginning.
    await page.waitForURL('**/bans?jail=sshd')
    await firstPage(page)
    expect(complaints.filter(text => !/40[13]/.test(text))).toEqual([])
  })
  it('is asked for at the next sign-in, and a backup code works once in its place', async () => {
    const other = await visit(browser, server.url, { viewportName: 'phone' })
    try {
      await other.page.goto('bans')
      await givePassword(other.page, 'berta')
      await other.page.waitForURL('**/login/mfa?next=*')
      await other.page.getByText(/The server’s clock says \d\d:\d\d:\d\d\./).waitFor()
      expect(await overflows(other.page)).toBe(false)
      // The page may be dropped while the authenticator is open.
      await other.page.reload()
      await other.page.getByLabel('Code from your authenticator app').pressSequentially(codeOf(1))
      await other.page.waitForURL('**/bans')
      const backup = backupCodes[0] ?? ''
      const withBackup = async () => {
        await other.page.context().clearCookies()
        await other.page.goto('login')
        await givePassword(other.page, 'berta')
        await other.page.getByRole('button', { name: 'Use a backup code' }).click()
        await other.page.getByLabel('Backup code').fill(backup)
        await other.page.getByRole('button', { name: 'Sign in' }).click()
      }
      await withBackup()
      await firstPage(other.page)
      await withBackup()
      await other.page
        .getByText(/Wrong code\..* 4 more tries\./)
        .first()
        .waitFor()
    } finally {
      await other.close()
    }
  })
  it('leads back to the password after five wrong codes, with the reason', async () => {
    const other = await visit(browser, server.url)
    try {
      await other.page.goto('login?next=/bans')
      await givePassword(other.page, 'berta')
      const field = other.page.getByLabel('Code from your authenticator app')
      await field.waitFor()
      for (const left of [4, 3, 2]) {
        await field.fill('')
        await field.pressSequentially(`11111${left}`)
        await other.page.getByText(`${left} more tries.`).first().waitFor()
      }
      await field.pressSequentially('222222')
      await other.page.getByText('One more try.').first().waitFor()
      await field.pressSequentially('333333')
      await other.page.waitForURL(/\/login\?next=%2Fbans&why=tries$/)
      await other.page.getByText('Five codes were wrong.').waitFor()
      // What is left of it is of no use to anybody.
      await other.page.goto('login/mfa')
      await other.page.waitForURL('**/login')
    } finally {
      await other.close()
    }
  })
})
