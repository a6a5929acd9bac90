import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer } from '@stockade/server/testing'
import type { TestServer } from '@stockade/server/testing'
import { hasBrowser, sizes } from './browser.ts'
import { useBrowser } from './use-browser.ts'

describe.runIf(hasBrowser)('the API documentation', () => {
  let server: TestServer
  const { visit } = useBrowser()
  beforeAll(async () => {
    // Under a path, which the links of the page must keep.
    server = await startServer({ env: { STOCKADE_BASE_URL: 'http://localhost/fleet' } })
  })
  afterAll(() => server.close())

  it.each(sizes)('is searched, follows the scheme and leads back, on a %s', async size => {
    const { page, complaints, close } = await visit(server.url, { viewportName: size })
    try {
      await page.goto(`${server.url}/fleet/api/docs`)
      const heading = page.getByRole('heading', { name: /\/api\/v1\/whitelist$/ })
      expect(await heading.count()).toBeGreaterThan(0)
      const all = await page.locator('article:visible').count()
      await page.keyboard.press('/')
      await page.keyboard.type('whitelist bulk')
      await expect.poll(() => page.locator('article:visible').count()).toBeLessThan(5)
      expect(await page.locator('nav li:visible').count()).toBe(await page.locator('article:visible').count())
      expect(await page.getByRole('status').innerText()).toMatch(/^[1-4] operations?$/)
      await page.keyboard.press('Escape')
      await expect.poll(() => page.locator('article:visible').count()).toBe(all)

      const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
      await page.evaluate("localStorage.setItem('stockade-scheme', 'dark')")
      await page.reload()
      const dark = await background()
      await page.evaluate("localStorage.setItem('stockade-scheme', 'light')")
      await page.reload()
      expect(await background()).not.toBe(dark)
      expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      // The smallest width that a page must fit, which is also a desktop's at a zoom of 400 %.
      await page.setViewportSize({ width: 320, height: 640 })
      expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      if (process.env.STOCKADE_TEST_PICTURES)
        await page.screenshot({ path: `${process.env.STOCKADE_TEST_PICTURES}/api-docs-${size}.png` })

      expect(complaints).toEqual([])
      await page.getByRole('link', { name: 'Back to the dashboard' }).click()
      await page.waitForURL(url => url.pathname.startsWith('/fleet/') && !url.pathname.includes('/api/'))
    } finally {
      await close()
    }
  })
})
