import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aHost, password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { breaches, go, hasBrowser, overflows, settled, signIn } from './browser.ts'
import type { Visit } from './browser.ts'
import { useBrowser } from './use-browser.ts'

/* The page of reports on a screen, on a phone and on paper, and a schedule. */

describe.runIf(hasBrowser)('reports', () => {
  const { visit } = useBrowser()
  let server: TestServer
  let desktop: Visit
  beforeAll(async () => {
    server = await startServer()
    const admin = await server.setUp()
    const web = await aHost(server, admin.client, 'web-01')
    await web.client.call('POST /bans/batch', { body: { bans: [{ ip: '198.51.100.7', jail: 'sshd' }] } })
    desktop = await visit(server.url, { bypassCSP: true })
    await signIn(desktop.page, 'admin', password)
  })
  afterAll(async () => {
    await desktop?.close()
    await server?.close()
  })

  it('say what happened in a period, and go on to the next one', async () => {
    const { page, complaints } = desktop
    await go(page, 'reports')
    await page.getByText('0 bans on 1 server').waitFor()
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await page.getByText('1 ban on 1 server').waitFor()
    expect(await page.getByRole('table', { name: 'Jails' }).innerText()).toMatch(/sshd\s+1\s+0/)
    await page.getByText('This period is not over yet.').waitFor()
    await settled(page)
    expect(await breaches(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('print without controls, and have room on a phone', async () => {
    const { page } = desktop
    await page.emulateMedia({ media: 'print' })
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
    expect(await page.getByText('Sent by email').isVisible()).toBe(false)
    expect(await page.getByText('1 ban on 1 server').isVisible()).toBe(true)
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await overflows(page)).toBe(false)
    await settled(page)
    expect(await breaches(page)).toEqual([])
  })

  it('are sent by a schedule', async () => {
    const { page, complaints } = desktop
    await page.getByRole('button', { name: 'New schedule' }).click()
    const dialog = page.getByRole('dialog', { name: 'New schedule' })
    await dialog.getByLabel('Hour').fill('24')
    await dialog.getByRole('button', { name: 'Create schedule' }).click()
    await dialog.getByText('Enter an hour from 0 to 23.').waitFor()
    await dialog.getByLabel('Hour').fill('7')
    await dialog.getByLabel('Name').fill('For the board')
    await dialog.getByLabel('Email addresses').fill('board@stockade.example')
    await dialog.getByRole('button', { name: 'Create schedule' }).click()
    await page.getByText('board@stockade.example').waitFor()
    await page.getByRole('button', { name: 'Delete For the board' }).click()
    await page.getByText('No report is sent yet.').waitFor()
    expect(complaints).toEqual([])
  })
})
