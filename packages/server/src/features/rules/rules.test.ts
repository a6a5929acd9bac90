import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, eventually, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, Signed, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'

const clock = movableClock()
let server: TestServer
let admin: Signed
let operator: Signed
let hosts: EnrolledHost[]

/** Sessions would end while the clock goes over days. */
const key = async (name: string, permissions: 'write' | 'admin'): Promise<Signed> => {
  const { key: token } = await admin.client.call('POST /keys', { body: { name, permissions } })
  return { token, client: server.client(token) }
}

beforeAll(async () => {
  server = await startServer({ clock })
  admin = await server.setUp()
  admin = await key('admin', 'admin')
  hosts = []
  for (const name of ['web-01', 'web-02', 'mail-01', 'mail-02']) hosts.push(await aHost(server, admin.client, name))
  await admin.client.call('POST /servers/tags', {
    body: { server_ids: [hosts[0]?.id ?? '', hosts[1]?.id ?? ''], add: ['web'] },
  })
  operator = await key('operator', 'write')
})
afterAll(() => server.close())

const report = async (place: number, ip: string, more: object = {}) => {
  const { results } = await (hosts[place] as EnrolledHost).client.call('POST /bans/batch', {
    body: { bans: [{ ip, jail: 'sshd', ban_duration: 600, ...more }] },
  })
  expect(results).toMatchObject([{ error: null }])
}
type RuleInput = Record<string, unknown>
let names = 0
const create = (input: RuleInput = {}, who = operator) =>
  who.client.call('POST /rules', { body: { name: `rule ${++names}`, ...input } })
const simulate = (id: number) => operator.client.call('POST /rules/{id}/simulate', { params: { id }, body: {} })
const arm = (id: number) => operator.client.call('POST /rules/{id}/arm', { params: { id } })
const armed = async (input: RuleInput = {}) => {
  const { id } = await create(input)
  await simulate(id)
  return arm(id)
}
const disarm = (id: number, lift = false) =>
  operator.client.call('POST /rules/{id}/disarm', { params: { id }, body: { lift } })
const read = (id: number) => operator.client.call('GET /rules/{id}', { params: { id } })
const matchesOf = async (id: number) =>
  (await operator.client.call('GET /rules/{id}/matches', { params: { id }, query: {} })).matches
const bansOf = async (id: number, active = true) =>
  (await operator.client.call('GET /fleet/bans', { query: { source: `rule:${id}`, active } })).fleet_bans
const matched = (id: number, many = 1) =>
  eventually(async () => {
    const matches = await matchesOf(id)
    expect(matches).toHaveLength(many)
    return matches
  })
const ask = (who: Signed, method: string, path: string, body?: object) =>
  raw(server, method, `/api/v1${path}`, { token: who.token, ...(body ? { body } : {}) })

