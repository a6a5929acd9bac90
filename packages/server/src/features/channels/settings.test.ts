import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcp } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { aHost, engine, eventually, freePort, movableClock, raw, startServer } from '../../testing/index.ts'
import type { EnrolledHost, TestServer } from '../../testing/index.ts'
import { testCertificate, testKey } from '../../testing/certificate.ts'

/* A webhook's receiver and a mail server, both real: what they get is what is checked. */

interface Post {
  readonly path: string
  readonly type: string
  readonly body: { title: string; text: string; category: string; facts: object[]; tables: Grid[]; link: string }
}
interface Grid {
  readonly title: string
  readonly rows: string[][]
  readonly total: number
}
let posts: Post[] = []
let refuse: { status: number; text: string; headers?: Record<string, string> } | null = null
let refused = 0
const receiver = createServer((request, reply) => {
  let sent = ''
  request.on('data', (piece: Buffer) => (sent += piece.toString()))
  request.on('end', () => {
    if (refuse) {
      refused++
      return reply.writeHead(refuse.status, refuse.headers).end(refuse.text)
    }
    posts.push({
      path: request.url ?? '',
      type: request.headers['content-type'] ?? '',
      body: JSON.parse(sent) as Post['body'],
    })
    return reply.writeHead(204).end()
  })
})

const mailPass = 'the-relays-password'
interface Mail {
  readonly to: string[]
  readonly secure: boolean
  readonly text: string
}
let mails: Mail[] = []
/** What recipients are refused with, once or for good. */
const refusals = new Map<string, number>()
const smtpError = (responseCode: number, words: string) => Object.assign(new Error(words), { responseCode })
const smtp = (more: object = {}) =>
  new SMTPServer({
    key: testKey,
    cert: testCertificate,
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth({ username, password }, _, done) {
      if (username === 'relay' && password === mailPass) done(null, { user: username })
      else done(smtpError(535, `5.7.8 Not you, with ${password ?? ''}`))
    },
    onRcptTo({ address }, _, done) {
      const code = refusals.get(address)
      done(code === undefined ? null : smtpError(code, `mailbox ${address} is not here`))
    },
    onData(stream, session, done) {
      let text = ''
      stream.on('data', (piece: Buffer) => (text += piece.toString()))
      stream.on('end', () => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), secure: session.secure, text })
        done()
      })
    },
    ...more,
  })
const relay = smtp()
/** Takes connections and never says a word. */
const silent = createTcp(() => {})
let relayPort = 0

const clock = movableClock()
let server: TestServer
let admin: Client
let key = ''
let host: EnrolledHost
let hook = ''
/** The answer to a test message to the silent server. */
let quiet: ReturnType<typeof raw>
const portOf = (listening: { address(): AddressInfo | string | null }) => (listening.address() as AddressInfo).port
const chat = (body: object) => raw(server, 'PATCH', '/api/v1/settings/chat', { token: key, body })
const email = (body: object) => raw(server, 'PATCH', '/api/v1/settings/email', { token: key, body })
const test_ = (channel: string, body?: object) =>
  raw(server, 'POST', `/api/v1/settings/${channel}/test`, { token: key, ...(body ? { body } : {}) })
/** The steps by name; the last one with its detail where it failed or is an answer. */
const stepsIn = ({ json }: Pick<Awaited<ReturnType<typeof raw>>, 'json'>): string[] =>
  (json as { steps: { name: string; ok: boolean; ms: number; detail: string }[] }).steps.map(
    ({ name, ok, ms, detail }) => {
      expect(ms).toBeGreaterThanOrEqual(0)
      return ok && name !== 'answer' ? name : `${ok ? '' : 'not '}${name} ${detail}`
    },
  )
let next = 1
const bans = (n: number, more: object = {}) =>
  host.client.call('POST /bans/batch', {
    body: {
      bans: Array.from({ length: n }, () => ({
        ip: `203.0.113.${(next++ % 250) + 1}`,
        jail: 'sshd',
        ban_duration: 600,
        ...more,
      })),
      unbans: [],
    } as never,
  })
const titles = (category?: string) =>
  posts.filter(({ body }) => category === undefined || body.category === category).map(({ body }) => body.title)
const standard = getCACertificates('default')

