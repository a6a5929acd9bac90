import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aHost, eventually, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'
import { aUser } from '../../testing/scene.ts'
import type { Client } from '@stockade/client'

interface Mail {
  readonly to: string[]
  readonly text: string
}
const mails: Mail[] = []
const relay = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  onData(stream, session, done) {
    let text = ''
    stream.on('data', (piece: Buffer) => (text += piece.toString()))
    stream.on('end', () => {
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
      done()
    })
  },
})
/** The parts of a mail as they are read. */
const partsOf = ({ text }: Mail) => {
  const decode = (part: string) =>
    part
      .replace(/=\r?\n/g, '')
      .replace(/((?:=[0-9A-F]{2})+)/g, bytes => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
  const parts = text.split(/\r?\n--/).map(part => {
    const [head = '', ...body] = part.split(/\r?\n\r?\n/)
    const content = body.join('\n\n')
    return { head, content: /base64/i.test(head) ? Buffer.from(content, 'base64').toString() : decode(content) }
  })
  const find = (type: string) => parts.find(({ head }) => head.includes(type))?.content ?? ''
  return { html: find('text/html'), plain: find('text/plain') }
}

const clock = movableClock()
const moveTo = (at: string) => clock.forward((Date.parse(at) - clock()) / 1000)
const evil = '<img src=x onerror=alert(1)>"\'&'
let server: TestServer
let admin: Client
let key = ''
let web: EnrolledHost
let db: EnrolledHost
let next = 1
const bans = (host: EnrolledHost, jail: string, banned_at: string, n: number) =>
  host.client.call('POST /bans/batch', {
    body: { bans: Array.from({ length: n }, () => ({ ip: `203.0.113.${next++}`, jail, banned_at })) },
  })

beforeAll(async () => {
  await new Promise<void>(resolve => void relay.listen(0, '127.0.0.1', resolve))
  moveTo('2027-03-30T12:00:00Z')
  server = await startServer({ clock })
  const first = await server.setUp()
  ;({ key } = await first.client.call('POST /keys', { body: { name: 'reports', permissions: 'admin' } }))
  admin = server.client(key)
  await admin.call('PATCH /settings', { body: { service: { timezone: 'Europe/Vienna' } } })
  web = await aHost(server, admin, 'web-01')
  db = await aHost(server, admin, 'db-01')
  await admin.call('PATCH /servers/{serverId}', { params: { serverId: web.id }, body: { tags: ['web'] } })
  // The week of Vienna from Sunday 22 March, 23:00 UTC, to Sunday 28 March, 22:00 UTC: its clock changes on the last day.
  await bans(web, 'sshd', '2027-03-21T22:59:59Z', 1)
  await bans(web, 'sshd', '2027-03-21T23:00:00Z', 2)
  await bans(web, 'nginx', '2027-03-28T21:59:59Z', 1)
  await bans(db, 'sshd', '2027-03-25T10:20:00Z', 4)
  await bans(db, 'sshd', '2027-03-28T22:00:00Z', 8)
  await bans(db, 'sshd', '2027-03-14T23:00:00Z', 3)
})
afterAll(async () => {
  await server.close()
  await new Promise<void>(resolve => relay.close(() => resolve()))
})

describe('a report', () => {
  test('has exact boundaries in its time zone, and compares with the period before', async () => {
    const report = await admin.call('GET /reports', { query: { period: 'week' } })
    expect(report).toMatchObject({
      first_day: '2027-03-22',
      last_day: '2027-03-28',
      from: '2027-03-21T23:00:00.000Z',
      to: '2027-03-28T22:00:00.000Z',
      complete: true,
      servers: 2,
      attacks: {
        bans: 7,
        bans_before: 4,
        jails: [
          { jail: 'sshd', bans: 6, before: 4 },
          { jail: 'nginx', bans: 1, before: 0 },
        ],
        servers: [
          { server: { hostname: 'db-01' }, bans: 4, before: 3 },
          { server: { hostname: 'web-01' }, bans: 3, before: 1 },
        ],
      },
    })
    expect(report.attacks.series.map(step => step.bans)).toEqual([2, 0, 0, 4, 0, 0, 1])
    const counted = await eventually(async () => {
      const { attacks, counting } = await admin.call('GET /reports', { query: { period: 'week' } })
      expect(counting).toBe(false)
      return attacks
    })
    expect(counted).toMatchObject({ attackers: 7, attackers_before: 4 })
    expect(counted.addresses).toHaveLength(7)
    const shifted = await admin.call('GET /reports', {
      query: { period: 'day', at: '2027-03-25', timezone: 'Asia/Kathmandu' },
    })
    expect(shifted).toMatchObject({ from: '2027-03-24T18:15:00.000Z', attacks: { bans: 4, bans_before: 0 } })
    expect(shifted.attacks.series.find(step => step.bans > 0)?.start).toBe('2027-03-25T10:15:00.000Z')
  })

  test('of one server is the sum of its parts, and leaves out what is of the fleet', async () => {
    const of = (query: object) =>
      eventually(async () => {
        const report = await admin.call('GET /reports', { query: { period: 'month', at: '2027-03-01', ...query } })
        expect(report.counting).toBe(false)
        return report
      })
    const [all, one, other] = [await of({}), await of({ server_id: web.id }), await of({ server_id: db.id })]
    expect(one.attacks.bans + other.attacks.bans).toBe(all.attacks.bans)
    expect(one.attacks.jails).toEqual([
      { jail: 'sshd', bans: 3, before: 0 },
      { jail: 'nginx', bans: 1, before: 0 },
    ])
    expect((await of({ tag: 'web' })).attacks).toEqual(one.attacks)
    expect([one.changes, one.work, one.servers]).toEqual([null, null, 1])
    expect(all.complete).toBe(false)
    expect(all.changes).toContainEqual({ action: 'server.enroll', count: 2 })
    expect(all.work?.fleet_bans).toEqual({ created: 0, ended: 0, standing: 0 })
  })

  test('shows a restricted reader nothing of other servers', async () => {
    const made = await admin.call('POST /keys', {
      body: { name: 'one server', permissions: 'admin', server_id: web.id },
    })
    const report = await server.client(made.key).call('GET /reports', { query: { period: 'week' } })
    expect(report).toMatchObject({ servers: 1, attacks: { bans: 3, bans_before: 1 }, changes: null, work: null })
    expect(JSON.stringify(report)).not.toContain('db-01')
    const denied = await raw(server, 'GET', `/api/v1/reports?server_id=${db.id}`, { token: made.key })
    expect(denied.status).toBe(403)
    expect(await raw(server, 'GET', '/api/v1/reports/schedules', { token: made.key })).toMatchObject({ status: 403 })
  })

  test('shows changes to an administrator only, and to a key only with the scope of the audit log', async () => {
    const changesFor = async (client: Client) =>
      (await client.call('GET /reports', { query: { period: 'month', at: '2027-03-01' } })).changes
    const viewer = await aUser(server, admin, 'reader', 'Viewer')
    expect(await changesFor(viewer.client)).toBeNull()
    const scoped = async (scopes: ('servers' | 'audit')[]) => {
      const body = { name: scopes.join(), permissions: 'admin' as const, scopes }
      return server.client((await admin.call('POST /keys', { body })).key)
    }
    expect(await changesFor(await scoped(['servers']))).toBeNull()
    expect(await changesFor(await scoped(['servers', 'audit']))).not.toBeNull()
  })

  test('refuses dates and time zones that do not exist', async () => {
    for (const query of ['at=2027-02-30', 'at=1999-12-31', 'at=soon', 'timezone=Moon/Sea', 'period=year', 'tag=No Tag'])
      expect(await raw(server, 'GET', `/api/v1/reports?${query}`, { token: key }), query).toMatchObject({ status: 400 })
  })
})

describe('a schedule', () => {
  const body = { name: `Week ${evil}`, period: 'week' as const, hour: 7, recipients: ['boss@stockade.example'] }

  test('is refused where its parts do not exist', async () => {
    const create = (more: object) =>
      raw(server, 'POST', '/api/v1/reports/schedules', { token: key, body: { ...body, ...more } })
    for (const more of [
      { timezone: 'Moon/Sea' },
      { channels: ['999'] },
      { recipients: ['nobody'] },
      { recipients: ['a@b.example\r\nBcc: c@d.example'] },
      { weekday: 8 },
      { day: 29 },
      { target: { server_ids: ['7f0e1a52-0000-4000-8000-000000000000'] } },
    ])
      expect(await create(more), JSON.stringify(more)).toMatchObject({ status: 400 })
  })

  test('sends one mail at its hour, and says why where it can not', async () => {
    const { id } = await admin.call('POST /reports/schedules', { body })
    await admin.call('POST /reports/schedules', { body: { ...body, name: 'Off', enabled: false } })
    expect(await raw(server, 'POST', '/api/v1/reports/schedules', { token: key, body })).toMatchObject({ status: 409 })
    const state = async () => (await admin.call('GET /reports/schedules')).schedules.find(each => each.id === id)
    expect(await state()).toMatchObject({ next_at: '2027-04-05T05:00:00.000Z', last_at: null })
    expect(await raw(server, 'POST', `/api/v1/reports/schedules/${id}/test`, { token: key })).toMatchObject({
      status: 409,
    })
    moveTo('2027-04-05T05:00:01Z')
    await eventually(async () => expect((await state())?.last_error).toMatch(/E-mail is off/))
    await admin.call('PATCH /settings/email', {
      body: {
        ...{ enabled: true, smtp_host: '127.0.0.1', smtp_port: (relay.server.address() as AddressInfo).port },
        ...{ smtp_tls: false, from_address: 'stockade@stockade.example', recipients: ['all@stockade.example'] },
      },
    })
    await bans(web, 'sshd', '2027-04-06T10:00:00Z', 2)
    await admin.call('PATCH /servers/{serverId}', {
      params: { serverId: db.id },
      body: { hostname: 'db-01.example' },
    })
    // Alerts of the silent servers go to other recipients.
    const reports = () => mails.filter(({ to }) => to.includes('boss@stockade.example'))
    moveTo('2027-04-12T05:00:01Z')
    await eventually(() => expect(reports()).toHaveLength(1))
    expect(reports()[0]?.to).toEqual(['boss@stockade.example'])
    const { html, plain } = partsOf(reports()[0] ?? { to: [], text: '' })
    expect(plain).toContain('Weekly report, 2027-04-05 to 2027-04-11')
    expect(plain).toContain(evil)
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;')
    expect(html).not.toContain('<img')
    expect(html).not.toMatch(/<(style|script|link|iframe)|url\(|src="/)
    expect(await state()).toMatchObject({ last_error: null, last_at: expect.stringContaining('2027-04-12T05:00') })
    // A report that is asked for leaves the schedule as it is, and no second one was sent meanwhile.
    await admin.call('POST /reports/schedules/{id}/test', { params: { id } })
    await eventually(() => expect(reports()).toHaveLength(2))
    expect((await state())?.next_at).toBe('2027-04-19T05:00:00.000Z')
  })
})