describe('an armed rule', () => {
  test('bans everywhere what two servers banned, names itself, and one click undoes all of it', async () => {
    const rule = await armed({ name: 'SSH on two servers', jails: ['sshd'], within: 3600, duration: 7200 })
    await report(0, '198.51.100.1')
    await report(0, '198.51.100.1', { jail: 'nginx' })
    await report(1, '198.51.100.2')
    await report(1, '198.51.100.1')
    const [match] = await matched(rule.id)
    expect(match).toMatchObject({ entry: '198.51.100.1', outcome: 'banned', cause: null, times: 1, server_count: 2 })
    expect(match?.servers.map(({ hostname }) => hostname).sort()).toEqual(['web-01', 'web-02'])
    const [ban, ...others] = await bansOf(rule.id)
    expect(others).toEqual([])
    expect(ban).toMatchObject({
      id: match?.fleet_ban_id,
      entry: '198.51.100.1',
      target: { all: true },
      source: `rule:${rule.id}`,
      reason: 'SSH on two servers: 2 bans on 2 servers',
    })
    expect(Date.parse(ban?.expires_at ?? '')).toBe(Date.parse(match?.until ?? ''))
    expect((await read(rule.id)).banned_30_days).toBe(1)
    // The sets of hosts follow the commit.
    await eventually(async () => {
      const set = await hosts[3]?.client.call('GET /agent/shield/bans', { query: {} })
      expect(set?.add).toMatchObject([{ entry: '198.51.100.1' }])
    })
    expect(await disarm(rule.id, true)).toMatchObject({ state: 'simulated', armed_by: null })
    expect(await bansOf(rule.id)).toEqual([])
  })

  test('counts no bans from before it was armed alone, by operators, of ranges or of servers in quarantine', async () => {
    await report(0, '198.51.100.10')
    await report(1, '198.51.100.10')
    const rule = await armed({ within: 3600 })
    const last = await armed({ min_servers: 1, within: 3600 })
    await report(0, '198.51.100.0/25')
    await report(1, '198.51.100.0/25')
    await admin.client
      .call('POST /servers/{serverId}/quarantine', {
        params: { serverId: hosts[3]?.id ?? '' },
        body: { reason: 'test' },
      })
      .catch(() => {})
    await report(0, '198.51.100.11')
    // What came before is through when a later ban is.
    await matched(last.id, 1)
    expect(await matchesOf(rule.id)).toEqual([])
    await report(2, '198.51.100.10')
    await admin.client.call('DELETE /servers/{serverId}/quarantine', { params: { serverId: hosts[3]?.id ?? '' } })
    expect(await matched(rule.id), 'the window reaches back').toMatchObject([{ entry: '198.51.100.10' }])
    await disarm(rule.id, true)
    await disarm(last.id, true)
  })

  test('never bans the whitelist, managed servers, users, private addresses and what it excludes', async () => {
    await admin.client.call('POST /whitelist', { body: { ip: '203.0.113.0/28', description: 'office' } })
    const rule = await armed({ min_servers: 1, exclude: ['203.0.113.128/25'] })
    for (const ip of ['203.0.113.3', '10.1.2.3', '203.0.113.200', '169.254.0.5', '2001:db8:5:5::1']) await report(0, ip)
    const causes = (await matched(rule.id, 5)).map(({ entry, outcome, cause }) => [entry, outcome, cause])
    expect(causes.reverse()).toEqual([
      ['203.0.113.3', 'refused', 'whitelisted: 203.0.113.0/28'],
      ['10.1.2.3', 'refused', 'a private or reserved address'],
      ['203.0.113.200', 'refused', 'excluded from this rule'],
      ['169.254.0.5', 'refused', 'a private or reserved address'],
      ['2001:db8:5:5::/64', 'banned', null],
    ])
    expect((await bansOf(rule.id)).map(({ entry }) => entry)).toEqual(['2001:db8:5:5::/64'])
    await disarm(rule.id, true)
  })

  test('stops at its limit, says so, and bans again only when somebody arms it', async () => {
    const rule = await armed({ min_servers: 1, per_hour: 3, jails: ['flood'] })
    const bystander = await armed({ min_servers: 1, jails: ['flood'], target: { tags: ['web'] } })
    for (let n = 1; n <= 6; n++) await report(0, `198.51.100.${n}`, { jail: 'flood' })
    await matched(bystander.id, 6)
    expect(await read(rule.id)).toMatchObject({ state: 'tripped', reason: 'more than 3 bans within an hour' })
    expect(await bansOf(rule.id)).toHaveLength(3)
    const outcomes = (await matchesOf(rule.id)).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['tripped', 'banned', 'banned', 'banned'])
    const { entries } = await admin.client.call('GET /settings/audit', { query: { action: 'rule.trip' } })
    expect(entries).toHaveLength(1)
    expect(await arm(rule.id)).toMatchObject({ state: 'armed', reason: null })
    clock.forward(3700)
    await report(1, '192.0.2.20', { jail: 'flood' })
    await matched(rule.id, 5)
    await disarm(rule.id, true)
    await disarm(bystander.id, true)
  })

  test('does not ban again what somebody lifted, until its ban would have ended; then for longer', async () => {
    const rule = await armed({ min_servers: 1, jails: ['lift'], duration: 600, factor: 3 })
    await report(0, '198.51.100.30', { jail: 'lift' })
    await matched(rule.id)
    const [ban] = await bansOf(rule.id)
    await operator.client.call('DELETE /fleet/bans/{id}', { params: { id: ban?.id ?? 0 } })
    await report(1, '198.51.100.30', { jail: 'lift' })
    await report(1, '198.51.100.31', { jail: 'lift' })
    await matched(rule.id, 2)
    expect((await bansOf(rule.id)).map(({ entry }) => entry)).toEqual(['198.51.100.31'])
    clock.forward(700)
    await report(2, '198.51.100.30', { jail: 'lift' })
    const [newest] = await matched(rule.id, 3)
    expect(newest).toMatchObject({ entry: '198.51.100.30', times: 2 })
    expect(Date.parse(newest?.until ?? '') - Date.parse(newest?.at ?? '')).toBe(1_800_000)
    await disarm(rule.id, true)
  })

  test('is not filled by bans that hosts date back, nor kept from stopping', async () => {
    const rule = await armed({ jails: ['backdated'], min_servers: 2, min_bans: 2, within: 86_400, per_hour: 3 })
    const burst = async (place: number, from: number, ageInMinutes: number) => {
      const bans = Array.from({ length: 40 }, (_, at) => ({
        ip: `198.51.100.${from + at}`,
        jail: 'backdated',
        banned_at: new Date(clock() - ageInMinutes * 60_000).toISOString(),
      }))
      const { results } = await (hosts[place] as EnrolledHost).client.call('POST /bans/batch', { body: { bans } })
      expect(results.every(({ error }) => error === null)).toBe(true)
    }
    for (const age of [120, 16]) for (const place of [0, 1]) await burst(place, age, age)
    // What comes afterwards stands behind them in the stream of events.
    const last = await armed({ jails: ['after-the-burst'], min_servers: 1 })
    await report(0, '192.0.2.98', { jail: 'after-the-burst' })
    await matched(last.id)
    expect(await matchesOf(rule.id)).toEqual([])
    // Within what a report may take, the limit of an hour holds.
    for (const place of [0, 1]) await burst(place, 200, 14)
    const outcomes = (await matched(rule.id, 4)).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['tripped', 'banned', 'banned', 'banned'])
    expect(await read(rule.id)).toMatchObject({ state: 'tripped' })
    const simulation = await simulate(rule.id)
    expect(simulation).toMatchObject({ banned: 3, tripped_at: expect.any(String) })
    await disarm(rule.id, true)
    await disarm(last.id, true)
  })

  test('counts a late report as evidence, also after a restart of its windows, and as the simulation does', async () => {
    const conditions = { jails: ['late'], min_servers: 2, min_bans: 2, within: 3600 }
    const rule = await armed(conditions)
    const made = new Date(clock() - 5 * 3_600_000).toISOString()
    await report(0, '198.51.100.77', { jail: 'late', banned_at: made })
    // Another rule that is armed makes the runner read its windows again.
    const other = await armed({ jails: ['nothing'], min_servers: 1 })
    await report(1, '198.51.100.77', { jail: 'late' })
    expect(await matched(rule.id)).toMatchObject([{ entry: '198.51.100.77', outcome: 'banned' }])
    expect(await operator.client.call('POST /rules/simulate', { body: { days: 1, ...conditions } })).toMatchObject({
      banned: 1,
    })
    for (const { id } of [rule, other]) await disarm(id, true)
  })

  test('does what the simulation of the same bans says it would have done', async () => {
    const conditions = {
      jails: ['equal'],
      min_servers: 2,
      min_bans: 3,
      within: 1800,
      duration: 900,
      factor: 2,
      per_hour: 500,
    }
    const rule = await armed(conditions)
    const last = await armed({ jails: ['last'], min_servers: 1 })
    let seed = 11
    const random = (most: number) => (seed = (seed * 48_271) % 2_147_483_647) % most
    for (let n = 0; n < 30; n++) {
      clock.forward(120)
      for (const place of [0, 1, 2]) {
        const bans = Array.from({ length: 8 }, () => ({
          ip: random(4) === 0 ? `2001:db8:7:${random(4)}::${random(50)}` : `198.51.100.${100 + random(25)}`,
          jail: 'equal',
          ban_duration: 60,
        }))
        await hosts[place]?.client.call('POST /bans/batch', { body: { bans } })
      }
    }
    await report(0, '192.0.2.99', { jail: 'last' })
    await matched(last.id)
    const simulation = await operator.client.call('POST /rules/simulate', { body: { days: 1, ...conditions } })
    const { total } = await operator.client.call('GET /rules/{id}/matches', { params: { id: rule.id }, query: {} })
    expect(total).toBeGreaterThan(20)
    expect(simulation).toMatchObject({ complete: true, refused: 0, tripped_at: null, banned: total })
    const key = ({ entry, at, until, times }: { entry: string; at: string; until: string | null; times: number }) =>
      `${entry} ${at} ${until} ${times}`
    const real = (
      await operator.client.call('GET /rules/{id}/matches', { params: { id: rule.id }, query: { limit: 100 } })
    ).matches.map(key)
    expect(simulation.matches.map(key)).toEqual(real.slice(0, 100))
    expect(simulation.days.reduce((sum, { bans }) => sum + bans, 0)).toBe(total)
    expect(simulation.returned, 'addresses come back, since there are few').toBeGreaterThan(0)
    expect(simulation.spared).toBeGreaterThanOrEqual(simulation.returned)
    await operator.client.call('DELETE /rules/{id}', { params: { id: rule.id }, query: { lift: true } })
    expect(await bansOf(rule.id)).toEqual([])
    await disarm(last.id, true)
  })
})