beforeAll(async () => {
  setDefaultCACertificates([...standard, testCertificate])
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  await new Promise<void>(resolve => void relay.listen(0, '127.0.0.1', resolve))
  relayPort = portOf(relay.server)
  hook = `http://127.0.0.1:${portOf(receiver)}/in/a-token-of-the-chat`
  server = await startServer({ clock })
  const first = await server.setUp()
  // A key, since tokens end while this test moves the time.
  key = (await first.client.call('POST /keys', { body: { name: 'test', permissions: 'admin' } })).key
  admin = server.client(key)
  host = await aHost(server, admin, 'web-01.example')
})
afterAll(async () => {
  await server.close()
  setDefaultCACertificates(standard)
  receiver.closeAllConnections()
  receiver.close()
  silent.close()
  await new Promise<void>(resolve => relay.close(() => resolve()))
})

describe('the settings', () => {
  test('are off at first, and tests are refused', async () => {
    const toggles = {
      enabled: false,
      notify_bans: true,
      notify_syncs: false,
      notify_errors: true,
      daily_summary: false,
      daily_summary_hour: 8,
      last_sent: null,
      last_error: null,
      failing_since: null,
    }
    expect(await admin.call('GET /settings/chat')).toEqual({ ...toggles, webhook_url: null })
    expect(await admin.call('GET /settings/email')).toEqual({
      ...toggles,
      smtp_host: null,
      smtp_port: 587,
      smtp_user: null,
      smtp_pass_set: false,
      smtp_tls: true,
      from_address: null,
      recipients: [],
    })
    expect(await test_('chat')).toMatchObject({ status: 409, json: { message: expect.stringMatching(/disabled/) } })
    expect(await test_('email')).toMatchObject({ status: 409, json: { message: expect.stringMatching(/disabled/) } })
    await chat({ enabled: true })
    await email({ enabled: true })
    expect(await test_('chat')).toMatchObject({ status: 409, json: { message: expect.stringMatching(/webhook_url/) } })
    expect(await test_('email')).toMatchObject({ status: 409, json: { message: expect.stringMatching(/smtp_host/) } })
    await email({ smtp_host: '127.0.0.1' })
    expect(await test_('email')).toMatchObject({ status: 409, json: { message: expect.stringMatching(/recipients/) } })
    await email({ smtp_host: '', enabled: false })
    await chat({ enabled: false })
  })
  test('and those of the system are two views of one thing', async () => {
    const system = (body: object) => admin.call('PATCH /settings', { body: { notifications: body } })
    expect((await system({ chat_enabled: true, daily_summary: true, daily_summary_hour: 6 })).updated_fields).toEqual([
      'notifications.chat_enabled',
      'notifications.daily_summary',
      'notifications.daily_summary_hour',
    ])
    expect(await admin.call('GET /settings/chat')).toMatchObject({
      enabled: true,
      daily_summary: true,
      daily_summary_hour: 6,
    })
    expect(await admin.call('GET /settings/email')).toMatchObject({
      enabled: false,
      daily_summary: true,
      daily_summary_hour: 6,
    })
    await chat({ daily_summary: false, enabled: false, daily_summary_hour: 9 })
    const shown = async () => (await admin.call('GET /settings')).notifications
    expect(await shown()).toEqual({
      chat_enabled: false,
      email_enabled: false,
      daily_summary: true,
      daily_summary_hour: 9,
    })
    await email({ daily_summary: false, daily_summary_hour: 8 })
    expect(await shown()).toMatchObject({ daily_summary: false, daily_summary_hour: 8 })
  })
  test('keep secrets to themselves', async () => {
    await email({ smtp_pass: mailPass })
    await chat({ webhook_url: hook })
    const reads = [
      await raw(server, 'GET', '/api/v1/settings/email', { token: key }),
      await raw(server, 'GET', '/api/v1/settings', { token: key }),
      await raw(server, 'GET', '/api/v1/settings/audit', { token: key }),
      await raw(server, 'GET', '/api/v1/settings/export', { token: key }),
    ]
    for (const { status, text } of reads) {
      expect(status).toBe(200)
      expect(text).not.toContain(mailPass)
      expect(text).not.toContain('a-token-of-the-chat')
    }
    expect(reads[0]?.json).toMatchObject({ smtp_pass_set: true })
    expect(reads[2]?.text).toContain('"field":"chat.webhook_url","old_value":null,"new_value":"***"')
    expect(await chat({ webhook_url: hook })).toMatchObject({ json: { message: 'Nothing was changed.' } })
    expect(await admin.call('GET /settings/chat')).toMatchObject({ webhook_url: hook })
    await email({ smtp_pass: '' })
    expect(await admin.call('GET /settings/email')).toMatchObject({ smtp_pass_set: false })
    await chat({ webhook_url: null })
    expect(await admin.call('GET /settings/chat')).toMatchObject({ webhook_url: null })
  })
  test.each([
    ['webhook_url', 'ftp://x.example/'],
    ['webhook_url', 'no address'],
    ['webhook_url', 'http://user:pass@x.example/'],
    ['webhook_url', 'http://x.example/\r\nHost: y'],
    ['webhook_url', `http://x.example/${'x'.repeat(2048)}`],
    ['webhook_url', 'http://169.254.169.254/latest'],
    ['webhook_url', 'http://[fe80::1]/'],
    ['webhook_url', 'http://0x7f.0.0.1:0/'],
    ['webhook_url', 7],
    ['daily_summary_hour', 24],
    ['daily_summary_hour', -1],
    ['enabled', 'yes'],
    ['notify_bans', null],
    ['colour', 'red'],
  ])('of chat: a bad %s (%j) is named', async (path, value) => {
    // A port of 0 is nobody's: it is taken for the default, and the address is loopback then.
    if (value === 'http://0x7f.0.0.1:0/') return expect((await chat({ [path]: value })).status).toBe(200)
    expect(await chat({ [path]: value })).toMatchObject({ status: 400, json: { details: [{ path }] } })
  })
  test.each([
    ['smtp_host', 'mail.example:25'],
    ['smtp_host', 'mail example'],
    ['smtp_host', 'x'.repeat(254)],
    ['smtp_host', '169.254.169.254'],
    ['smtp_host', 'mail.example\r\nQUIT'],
    ['smtp_port', 0],
    ['smtp_port', 65_536],
    ['smtp_port', '25'],
    ['smtp_tls', 'yes'],
    ['smtp_user', 'x'.repeat(255)],
    ['smtp_user', 'anna\r\nRCPT TO:<x@evil.example>'],
    ['smtp_pass', 'x'.repeat(1025)],
    ['from_address', 'no address'],
    ['from_address', 'a@corp.example\r\nBcc: x@evil.example'],
    ['from_address', 'Anna <a@corp.example>'],
    ['recipients', 'a@corp.example'],
    ['recipients', Array.from({ length: 101 }, (_, n) => `a${n}@corp.example`)],
    ['recipients.0', ['a@corp.example\nBcc: x@evil.example']],
    ['recipients.1', ['a@corp.example', 'a@corp.example, x@evil.example']],
    ['recipients.0', ['a@corp.example>\r\nDATA']],
    ['daily_summary_hour', 24],
    ['notify_calls', true],
  ])('of e-mail: a bad %s (%j) is named', async (path, value) => {
    const field = path.split('.')[0] ?? ''
    expect(await email({ [field]: value })).toMatchObject({ status: 400, json: { details: [{ path }] } })
  })
})

