import { beforeAll } from 'vitest'
import type { Browser } from 'playwright-core'
import { built, hasBrowser, launch, visit } from './browser.ts'
import type { Visit } from './browser.ts'

/** Of this process: the files of a worker share it, and a visit has a context of its own. The browser ends with its process. */
const launched = new Map<'whole' | 'bare', Promise<Browser>>()

/** Gives the tests of the file or group that calls this a browser. */
export const useBrowser = (program: 'whole' | 'bare' = 'bare') => {
  let browser: Browser
  beforeAll(async () => {
    if (!hasBrowser) return
    await built()
    const running = launched.get(program) ?? launch(program)
    launched.set(program, running)
    browser = await running
  })
  return {
    visit: (baseURL: string, options?: Parameters<typeof visit>[2]): Promise<Visit> => visit(browser, baseURL, options),
  }
}
