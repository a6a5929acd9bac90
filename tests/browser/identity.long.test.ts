import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import type { Client } from '@stockade/client'
import { freePort, password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import {
  breaches,
  go,
  hasBrowser,
  inTurn,
  appearances,
  overflows,
  settled,
  signIn,
  sizes,
  viewports,
} from './browser.ts'
import { startGithub } from './github.ts'
import { useBrowser } from './use-browser.ts'

/* Who one is: second factors, teammates, keys and sessions, each as a person meets them in the browser. */

const { visit } = useBrowser()

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
    ;({ page, complaints, close } = await visit(server.url))
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
    await expect.poll(() => page.getByRole('navigation', { name: 'Main' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Set up 2FA' }).click()
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
    const other = await visit(server.url, { viewportName: 'phone' })
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
    const other = await visit(server.url)
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
      await other.page.getByText('Five wrong codes.').waitFor()
      // What is left of it is of no use to anybody.
      await other.page.goto('login/mfa')
      await other.page.waitForURL('**/login')
    } finally {
      await other.close()
    }
  })
  it('leads back after five minutes too', async () => {
    const other = await visit(server.url)
    try {
      await other.page.clock.install()
      await other.page.goto('login')
      await givePassword(other.page, 'berta')
      await other.page.getByLabel('Code from your authenticator app').waitFor()
      await other.page.clock.fastForward(4 * 60_000)
      expect(new URL(other.page.url()).pathname).toBe('/login/mfa')
      await other.page.clock.fastForward(61_000)
      await other.page.getByText('The code was not entered within 5 minutes.').waitFor()
    } finally {
      await other.close()
    }
  })
})