describe('chat', () => {
  test('takes a test message, and its refusal is told without the address', async () => {
    await chat({ enabled: true, webhook_url: hook, notify_errors: false })
    const taken = await test_('chat')
    expect(taken).toMatchObject({ status: 200, json: { message: expect.any(String) } })
    expect(stepsIn(taken)).toEqual(['resolve', 'connect', 'write', 'answer HTTP 204'])
    expect(posts.at(-1)).toMatchObject({
      path: '/in/a-token-of-the-chat',
      type: 'application/json',
      body: { category: 'test', title: 'Test message' },
    })
    expect(await admin.call('GET /settings/chat')).toMatchObject({ last_sent: expect.any(String), last_error: null })
    refuse = { status: 404, text: 'no hook at /in/a-token-of-the-chat' }
    const reply = await test_('chat')
    expect(reply).toMatchObject({ status: 502, json: { message: expect.stringMatching(/404: no hook at/) } })
    expect(reply.text).not.toContain('a-token')
    expect(stepsIn(reply)).toEqual(['resolve', 'connect', 'write', 'not answer HTTP 404'])
    refuse = { status: 302, text: '', headers: { location: hook } }
    expect(await test_('chat')).toMatchObject({ status: 502, json: { message: expect.stringMatching(/redirects/) } })
    refuse = null
    await chat({ webhook_url: `http://localhost:${server.port}/api/v1/health` })
    const own = await test_('chat')
    expect(own).toMatchObject({ status: 502, json: { message: expect.stringMatching(/itself/) } })
    expect(stepsIn(own)).toEqual([expect.stringMatching(/^not resolve .*itself/)])
    const nobody = await freePort()
    await chat({ webhook_url: `https://127.0.0.1:${nobody}/x` })
    expect(stepsIn(await test_('chat'))).toEqual(['resolve', expect.stringMatching(/^not connect .*ECONNREFUSED/)])
    await chat({ webhook_url: `https://127.0.0.1:${portOf(receiver)}/x` })
    expect(stepsIn(await test_('chat'))).toEqual(['resolve', 'connect', expect.stringMatching(/^not tls /)])
    await chat({ webhook_url: hook })
  })
  test('tells of bans one by one, in order, while they are few', async () => {
    posts = []
    await bans(3)
    await eventually(() => expect(posts).toHaveLength(3))
    const [first] = posts
    expect(first?.body).toMatchObject({
      category: 'bans',
      text: 'Jail sshd, for 10 minutes.',
      facts: expect.arrayContaining([{ name: 'Server', value: 'web-01.example' }]),
    })
    expect(first?.body.link).toMatch(/^http:\/\/localhost:\d+\/ip\/203\.0\.113\.\d+$/)
    const ids = posts.map(({ body }) => Number(body.link.split('.').at(-1)))
    expect(ids.every(Number.isInteger)).toBe(true)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  })
  test('tells of many in one table, and of the next ones when its time is over', async () => {
    posts = []
    // Silent from now on: the next test is about it.
    await host.client.call('POST /servers/heartbeat', { body: { hostname: 'web-01.example' } })
    await bans(40)
    await eventually(() => expect(titles('bans')).toEqual(['40 bans']))
    expect(posts[0]?.body.tables[0]).toMatchObject({ total: 40 })
    expect(posts[0]?.body.tables[0]?.rows.length).toBeLessThanOrEqual(25)
    await bans(2)
    await bans(7)
    // What is read only after its time is over comes one by one.
    await eventually(async () => {
      const { channels } = await admin.call('GET /channels')
      expect(channels.find(({ id }) => id === 'chat')).toMatchObject({ waiting: 9 })
    })
    await new Promise(resolve => setTimeout(resolve, 1200))
    expect(titles('bans')).toHaveLength(1)
    clock.forward(601)
    await eventually(() => expect(titles('bans')).toEqual(['40 bans', '9 bans']))
    clock.forward(601)
    await bans(1)
    await eventually(() => expect(titles('bans').at(-1)).toMatch(/ banned on web-01/))
  })
  test('tells of failed commands and silent hosts, not of what went well', async () => {
    posts = []
    await chat({ notify_errors: true, notify_bans: false })
    const params = { serverId: host.id }
    const order = (type: string) =>
      admin.call('POST /servers/{serverId}/commands', { params, body: { type, params: {} } as never })
    const end = async (success: boolean) => {
      await order('reload-all')
      const { commands } = await host.client.call('GET /servers/{serverId}/commands/pending', { params })
      for (const { id } of commands)
        await host.client.call('POST /commands/{commandId}/result', {
          params: { commandId: id },
          body: { success, output: 'so be it', exit_code: success ? 0 : 1 },
        })
    }
    await end(true)
    await end(false)
    const expected = ['Command reload-all failed on web-01.example', 'web-01.example is silent']
    await eventually(() => {
      // In steps: a clock that jumps by more than a minute between two looks is taken for one that was set.
      clock.forward(0.5)
      expect(titles('alert').toSorted()).toEqual(expected)
    })
    // Both are on their way at once, so either may be noted first, and later than it came.
    await eventually(async () => {
      const { deliveries } = await admin.call('GET /channels/{id}/deliveries', { params: { id: 'chat' } })
      const newest = deliveries.slice(0, 2)
      expect(newest.map(({ outcome, detail }) => [outcome, detail])).toEqual(Array(2).fill(['sent', 'HTTP 204']))
      expect(newest.map(({ title }) => title).toSorted()).toEqual(expected)
    })
    await chat({ notify_errors: false, notify_bans: true })
  })
  test('tells of the whitelist only when asked to', async () => {
    posts = []
    await admin.call('POST /whitelist', { body: { ip: '198.51.100.1', description: 'before' } })
    await chat({ notify_syncs: true, notify_bans: false })
    // The switch counts from when it is seen: what is queued later is told.
    await bans(1)
    await admin.call('POST /whitelist', { body: { ip: '198.51.100.2', description: 'ours @everyone' } })
    await eventually(() => expect(titles()).toContain('198.51.100.2 added to the whitelist'))
    expect(titles().filter(title => title.includes('banned'))).toEqual([])
    const entries = Array.from({ length: 700 }, (_, n) => ({ ip: `198.18.${n >> 8}.${n & 255}`, description: 'ours' }))
    await admin.call('POST /whitelist/bulk', { body: { entries } })
    const counted = () => posts.reduce((sum, { body }) => sum + (body.tables[0]?.total ?? 0), 0)
    await eventually(() => expect(counted()).toBeGreaterThan(5))
    // None is lost: what there is no room for is counted. What was collected after a table went out waits for the next one.
    await eventually(() => {
      if (counted() < 700) clock.forward(61)
      expect(counted()).toBe(700)
    })
    expect(posts.length).toBeLessThanOrEqual(4)
    await chat({ notify_syncs: false, notify_bans: true })
  })
  test('that is dead shows it, slows nothing, waits as it is told, and gets all in order when it is back', async () => {
    posts = []
    clock.forward(1300)
    refused = 0
    refuse = { status: 503, text: 'no service', headers: { 'retry-after': '120' } }
    await bans(2)
    await eventually(() => expect(refused).toBe(1))
    await eventually(async () =>
      expect(await admin.call('GET /settings/chat')).toMatchObject({
        last_error: 'HTTP 503: no service',
        failing_since: expect.any(String),
      }),
    )
    await bans(1)
    clock.forward(60)
    await new Promise(resolve => setTimeout(resolve, 700))
    expect(refused).toBe(1)
    refuse = null
    clock.forward(61)
    await eventually(() => expect(posts).toHaveLength(3))
    const ids = posts.map(({ body }) => Number(body.link.split('.').at(-1)))
    expect(ids.every(Number.isInteger)).toBe(true)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(await admin.call('GET /settings/chat')).toMatchObject({ last_error: null, failing_since: null })
  })
  test('never hears of what happened while it was off', async () => {
    await chat({ enabled: false })
    posts = []
    clock.forward(1300)
    await bans(1)
    await chat({ enabled: true })
    await bans(2)
    await eventually(() => expect(posts).toHaveLength(2))
    await new Promise(resolve => setTimeout(resolve, 700))
    expect(posts).toHaveLength(2)
    await chat({ enabled: false })
  })
})

