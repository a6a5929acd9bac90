import { afterAll, beforeAll } from 'vitest'
import type { Browser } from 'playwright-core'
import { built, hasBrowser, launch, visit } from './browser.ts'
import type { Visit } from './browser.ts'

/** Launches a browser before the tests of the file or group that calls this, and closes it after them. */
export const useBrowser = (program?: 'whole') => {
  let browser: Browser
  beforeAll(async () => {
    if (!hasBrowser) return
    await built()
    browser = await launch(program)
  })
  afterAll(() => browser?.close())
  return {
    visit: (baseURL: string, options?: Parameters<typeof visit>[2]): Promise<Visit> => visit(browser, baseURL, options),
  }
}
