import { expect, test } from 'vitest'
import { movableClock, password, raw } from '../../src/testing/index.ts'
import type { Signed, TestServer } from '../../src/testing/index.ts'
import { withServer } from '../../src/testing/scene.ts'

/* Guesses from many addresses against one account, by IPv6 networks, and so many at once that nobody else gets in. */

const clock = movableClock()
let server: TestServer
let admin: Signed
const home = '203.0.113.10'

withServer({ clock, env: { STOCKADE_TRUSTED_PROXIES: '127.0.0.0/8' } }, made => ({ server, admin } = made))

const login = (username: string, typed: string, from: string) =>
  raw(server, 'POST', '/api/v1/auth/login', {
    body: { username, password: typed },
    headers: { 'x-forwarded-for': from },
  })
const person = async (username: string) => {
  await admin.client.call('POST /users', {
    body: { username, email: `${username}@stockade.example`, password },
  })
  expect((await login(username, password, home)).status).toBe(200)
}
/** The statuses of wrong passwords from these addresses, one after the other. */
const guess = async (username: string, addresses: readonly string[]) => {
  const statuses: number[] = []
  for (const [index, from] of addresses.entries())
    statuses.push((await login(username, `Wrong-${index}-password`, from)).status)
  return statuses
}
const checked = (statuses: readonly number[]) => statuses.filter(status => status === 401).length

test('neighbours in one /64 are one guesser', async () => {
  await person('anna')
  const statuses = await guess(
    'anna',
    Array.from({ length: 30 }, (_, index) => `2001:db8:1:1::${(index + 1).toString(16)}`),
  )
  expect(checked(statuses)).toBe(10)
  expect((await login('anna', password, home)).status).toBe(200)
})

test('a /48 or a /24 full of addresses ends at thirty', async () => {
  await person('berta')
  const wide = Array.from({ length: 60 }, (_, index) => `2001:db8:2:${(index + 1).toString(16)}::1`)
  expect(checked(await guess('berta', wide))).toBe(30)
  const narrow = Array.from({ length: 60 }, (_, index) => `198.51.100.${index + 1}`)
  expect(checked(await guess('berta', narrow))).toBe(30)
  expect((await login('berta', password, home)).status).toBe(200)
})

test('an account has a hundred wrong passwords a day, from wherever; then only networks that it knows may try', async () => {
  await person('carla')
  const everywhere = Array.from({ length: 130 }, (_, index) => `2001:db8:${(index + 0x100).toString(16)}::1`)
  expect(checked(await guess('carla', everywhere))).toBe(100)
  // Not even the right one, lest the answer tell that it is.
  expect((await login('carla', password, '2001:db8:fff::1')).status).toBe(429)
  expect((await login('carla', password, home)).status).toBe(200)
  const told = await admin.client.call('GET /settings/audit', { query: { action: 'auth.guessing' } })
  expect(told).toMatchObject({ total: 1, entries: [{ details: { username: 'carla' } }] })
  // Whoever never existed is answered alike, and is nobody's news.
  const nobody = Array.from({ length: 110 }, (_, index) => `2001:db8:${(index + 0x200).toString(16)}::1`)
  expect(checked(await guess('nobody', nobody))).toBe(100)
  expect((await admin.client.call('GET /settings/audit', { query: { action: 'auth.guessing' } })).total).toBe(1)
  clock.forward(25 * 3600)
  admin = await server.signIn()
  expect((await login('carla', password, '2001:db8:fff::1')).status).toBe(200)
})

test('a flood of strangers keeps nobody out that the account knows, and has an end', async () => {
  await person('dora')
  const flood = Array.from({ length: 400 }, (_, index) =>
    login(`stranger_${index}`, 'Wrong-1-password', `2001:db8:${(index + 0x1000).toString(16)}::1`),
  )
  expect((await login('dora', password, home)).status).toBe(200)
  const answers = await Promise.all(flood)
  const statuses = new Set(answers.map(({ status }) => status))
  expect(statuses).toEqual(new Set([401, 503]))
  const busy = answers.find(({ status }) => status === 503)
  expect(Number(busy?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(100)
})