test('a chat that tells of an error in an answer of 200 did not take the message', async () => {
  await chat({ enabled: true, webhook_url: `http://127.0.0.1:${portOf(receiver)}/services/T0/B0/a-token-of-the-chat` })
  refuse = { status: 200, text: '{"ok":false,"error":"channel_is_archived"}' }
  const reply = await test_('chat')
  refuse = null
  expect(reply).toMatchObject({ status: 502, json: { message: expect.stringMatching(/channel_is_archived/) } })
  expect(await test_('chat')).toMatchObject({ status: 200 })
  await chat({ enabled: false, webhook_url: hook })
})

describe('e-mail', () => {
  const last = () => mails.at(-1)
  test('goes out by STARTTLS with a certificate that fits, with text and HTML', async () => {
    await email({
      enabled: true,
      smtp_host: 'localhost',
      smtp_port: relayPort,
      smtp_user: 'relay',
      smtp_pass: mailPass,
      from_address: 'stockade@corp.example',
      recipients: ['anna@corp.example', 'ben@corp.example'],
      notify_errors: false,
    })
    const taken = await test_('email')
    expect(taken).toMatchObject({ status: 200 })
    expect(stepsIn(taken)).toEqual([
      'resolve',
      'connect',
      'tls',
      'authenticate',
      'write',
      expect.stringMatching(/^answer 250 /),
    ])
    expect(last()).toMatchObject({ secure: true, to: ['anna@corp.example', 'ben@corp.example'] })
    const text = last()?.text ?? ''
    expect(text).toMatch(/^From: Stockade <stockade@corp\.example>/m)
    expect(text).toMatch(/^Subject: \[Stockade\] Test message/m)
    expect(text).toMatch(/multipart\/alternative/)
    expect(text).toMatch(/text\/plain[\s\S]*can reach you here[\s\S]*text\/html[\s\S]*can reach you here/)
    expect(await test_('email', { recipient: 'carl@corp.example' })).toMatchObject({ status: 200 })
    expect(last()?.to).toEqual(['carl@corp.example'])
    expect(await test_('email', { recipient: 'x@corp.example\r\nBcc: y@evil.example' })).toMatchObject({
      status: 400,
      json: { details: [{ path: 'recipient' }] },
    })
  })
  test('with a wrong password is a 502 with the server’s words and without the password', async () => {
    await email({ smtp_pass: 'not-the-password' })
    const reply = await test_('email')
    expect(reply).toMatchObject({ status: 502, json: { message: expect.stringMatching(/535 5\.7\.8 Not you/) } })
    expect(reply.text).not.toContain('not-the-password')
    expect(stepsIn(reply)).toEqual(['resolve', 'connect', 'tls', expect.stringMatching(/^not authenticate 535/)])
    expect((await raw(server, 'GET', '/api/v1/settings/email', { token: key })).text).not.toContain('not-the-password')
    await email({ smtp_pass: mailPass })
  })
  test('to a recipient that is refused is a 502; to others besides it arrives, and the reply says so', async () => {
    refusals.set('gone@corp.example', 550)
    const nobody = await test_('email', { recipient: 'gone@corp.example' })
    expect(nobody).toMatchObject({
      status: 502,
      json: { message: expect.stringMatching(/550 mailbox gone@corp\.example/) },
    })
    expect(stepsIn(nobody).at(-1)).toMatch(/^not write .*550/)
    await email({ recipients: ['anna@corp.example', 'gone@corp.example'] })
    expect(await test_('email')).toMatchObject({
      status: 200,
      json: { message: expect.stringMatching(/not for gone@corp\.example \(550/) },
    })
    expect(last()?.to).toEqual(['anna@corp.example'])
  })
  test('needs TLS where it is asked for, and takes what there is where it is not', async () => {
    const bare = smtp({ disabledCommands: ['STARTTLS'] })
    await new Promise<void>(resolve => void bare.listen(0, '127.0.0.1', resolve))
    try {
      await email({ smtp_pass: mailPass, smtp_port: portOf(bare.server), recipients: ['anna@corp.example'] })
      const refused = await test_('email')
      expect(refused).toMatchObject({ status: 502, json: { message: expect.stringMatching(/TLS/) } })
      expect(stepsIn(refused)).toEqual(['resolve', 'connect', expect.stringMatching(/^not tls /)])
      await email({ smtp_pass: mailPass, smtp_tls: false })
      expect(await test_('email')).toMatchObject({ status: 200 })
      expect(last()?.secure).toBe(false)
      await email({ smtp_pass: mailPass, smtp_port: relayPort })
      expect(await test_('email')).toMatchObject({ status: 200 })
      expect(last()?.secure).toBe(true)
      setDefaultCACertificates(standard)
      await email({ smtp_pass: mailPass, smtp_tls: true })
      const unknown = await test_('email')
      expect(unknown).toMatchObject({ status: 502, json: { message: expect.stringMatching(/certificate/i) } })
      expect(stepsIn(unknown)).toEqual(['resolve', 'connect', expect.stringMatching(/^not tls .*certificate/i)])
    } finally {
      setDefaultCACertificates([...standard, testCertificate])
      await new Promise<void>(resolve => bare.close(() => resolve()))
    }
  })
  test('greets a strict relay by a name that it takes, whatever the base URL is', async () => {
    const greeted: string[] = []
    // As Postfix does with reject_invalid_helo_hostname and reject_non_fqdn_helo_hostname.
    const strict = smtp({
      onRcptTo(
        _: unknown,
        { hostNameAppearsAs: name }: { hostNameAppearsAs: string },
        done: (e: Error | null) => void,
      ) {
        greeted.push(name.toLowerCase())
        const isTaken = /^\[(?:IPv6:[0-9a-f:]+|[0-9.]+)\]$/i.test(name) || /^[a-z0-9.-]+\.[a-z]+$/i.test(name)
        done(isTaken ? null : smtpError(504, `<${name}>: Helo command rejected: need fully-qualified hostname`))
      },
    })
    await new Promise<void>(resolve => void strict.listen(0, '127.0.0.1', resolve))
    const { site_url } = (await admin.call('GET /settings')).service
    try {
      await email({ smtp_pass: mailPass, smtp_port: portOf(strict.server), recipients: ['anna@corp.example'] })
      for (const url of [
        'http://192.0.2.10:9400',
        'http://[2001:db8::1]',
        'http://stockade:9400',
        'https://s.example',
      ]) {
        await admin.call('PATCH /settings', { body: { service: { site_url: url } } })
        expect(await test_('email')).toMatchObject({ status: 200 })
      }
      expect(greeted).toEqual(['[192.0.2.10]', '[ipv6:2001:db8::1]', expect.stringMatching(/\./), 's.example'])
    } finally {
      await admin.call('PATCH /settings', { body: { service: { site_url } } })
      await email({ smtp_pass: mailPass, smtp_port: relayPort })
      await new Promise<void>(resolve => strict.close(() => resolve()))
    }
  })
  test('is TLS from the first byte on port 465', async context => {
    // An address of loopback that is this run's own; the port needs root.
    const address = engine === 'sqlite' ? '127.0.0.2' : '127.0.0.3'
    const implicit = smtp({ secure: true })
    const listening = await new Promise<boolean>(resolve => {
      implicit.on('error', () => resolve(false))
      implicit.listen(465, address, () => resolve(true))
    })
    if (!listening) return context.skip()
    try {
      await email({ smtp_pass: mailPass, smtp_host: address, smtp_port: 465 })
      const taken = await test_('email')
      expect(taken).toMatchObject({ status: 200 })
      expect(stepsIn(taken).slice(0, 3)).toEqual(['resolve', 'connect', 'tls'])
      expect(last()?.secure).toBe(true)
    } finally {
      await email({ smtp_pass: mailPass, smtp_host: 'localhost', smtp_port: relayPort })
      await new Promise<void>(resolve => implicit.close(() => resolve()))
    }
  })
  test('tells of bans, and tries again for whom it was refused for a while', async () => {
    await email({ recipients: ['anna@corp.example', 'later@corp.example'] })
    refusals.set('later@corp.example', 451)
    clock.forward(1300)
    mails = []
    await bans(1)
    await eventually(() => expect(mails.map(({ to }) => to)).toEqual([['anna@corp.example']]))
    expect(last()?.text).toMatch(/Subject: \[Stockade\] 203\.0\.113\.\d+ banned on web-01\.example/)
    refusals.delete('later@corp.example')
    await eventually(async () =>
      expect((await admin.call('GET /settings/email')).last_error).toMatch(/later@corp\.example \(451/),
    )
    clock.forward(301)
    await eventually(() => expect(last()?.to).toEqual(['later@corp.example']))
    await eventually(async () => expect((await admin.call('GET /settings/email')).last_error).toBe(null))
  })
  test('of a server that is not there is told', async () => {
    await email({ smtp_pass: mailPass, smtp_host: '127.0.0.1', smtp_port: portOf(silent) })
    // It takes its time; the last test looks what came of it.
    quiet = test_('email')
    const gone = createTcp()
    await new Promise<void>(resolve => gone.listen(0, '127.0.0.1', resolve))
    const port = portOf(gone)
    await new Promise(resolve => gone.close(resolve))
    await email({ smtp_pass: mailPass, smtp_port: port })
    expect(await test_('email')).toMatchObject({
      status: 502,
      json: { message: expect.stringMatching(/ECONNREFUSED/) },
    })
    await email({
      smtp_pass: mailPass,
      smtp_host: 'localhost',
      smtp_port: relayPort,
      recipients: ['anna@corp.example'],
      enabled: false,
    })
  })
})

test('a mail server that says nothing is given up', async () => {
  expect(await quiet).toMatchObject({ status: 502, json: { message: expect.stringMatching(/no answer in time/) } })
})