describe.runIf(hasBrowser)('one’s own account', () => {
  let server: TestServer
  let admin: Client
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer()
    admin = (await server.setUp()).client
    await person(admin, 'berta', 'Operator')
    ;({ page, complaints, close } = await visit(server.url))
    await signIn(page, 'berta', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  /** Refusals that were meant; the browser writes each of them to the console. */
  const unexpected = () => complaints.filter(text => !/status of 4(?:00|01|09)/.test(text))

  it('is reached by the account menu', async () => {
    await page.getByRole('button', { name: 'Account of berta' }).click()
    await page.getByRole('menuitem', { name: 'Profile' }).click()
    await page.waitForURL('**/account/profile')
    await page.getByText('berta@stockade.example').waitFor()
    await page.getByText('Also bans, lifts bans and runs commands.').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Users' }).count()).toBe(0)
  })
  it('makes a key that works with the line that is shown, and shows it once', async () => {
    await page.getByRole('button', { name: 'Account of berta' }).click()
    await page.getByRole('menuitem', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Enter a name of 1 to 100 characters.').waitFor()
    await page.getByLabel('Name').fill('nightly report')
    // Nothing above one's own role is offered.
    await expect
      .poll(() =>
        page.getByRole('radio').evaluateAll(radios => radios.map(radio => (radio as { value?: string }).value)),
      )
      .toEqual(['read', 'write'])
    await page.getByLabel('Expires', { exact: true }).selectOption({ label: 'After 30 days' })
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByLabel('API key', { exact: true }).inputValue()
    const line = await page.getByLabel('Command that uses the key').inputValue()
    const [, authorization = '', address = ''] = /^curl -fsS -H "Authorization: (Bearer \S+)" (\S+)$/.exec(line) ?? []
    expect(authorization).toBe(`Bearer ${key}`)
    expect((await fetch(address, { headers: { authorization } })).status).toBe(200)
    await page.getByRole('button', { name: 'Done' }).click()
    const row = page.getByRole('row', { name: /nightly report/ })
    await row.getByText('Read').waitFor()
    expect(await page.content()).not.toContain(key)
    const { keys } = await admin.call('GET /users/{userId}/keys', { params: { userId: 2 } })
    const days = (Date.parse(keys[0]?.expires_at ?? '') - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(29.9)
    expect(days).toBeLessThan(30.1)

    await row.getByRole('button', { name: 'Revoke nightly report' }).click()
    await page.getByRole('dialog').getByText('What uses “nightly report” is refused').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Cancel')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    expect((await fetch(address, { headers: { authorization } })).status).toBe(401)
  })
  it('turns a second factor on, renews its backup codes and turns it off again', async () => {
    await page.goto('account/security')
    await page.getByRole('button', { name: 'Set up 2FA' }).click()
    const codeOf = authenticator(await page.getByLabel('Key for the authenticator app').inputValue())
    await page.getByLabel('Code that the app shows now').pressSequentially(codeOf())
    const first = await page.getByLabel('Backup codes').inputValue()
    await page.getByLabel('I have saved these codes').check()
    await page.getByRole('button', { name: 'Finish' }).click()
    await page.getByText('Signing in asks for a code').waitFor()
    await page.getByText('10 backup codes left.').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('New backup codes')

    await page.getByRole('button', { name: 'New backup codes' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Your password').fill('Wr0ng-password')
    await dialog.getByRole('button', { name: 'Create new codes' }).click()
    // A wrong password is no ended session: one stays where one is.
    await dialog.getByText('Wrong password.').waitFor()
    await dialog.getByLabel('Your password').fill(password)
    await dialog.getByRole('button', { name: 'Create new codes' }).click()
    await expect.poll(() => page.getByLabel('Backup codes').inputValue()).not.toBe(first)
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Backup codes')
    await page.getByLabel('I have saved these codes').check()
    await page.getByRole('button', { name: 'Finish' }).click()

    await page.getByRole('button', { name: 'Disable 2FA…' }).click()
    await dialog.getByLabel('Your password').fill(password)
    await dialog.getByRole('button', { name: 'Disable 2FA' }).click()
    await page.getByRole('button', { name: 'Set up 2FA' }).waitFor()
    expect((await admin.call('GET /users/{userId}', { params: { userId: 2 } })).mfa_enabled).toBe(false)
  })
  it('shows from where one works, and keeps that from being banned', async () => {
    const mine = page.getByRole('list', { name: 'Addresses I use' })
    await mine.getByText('Not banned').waitFor()
    await mine.getByRole('button', { name: 'Whitelist this: 127.0.0.1' }).click()
    const dialog = page.getByRole('dialog')
    await expect.poll(() => dialog.getByLabel('Addresses and ranges').inputValue()).toBe('127.0.0.1 # berta’s address')
    await dialog.getByLabel('Expires', { exact: true }).selectOption('In 1 day')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await mine.getByText('Whitelisted').waitFor()
    expect((await admin.call('GET /whitelist')).whitelist[0]).toMatchObject({ ip: '127.0.0.1', created_by: 'berta' })
  })
  it('lists the sessions in words, ends the others, and says why at the sign-in', async () => {
    const phone = await visit(server.url, {
      viewportName: 'phone',
      userAgent:
        'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    })
    try {
      await signIn(phone.page, 'berta', password)
      await phone.page.goto('bans?jail=sshd')
      await phone.page.getByText('Live', { exact: true }).waitFor()
      await page.goto('account/security')
      await page.getByText('This one').waitFor()
      await page.getByRole('button', { name: 'End the session of Safari on iPhone from 127.0.0.1' }).click()
      // The other browser learns it by itself.
      await phone.page.waitForURL('**/login?next=*&ended=1')
      await phone.page.getByText('Your session ended.').waitFor()
      await page.getByText('Safari on iPhone').waitFor({ state: 'detached' })

      await givePassword(phone.page, 'berta')
      await phone.page.waitForURL('**/bans?jail=sshd')
      await page.reload()
      await page.getByRole('button', { name: 'End all others' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End all others' }).click()
      await phone.page.getByText('Your session ended.').waitFor()
      await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
    } finally {
      await phone.close()
    }
  })
  it('changes the password, and keeps the session with which it does', async () => {
    const change = async (current: string, fresh: string) => {
      await page.getByLabel('Current password').fill(current)
      await page.getByLabel('New password').fill(fresh)
      await page.getByRole('button', { name: 'Change the password' }).click()
    }
    await change(password, 'short')
    await page.getByText('The password does not have all of these yet.').waitFor()
    await change('Wr0ng-password', 'An0ther-secret')
    await page.getByText('The current password is wrong.').waitFor()
    await change(password, 'An0ther-secret')
    await page.getByText('The password is changed.').first().waitFor()
    expect(page.url()).toMatch(/account\/security$/)
    const reply = await server
      .client()
      .call('POST /auth/login', { body: { username: 'berta', password: 'An0ther-secret' } })
    expect('access_token' in reply).toBe(true)
    expect(unexpected()).toEqual([])
  })
  it('has no way into what is for admins', async () => {
    for (const path of ['users', 'users/1', 'users/new', 'settings/security', 'settings/oauth']) {
      await page.goto(path)
      await page.getByText('This page is for the role Admin. You are signed in as Operator.').waitFor()
    }
  })
})

describe.runIf(hasBrowser).each(sizes)('an admin on a %s', viewportName => {
  let server: TestServer
  let admin: Client
  let page: Page
  let complaints: string[]
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer()
    admin = (await server.setUp()).client
    for (const hostname of ['web-01', 'web-02']) await admin.call('POST /servers', { body: { hostname } })
    ;({ page, complaints, close } = await visit(server.url, { viewportName }))
    await signIn(page, 'admin', password)
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  let handedOver = ''
  /** As the one to whom it was handed. */
  const comeIn = async (text: string) => {
    const [address = '', username = '', temporary = ''] = text.split('\n')
    const other = await visit(server.url, { viewportName })
    await other.page.goto(address.replace('localhost', '127.0.0.1'))
    await givePassword(other.page, username.replace('Username: ', ''), temporary.replace('Password: ', ''))
    await firstPage(other.page)
    return other
  }

  it('adds a teammate, who signs in with what is handed over and sees the chosen server', async () => {
    // The bar of a phone has room for the first few pages only.
    if (viewportName === 'phone') await page.getByRole('link', { name: 'More' }).click()
    await page.getByRole('link', { name: 'Users' }).click()
    await page.getByText('Add a second admin').waitFor()
    await page.getByRole('link', { name: 'Add a user' }).first().click()
    await page.getByLabel('Username').fill('admin')
    await page.getByLabel('Email').fill('carla@stockade.example')
    await page.getByRole('radio', { name: /^Operator/ }).check()
    await page.getByRole('radio', { name: /^Chosen servers/ }).check()
    await page.getByRole('button', { name: 'Add the user' }).click()
    await page.getByText('Choose at least one server or tag.').waitFor()
    await page.getByLabel('web-02').check()
    await page.getByRole('button', { name: 'Add the user' }).click()
    await page.getByText('This username is taken.').waitFor()
    expect(await overflows(page)).toBe(false)
    await page.getByLabel('Username').fill('carla')
    await page.getByLabel('Require 2FA at the first sign-in').uncheck()
    await page.getByRole('radio', { name: /^Temporary password/ }).check()
    await page.getByRole('button', { name: 'Add the user' }).click()
    handedOver = await page.getByLabel('What to hand over').inputValue()
    const carla = await comeIn(handedOver)
    try {
      await carla.page.getByText('You see the one server that you have access to.').waitFor()
      await carla.page.getByRole('link', { name: 'web-02' }).waitFor()
      await expect.poll(() => carla.page.getByText('web-01').count()).toBe(0)
    } finally {
      await carla.close()
    }
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'carla', exact: true }).waitFor()
  })
  it('finds users by name and role, in the URL', async () => {
    await person(admin, 'dora')
    await page.goto('users')
    await page.getByText('1–3 of 3').first().waitFor()
    await page.getByLabel('Search by name or email').pressSequentially('CARL', { delay: 30 })
    await page.waitForURL('**/users?search=CARL')
    await page.getByText('1–1 of 1').first().waitFor()
    await page.getByLabel('Role').selectOption('Viewer')
    await page.getByText('No user matches.').waitFor()
    await page.reload()
    await page.getByText('No user matches.').waitFor()
    await page.getByRole('button', { name: 'Clear all filters' }).click()
    await page.getByText('1–3 of 3').first().waitFor()
  })
  it('changes role, e-mail and access', async () => {
    await page.goto('users/2')
    await page.getByRole('radio', { name: /^Viewer/ }).check()
    await page.getByLabel('Email').fill('dora@stockade.example')
    const save = page.getByRole('button', { name: 'Save changes' })
    await save.click()
    await page.getByText('This e-mail address is taken.').waitFor()
    await page.getByRole('radio', { name: /^All servers/ }).check()
    await page.getByText('3 changes').waitFor()
    await page.getByLabel('Email').fill('carla.b@stockade.example')
    await save.click()
    await save.waitFor({ state: 'detached' })
    const read = () => admin.call('GET /users/{userId}', { params: { userId: 2 } })
    await expect.poll(async () => (await read()).server_access).toBe('all')
    expect(await read()).toMatchObject({ role: 'Viewer', email: 'carla.b@stockade.example' })
  })
  it('ends a session and resets password and second factor', async () => {
    const carla = await comeIn(handedOver)
    try {
      const reply = await server.client().call('POST /auth/login', {
        body: { username: 'carla', password: /Password: (\S+)/.exec(handedOver)?.[1] ?? '' },
      })
      if (!('access_token' in reply)) throw new Error('a second factor is on already')
      await withFactor(server.client(reply.access_token))
      await page.goto('users/2')
      await page.getByRole('button', { name: 'Reset 2FA…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Reset 2FA' }).click()
      await page.getByText('This user has no 2FA.').waitFor()
      await page.getByRole('button', { name: 'Reset the password…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Reset the password' }).click()
      const fresh = await page.getByLabel('What to hand over').inputValue()
      expect(fresh).not.toBe(handedOver)
      await carla.page.getByText('Your session ended.').waitFor()
      const again = await comeIn(fresh)
      await again.close()
    } finally {
      await carla.close()
    }
  })
  it('says why the own account and the last admin stay', async () => {
    await page.goto('users/1')
    await page.getByText('This is the last admin. Make another').waitFor()
    await expect.poll(() => page.getByRole('radio', { name: /^Viewer/ }).isDisabled()).toBe(true)
    await page.getByText('You can’t delete your own account.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Delete…' }).isDisabled()).toBe(true)
  })
  it('deletes a user whose name is typed', async () => {
    await page.goto('users/2')
    await page.getByRole('button', { name: 'Delete…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type carla to confirm').fill('carl')
    await expect.poll(() => dialog.getByRole('button', { name: 'Delete the user' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Type carla to confirm').fill('carla')
    await dialog.getByRole('button', { name: 'Delete the user' }).click()
    await page.waitForURL('**/users')
    await page.getByText('1–2 of 2').first().waitFor()
    await page.goto('users/2')
    await page.getByText('This user does not exist.').waitFor()
  })
  it('says how many have no second factor before it is required, and is led to its own at once', async () => {
    await page.goto('settings/security')
    await page.waitForURL('**/settings/security')
    await page.getByLabel('Sign out after inactivity').fill('91d')
    await page.getByText('At least 1 minute, at most 90 days.').waitFor()
    await page.getByLabel('Sign out after inactivity').fill('12h')
    await page.getByLabel('Minimum password length').fill('14')
    await page.getByLabel('Require 2FA').check()
    await page.getByText('2 of 2 users have none.').waitFor()
    await page.getByText('Sign out after inactivity: 7d → 12h').waitFor()
    expect(await overflows(page)).toBe(false)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/login/enrol?next=*')
    const { secret } = await admin.call('POST /auth/mfa/enable')
    await admin.call('POST /auth/mfa/confirm', { body: { code: authenticator(secret)() } })
    expect((await admin.call('GET /settings')).security).toMatchObject({
      session_timeout: 43_200,
      mfa_required: true,
      password_min_length: 14,
    })
    // What was refused was meant; nothing else went wrong on the way.
    expect(complaints.filter(text => !/status of 4(?:03|04|09)|WebSocket/.test(text))).toEqual([])
  })
})

describe.runIf(hasBrowser)('a teammate with a second factor', () => {
  let server: TestServer
  let page: Page
  let close: () => Promise<void>
  beforeAll(async () => {
    server = await startServer({ env: { STOCKADE_DEMO: '1' } })
    await server.setUp()
    ;({ page, close } = await visit(server.url))
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
  })
  const opened = (link: string) => link.replace('localhost', '127.0.0.1')

  it('is invited with four clicks, and comes in by five screens', async () => {
    await signIn(page, 'admin', password)
    await page.getByRole('link', { name: 'Users' }).click()
    await page.getByRole('link', { name: 'Add a user' }).first().click()
    await page.getByLabel('Username').fill('erik')
    await page.getByLabel('Email').fill('erik@stockade.example')
    await page.getByRole('button', { name: 'Add the user' }).click()
    const link = await page.getByLabel('Set-up link', { exact: true }).inputValue()
    await page.getByText(/^Valid until 20\d\d-/).waitFor()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download' }).click()
    expect((await downloading).suggestedFilename()).toBe('stockade-invitation-erik.txt')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByText('Not accepted yet.').waitFor()
    expect(await page.content()).not.toContain(link)

    const { page: phone, complaints, close: closePhone } = await visit(server.url, { viewportName: 'phone' })
    try {
      await phone.goto(opened(link))
      const chosen = phone.getByLabel('Password', { exact: true })
      await chosen.fill('short')
      await phone.getByRole('button', { name: 'Set the password and go on' }).click()
      await phone.getByText('The password does not have all of these yet.').waitFor()
      await expect.poll(() => phone.getByLabel('You will sign in as').inputValue()).toBe('erik')
      expect(await overflows(phone)).toBe(false)
      await chosen.fill(password)
      await phone.getByRole('button', { name: 'Set the password and go on' }).click()
      await phone.getByRole('button', { name: 'Set up 2FA' }).click()
      const codeOf = authenticator(await phone.getByLabel('Key for the authenticator app').inputValue())
      await phone.getByLabel('Code that the app shows now').pressSequentially(codeOf())
      await phone.getByLabel('I have saved these codes').check()
      await phone.getByRole('button', { name: 'Finish' }).click()
      await firstPage(phone)
      expect(complaints).toEqual([])
      await phone.context().clearCookies()
      await phone.goto(opened(link))
      await phone.getByText('This link was used already').waitFor()
    } finally {
      await closePhone()
    }
  })
  it('gets another link as long as the first was not used', async () => {
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click()
    await page.getByRole('link', { name: 'Add a user' }).first().click()
    await page.getByLabel('Username').fill('fria')
    await page.getByLabel('Email').fill('fria@stockade.example')
    await page.getByRole('button', { name: 'Add the user' }).click()
    const first = await page.getByLabel('Set-up link', { exact: true }).inputValue()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click()
    await page.getByRole('row', { name: /fria.*Invited/ }).waitFor()
    await expect.poll(() => page.getByText('Invited').count()).toBe(1)
    await page.getByRole('link', { name: 'fria' }).click()
    await page.getByRole('button', { name: 'Resend the invitation' }).click()
    const second = await page.getByLabel('Set-up link', { exact: true }).inputValue()
    const codeOf = (link: string) => new URL(link).searchParams.get('code') ?? ''
    const asked = (link: string) => server.client().call('GET /auth/invite', { query: { code: codeOf(link) } })
    await expect(asked(first)).rejects.toMatchObject({ status: 401 })
    expect(await asked(second)).toMatchObject({ username: 'fria', mfa_required: true })
  })
  it('sees that a demo is one', async () => {
    await expect.poll(() => page.title()).toMatch(/ · Demo$/)
    await page.getByRole('navigation', { name: 'Main' }).getByText('Demo').waitFor()
    await page.context().clearCookies()
    await page.goto('login')
    await page.getByText('This is a demo with sample data.').waitFor()
    await expect.poll(() => page.title()).toBe('Sign in · Stockade · Demo')
  })
})

describe.runIf(hasBrowser)('signing in with a provider', () => {
  let server: TestServer
  let github: Awaited<ReturnType<typeof startGithub>>
  let admin: Client
  let page: Page
  let close: () => Promise<void>
  beforeAll(async () => {
    github = await startGithub()
    const port = await freePort()
    server = await startServer({
      port,
      env: {
        STOCKADE_BASE_URL: `http://127.0.0.1:${port}`,
        STOCKADE_PROVIDER_A_URL: github.url,
        STOCKADE_PROVIDER_A_API_URL: `${github.url}/api`,
      },
    })
    admin = (await server.setUp()).client
    ;({ page, close } = await visit(server.url))
  })
  afterAll(async () => {
    await close?.()
    await server?.close()
    await github?.close()
  })
  const leave = async () => {
    await page.context().clearCookies()
    await page.goto('login')
  }

  it('is set up by an admin, who is told why passwords can’t be turned off yet', async () => {
    await signIn(page, 'admin', password)
    await page.goto('settings/oauth')
    await expect
      .poll(() => page.getByLabel('GitHub: Redirect URL').inputValue())
      .toBe(`${server.url}/api/v1/auth/provider_a/callback`)
    await page.getByLabel('Client ID').first().fill('gh-id')
    await page.getByLabel('Client secret').first().fill('gh-secret')
    await page.getByLabel('Show on the sign-in page').first().check()
    await page.getByText('the lists are empty: nobody can sign in.').waitFor()
    await page.getByLabel('Allowed users').fill('gina\nhans')
    await page.getByRole('radio', { name: /^Admin/ }).check()
    await page.getByLabel('Disable password sign-in').check()
    await page.getByText('GitHub, Client secret: not set → a new one').waitFor()
    // What somebody else changes meanwhile shows, is told where it is the same, and takes nothing of what is being typed.
    await admin.call('PATCH /settings/oauth', {
      body: { provider_a: { allowed_users: ['zoe'] }, provider_b: { allowed_domains: ['stockade.example'] } },
    })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('GitHub, Allowed users').waitFor()
    await expect.poll(() => page.getByLabel('Allowed domains').inputValue()).toBe('stockade.example')
    await expect.poll(() => page.getByLabel('Client ID').first().inputValue()).toBe('gh-id')
    await expect.poll(() => page.getByLabel('Allowed users').inputValue()).toBe('gina\nhans')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('No admin signs in through a provider yet.').waitFor()
    // What was typed is still there.
    await expect.poll(() => page.getByLabel('Client secret').first().inputValue()).toBe('gh-secret')
    await page.getByLabel('Disable password sign-in').uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Set. Leave empty to keep it.').first().waitFor()
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
    expect(await admin.call('GET /settings/oauth')).toMatchObject({
      provider_a: { allowed_users: ['gina', 'hans'] },
      provider_b: { allowed_domains: ['stockade.example'] },
    })
  })
  it('leads back to the page that was asked for', async () => {
    await leave()
    await page.goto('bans?jail=sshd')
    await page.getByRole('link', { name: 'Continue with GitHub' }).click()
    await page.waitForURL('**/bans?jail=sshd')
    await firstPage(page)
    await page.goto('account/security')
    await page.getByText('You sign in with GitHub, so there is no password here to change.').waitFor()
    await leave()
    await page.getByText('Last time, you used GitHub on this device.').waitFor()
  })
  it('says as a sentence what went wrong', async () => {
    github.person.agrees = false
    await page.getByRole('link', { name: 'Continue with GitHub' }).click()
    await page.getByText('The provider did not confirm the sign-in').waitFor()
    github.person.agrees = true
    Object.assign(github.person, { id: 8, login: 'stranger' })
    await page.getByRole('link', { name: 'Continue with GitHub' }).click()
    await page.getByText('is not allowed to sign in here').waitFor()
    for (const [code, words] of [
      ['disabled', 'This sign-in method is disabled.'],
      ['state', 'began in another browser'],
      ['provider_unavailable', 'can’t be reached'],
      ['email_unverified', 'has not verified your email address'],
      ['account_exists', 'An account with your email address already exists.'],
      ['never_heard_of', 'The sign-in with the provider failed.'],
    ] as const) {
      await page.goto(`login?error=${code}`)
      await page.getByRole('alert').getByText(words).waitFor()
    }
  })
  it('is the only way in once passwords are turned off', async () => {
    Object.assign(github.person, { id: 7, login: 'gina' })
    await page.getByRole('link', { name: 'Continue with GitHub' }).click()
    await firstPage(page)
    await page.goto('settings/oauth')
    await page.getByLabel('Disable password sign-in').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
    await leave()
    await page.getByText('Password sign-in is disabled.').waitFor()
    await expect.poll(() => page.getByLabel('Username').count()).toBe(0)
    await page.getByRole('link', { name: 'Continue with GitHub' }).click()
    await firstPage(page)
  })
})

describe.runIf(hasBrowser)('every page of it is accessible', () => {
  let server: TestServer
  let admin: Client
  /** Another place, with a provider, where a second factor is required. */
  let strict: TestServer
  let invitation = ''
  beforeAll(async () => {
    server = await startServer()
    strict = await startServer()
    admin = (await server.setUp()).client
    await person(admin, 'berta', 'Operator')
    for (let index = 1; index <= 9; index++) await admin.call('POST /servers', { body: { hostname: `web-0${index}` } })
    for (const [name, days] of [
      ['nightly report', 3],
      ['ansible', 300],
    ] as const)
      await admin.call('POST /users/{userId}/keys', {
        params: { userId: 1 },
        body: { name, permissions: 'write', expires_at: new Date(Date.now() + days * 86_400_000).toISOString() },
      })
    const invited = { username: 'erik', email: 'erik@stockade.example', invite: true, mfa_required: true }
    invitation = new URL((await admin.call('POST /users', { body: invited })).setup_url ?? '').search
    const chief = (await strict.setUp()).client
    for (const name of Object.keys(viewports).flatMap(size => [`${size}_light`, `${size}_dark`]))
      await person(chief, name)
    await chief.call('PATCH /settings/oauth', {
      body: { provider_a: { enabled: true, client_id: 'gh-id', client_secret: 'gh-secret' } },
    })
    await withFactor(chief)
    await chief.call('PATCH /settings', { body: { security: { mfa_required: true } } })
  })
  afterAll(async () => {
    await server?.close()
    await strict?.close()
  })

  interface Look {
    readonly name: string
    readonly path: string
    /** What has to be seen before it is judged, and what is done first. */
    readonly text?: string
    readonly act?: (page: Page) => Promise<void>
  }
  const seen = (text: string) => (page: Page) => page.getByText(text).first().waitFor()
  const press = (button: string, then: (page: Page) => Promise<void>) => async (page: Page) => {
    await page.getByRole('button', { name: button, exact: true }).first().click()
    await then(page)
  }
  const looks: readonly Look[] = [
    { name: 'profile', path: 'account/profile', text: 'Also manages servers' },
    { name: 'security', path: 'account/security', text: 'This one' },
    {
      name: 'security, setting up',
      path: 'account/security',
      act: press('Set up 2FA', seen('Code that the app shows now')),
    },
    {
      name: 'security, password refused',
      path: 'account/security',
      act: press('Change the password', seen('Enter your password.')),
    },
    { name: 'keys', path: 'account/keys', text: 'nightly report' },
    { name: 'keys, a new one', path: 'account/keys', act: press('Create a key', seen('Permission')) },
    {
      name: 'keys, shown once',
      path: 'account/keys',
      act: press('Create a key', async page => {
        await page.getByLabel('Name').fill('shown once')
        await press('Create key', seen('This is the only time'))(page)
      }),
    },
    {
      name: 'keys, revoking',
      path: 'account/keys',
      act: press('Revoke nightly report', seen('Revoke this key?')),
    },
    { name: 'users', path: 'users', text: 'berta' },
    { name: 'users, nothing found', path: 'users?search=nobody', text: 'No user matches.' },
    {
      name: 'a new user, refused',
      path: 'users/new',
      act: async page => {
        await page.getByText('Chosen servers').click()
        await press('Add the user', seen('Use 3 to 50 letters'))(page)
      },
    },
    { name: 'a user who is invited', path: 'users/3', text: 'Not accepted yet.' },

    {
      name: 'an invitation',
      path: 'users/3',
      act: async page => {
        await page.goto(`invite${invitation}`)
        await page.getByText(/You will sign in as|This link was used already/).waitFor()
      },
    },
    { name: 'a user', path: 'users/2', text: 'No session is open.' },
    { name: 'oneself', path: 'users/1', text: 'This is the last admin. Make another' },
    { name: 'a user, gone', path: 'users/999', text: 'This user does not exist.' },
    {
      name: 'a user, resetting the password',
      path: 'users/2',
      act: press('Reset the password…', press('Reset the password', seen('Hand this to berta'))),
    },
    { name: 'a user, deleting', path: 'users/2', act: press('Delete…', seen('Type berta to confirm')) },
    {
      name: 'settings',
      path: 'settings/security',
      act: async page => {
        await page.getByLabel('Require 2FA').check()
        await seen('You are one of them')(page)
      },
    },
    { name: 'providers', path: 'settings/oauth', text: 'Allowed domains' },
    {
      name: 'account menu',
      path: 'account/profile',
      act: async page => {
        await page.getByRole('button', { name: 'Account of admin' }).click()
        await page.getByRole('menuitem', { name: 'API keys' }).waitFor()
      },
    },
  ]

  describe.each(appearances)('%s, %s', (viewportName, scheme) => {
    let page: Page
    let close: () => Promise<void>
    beforeAll(async () => {
      // axe is put into the page, which the policy of the pages rightly forbids.
      ;({ page, close } = await visit(server.url, { viewportName, scheme, bypassCSP: true }))
      await signIn(page, 'admin', password)
    })
    afterAll(() => close?.())
    const judge = async (judged: Page) => {
      await settled(judged)
      await expect.poll(() => judged.locator('html').getAttribute('data-mantine-color-scheme')).toBe(scheme)
      expect(await breaches(judged)).toEqual([])
      expect(await overflows(judged)).toBe(false)
    }
    let fresh = true
    it.each(inTurn(looks, [viewportName, scheme]))('$name', async ({ path, text, act }) => {
      // Loaded anew where the last one was left with something open or typed.
      if (fresh) await page.goto(path)
      else await go(page, path)
      fresh = act !== undefined
      if (text !== undefined) await seen(text)(page)
      await act?.(page)
      await judge(page)
    })
    it('the sign-in, its second step and the enrolment', async () => {
      const other = await visit(strict.url, { viewportName, scheme, bypassCSP: true })
      try {
        await other.page.goto('login?error=not_allowed')
        await other.page.getByRole('link', { name: 'Continue with GitHub' }).waitFor()
        await judge(other.page)
        await givePassword(other.page, 'admin')
        await other.page.getByText('The server’s clock says').waitFor()
        await judge(other.page)
        await other.page.getByRole('button', { name: 'Use a backup code' }).click()
        await other.page.getByLabel('Backup code').fill('wrong-wrong')
        await other.page.getByRole('button', { name: 'Sign in' }).click()
        await other.page.getByText('4 more tries.').first().waitFor()
        await judge(other.page)
        await other.page.goto('login')
        await givePassword(other.page, `${viewportName}_${scheme}`)
        await other.page.getByRole('button', { name: 'Set up 2FA' }).waitFor()
        await judge(other.page)
        await other.page.getByRole('button', { name: 'Set up 2FA' }).click()
        const key = await other.page.getByLabel('Key for the authenticator app').inputValue()
        await judge(other.page)
        await other.page.getByLabel('Code that the app shows now').pressSequentially(authenticator(key)())
        await other.page.getByRole('heading', { name: 'Backup codes' }).waitFor()
        await judge(other.page)
      } finally {
        await other.close()
      }
    })
  })
})
