import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { password, startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { go, hasBrowser, settled, signIn } from './browser.ts'
import { aNewHost } from './host.ts'
import { useBrowser } from './use-browser.ts'

/*
 * Texts in other languages: none is forgotten in the code, longer words and the other direction of writing push nothing
 * out of the page, and each language greets in its own words.
 */
describe.runIf(hasBrowser)('languages', () => {
  let server: TestServer
  const { visit } = useBrowser()
  beforeAll(async () => {
    server = await startServer()
    const { client } = await server.setUp()
    const host = await aNewHost(server, client, 'web-01')
    await host.beat()
    await host.ban('203.0.113.7')
  })
  afterAll(() => server?.close())
  const paths = [
    '',
    'bans',
    'servers',
    'servers/tokens',
    'whitelist',
    'commands',
    'templates',
    'users',
    'settings/general',
    'audit',
    'more',
  ]
  const inLanguage = async (language: string, viewportName: 'desktop' | 'phone') => {
    const visited = await visit(server.url, { viewportName })
    await visited.page.addInitScript(`localStorage.setItem('stockade-language', ${JSON.stringify(language)})`)
    return visited
  }
  /** What sticks out of a page that is wider than its window. */
  const sticksOut = (page: Page) =>
    page.evaluate<string[]>(
      `document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1 ? [] :
        [...document.querySelectorAll('body *')]
          .filter(element => { const { left, right } = element.getBoundingClientRect(); return left < -1 || right > document.documentElement.clientWidth + 1 })
          .map(element => element.tagName + ' ' + element.className + ': ' + element.textContent.slice(0, 60))`,
    )
  const open = async (page: Page, path: string) => {
    await go(page, path)
    await page.locator('h1').first().waitFor()
    await settled(page)
  }
  /** Signs in whatever the labels say. */
  const enter = async (page: Page) => {
    await page.goto('login')
    await page.locator('input[autocomplete=username]').fill('admin')
    await page.locator('input[autocomplete=current-password]').fill(password)
    await page.keyboard.press('Enter')
    await page.locator('nav').first().waitFor()
  }

  it.each(['desktop', 'phone'] as const)('every text is in a catalogue, and longer ones fit on a %s', async size => {
    const { page, complaints, close } = await inLanguage('pseudo', size)
    try {
      await enter(page)
      for (const path of paths) {
        await open(page, path)
        expect(await sticksOut(page), path).toEqual([])
        const plain = await page.evaluate<string[]>(
          `[...document.querySelectorAll('nav a, h1, main h2, main th, main label, main button')]
            .filter(element => element.checkVisibility() && !element.closest('[data-ban], [data-row], code'))
            .map(element => element.textContent.trim())
            .filter(text => /[A-Za-z]{3}/.test(text) && !/[áëïøüÅÉÏØÜçñ~]/.test(text))`,
        )
        // Names that are the same in every language.
        expect(
          plain.filter(text => !['web-01', 'sshd', 'admin', 'Stockade', '24 h', '7 d', '30 d'].includes(text)),
          path,
        ).toEqual([])
      }
      // The sign-in page asks whether somebody is signed in already.
      expect(complaints.filter(text => !text.includes('401'))).toEqual([])
    } finally {
      await close()
    }
  })
  it.each([
    ['de', 'Anmelden', 'Sperren', 'Übersicht'],
    ['fr', 'Se connecter', null, null],
    ['es', 'Iniciar sesión', null, null],
  ])(
    '%s: from the sign-in on, and nothing sticks out on a phone',
    async (language, signInWord, bansWord, overviewWord) => {
      const { page, complaints, close } = await inLanguage(language, 'phone')
      try {
        await page.goto('login')
        await page.getByRole('button', { name: signInWord }).waitFor()
        await expect.poll(() => page.locator('html').getAttribute('lang')).toBe(language)
        await enter(page)
        if (overviewWord !== null) await expect.poll(() => page.locator('h1').textContent()).toBe(overviewWord)
        if (bansWord !== null) await page.locator('nav').getByText(bansWord, { exact: true }).waitFor()
        for (const path of paths) {
          await open(page, path)
          expect(await sticksOut(page), path).toEqual([])
          const english = await page.evaluate<string[]>(
            `[...document.querySelectorAll('h1, main th, main button')].map(element => element.textContent.trim())
            .filter(text => /\\b(the|of|all|show|add|remove|search|server[s]? and)\\b/i.test(text))`,
          )
          expect(english, path).toEqual([])
        }
        expect(complaints.filter(text => !text.includes('401'))).toEqual([])
      } finally {
        await close()
      }
    },
  )
  it('the language is chosen in the preferences', async () => {
    const { page, close } = await visit(server.url)
    try {
      await signIn(page, 'admin', password)
      await page.goto('account/preferences')
      await page.getByLabel('Language').selectOption('fr')
      await page.getByRole('button', { name: 'Reload now' }).click()
      await page.locator('html[lang=fr]').waitFor()
    } finally {
      await close()
    }
  })
  it('pages fit when they are written from right to left', async () => {
    const { page, close } = await visit(server.url, { viewportName: 'phone' })
    await page.addInitScript(`document.documentElement.dir = 'rtl'`)
    try {
      await signIn(page, 'admin', password)
      await page.evaluate(`document.documentElement.dir = 'rtl'`)
      for (const path of paths) {
        await open(page, path)
        expect(await sticksOut(page), path).toEqual([])
      }
    } finally {
      await close()
    }
  })
})
