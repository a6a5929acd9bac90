import { get } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dashboardBuilt } from '../src/http/dashboard.ts'
import { raw, startServer } from '../src/testing/index.ts'
import type { TestServer } from '../src/testing/index.ts'

/* A page is kept apart from the windows that opened it, wherever the browser heeds that: elsewhere it only warns. */

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

/** `fetch` does not send a `Host` of one's own. */
const openerPolicyOf = (headers: Record<string, string>): Promise<string | readonly string[] | undefined> =>
  new Promise((resolve, reject) => {
    get(`${server.url}/login`, { headers, agent: false }, reply => {
      reply.resume()
      const policy = reply.headers['cross-origin-opener-policy']
      resolve(policy)
    }).on('error', reject)
  })

test.runIf(dashboardBuilt()).each([
  ['the same machine', {}, 'same-origin'],
  ['localhost', { host: 'localhost:8420' }, 'same-origin'],
  ['IPv6 loopback', { host: '[::1]:8420' }, 'same-origin'],
  ['https before a proxy', { host: 'stockade.example', 'x-forwarded-proto': 'https' }, 'same-origin'],
  ['plain http elsewhere', { host: 'stockade.example' }, undefined],
  ['a name that begins like loopback', { host: 'localhost.stockade.example' }, undefined],
])('the opener policy for %s', async (_, headers, policy) => {
  expect(await openerPolicyOf(headers)).toBe(policy)
})

test.runIf(dashboardBuilt())('a page names its own code where a session may be, else that of the sign-in', async () => {
  const linksOf = async (path: string, cookie: string) => {
    const { text } = await raw(server, 'GET', path, { headers: { cookie } })
    return [...text.matchAll(/<link rel="modulepreload" crossorigin fetchpriority="low" href="\.\/([^"]+)">/g)].map(
      ([, file]) => file,
    )
  }
  const session = 'stockade_session=any'
  const [bans, address, none, setUp, login] = await Promise.all([
    linksOf('/bans?q=sshd', session),
    linksOf('/ip/203.0.113.9', session),
    linksOf('/bans', ''),
    linksOf('/setup?code=any', ''),
    linksOf('/login', session),
  ])
  expect(bans.filter(file => file?.startsWith('assets/bans-'))).not.toEqual([])
  expect(address.filter(file => file?.startsWith('assets/ip-'))).toHaveLength(1)
  expect(none.filter(file => file?.startsWith('assets/sign-in-'))).toHaveLength(1)
  expect(none.filter(file => file?.startsWith('assets/shell-'))).toEqual([])
  expect([...setUp, ...login]).toEqual([])
  const replies = await Promise.all([...bans, ...address, ...none].map(file => raw(server, 'GET', `/${file}`)))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
})