describe('a rule', () => {
  test('is armed only as it was simulated', async () => {
    const { id } = await create()
    expect(await ask(operator, 'POST', `/rules/${id}/arm`)).toMatchObject({ status: 409 })
    await simulate(id)
    expect((await read(id)).state).toBe('simulated')
    const change = (body: object) => ask(operator, 'PATCH', `/rules/${id}`, body)
    expect((await change({ within: 120 })).json).toMatchObject({ state: 'draft', simulation: null, within: 120 })
    expect(await ask(operator, 'POST', `/rules/${id}/arm`)).toMatchObject({ status: 409 })
    await simulate(id)
    clock.forward(25 * 3600)
    expect(await ask(operator, 'POST', `/rules/${id}/arm`), 'a day later').toMatchObject({ status: 409 })
    await simulate(id)
    expect((await ask(operator, 'POST', `/rules/${id}/arm`)).json).toMatchObject({
      state: 'armed',
      armed_by: 'key:operator',
    })
    expect(await change({ within: 60 })).toMatchObject({ status: 409 })
    expect((await change({ within: 120, exclude: ['192.0.2.1', '192.0.2.1/32'], per_hour: 9 })).json).toMatchObject({
      state: 'armed',
      exclude: ['192.0.2.1'],
      per_hour: 9,
    })
    await disarm(id)
  })

  test('refuses what makes no sense', async () => {
    const cases: [object, string][] = [
      [{ min_servers: 3, min_bans: 2 }, 'min_bans'],
      [{ duration: 600, max_duration: 300 }, 'max_duration'],
      [{ target: { tags: ['web'], all: true } }, 'target'],
      [{ from: { server_ids: ['00000000-0000-4000-8000-000000000000'] } }, 'from'],
      [{ jails: [] }, 'jails'],
      [{ countries: ['Holland'] }, 'countries'],
      [{ exclude: ['nonsense'] }, 'exclude'],
      [{ within: 30 }, 'within'],
      [{ standing: 0 }, 'standing'],
    ]
    for (const [body, path] of cases) {
      const reply = await ask(operator, 'POST', '/rules', { name: 'wrong', ...body })
      expect(reply.status, path).toBe(400)
      expect(JSON.stringify(reply.json), path).toContain(path)
    }
    const { name } = await create()
    expect(await ask(operator, 'POST', '/rules', { name })).toMatchObject({ status: 409 })
    expect(await ask(operator, 'POST', '/rules/999999/arm')).toMatchObject({ status: 404 })
  })

  test('is for operators of the whole fleet', async () => {
    const { id } = await create({ target: { tags: ['web'] }, from: { server_ids: [hosts[0]?.id ?? ''] } })
    expect(await read(id)).toMatchObject({ target: { tags: ['web'] }, from: { server_ids: [hosts[0]?.id] } })
    const limited = await aUser(server, admin.client, 'limited', 'Operator', [hosts[0]?.id ?? ''])
    const viewer = await aUser(server, admin.client, 'viewer', 'Viewer')
    for (const who of [limited, viewer])
      for (const [method, path, body] of [
        ['POST', '/rules', { name: 'mine' }],
        ['POST', '/rules/simulate', {}],
        ['PATCH', `/rules/${id}`, { name: 'mine' }],
        ['POST', `/rules/${id}/simulate`, {}],
        ['POST', `/rules/${id}/arm`],
        ['POST', `/rules/${id}/disarm`, {}],
        ['DELETE', `/rules/${id}`],
      ] as const)
        expect(await ask(who, method, path, body), `${method} ${path}`).toMatchObject({ status: 403 })
    expect((await ask(viewer, 'GET', '/rules')).json).toMatchObject({ total: expect.any(Number) })
    const seen = await ask(limited, 'GET', `/rules/${id}`)
    expect(JSON.stringify(seen.json)).not.toContain(hosts[1]?.id)
  })
})
