import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '@stockade/client'
import { movableClock, raw, startServer } from '../../testing/index.ts'
import type { TestServer } from '../../testing/index.ts'
import { guideBlocks } from '../../testing/guides.ts'
import { standIns } from '../../testing/stand-ins.ts'

/* Each kind of channel against a receiver that checks what the service's documentation demands. */

interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
let received: Received[] = []
let answer: ((reply: ServerResponse, request: Received) => void) | null = null
const receiver = createServer((request, reply) => {
  let body = ''
  request.on('data', (piece: Buffer) => (body += piece.toString()))
  request.on('end', () => {
    const { method = '', url: path = '', headers } = request
    const got = { method, path, headers, body }
    received.push(got)
    if (answer) answer(reply, got)
    else reply.writeHead(200).end('{"ok":true}')
  })
})
const clock = movableClock()
let server: TestServer
let admin: Client
let key = ''
let base = ''

const post = (body: object) => raw(server, 'POST', '/api/v1/channels', { token: key, body })
const patch = (id: string, body: object) => raw(server, 'PATCH', `/api/v1/channels/${id}`, { token: key, body })
const tryOut = (id: string) => raw(server, 'POST', `/api/v1/channels/${id}/test`, { token: key })
const fieldsOf = (values: Record<string, string>) => Object.entries(values).map(([name, value]) => ({ name, value }))
let made = 0
const add = async (preset: string, values: Record<string, string>): Promise<string> => {
  const reply = await post({ name: `${preset} ${++made}`, preset, fields: fieldsOf(values) })
  expect(reply.status, reply.text).toBe(201)
  return (reply.json as { id: string }).id
}
/** What breaks out of JSON, headers, markup and addresses where texts are pasted together. */
const hostile = 'Acme "}],"x":[{ \\ </script> <!channel> @everyone *b* `c` {{webhook_url}} {{secret}} ${7*7}'

beforeAll(async () => {
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  server = await startServer({ clock })
  const first = await server.setUp()
  key = (await first.client.call('POST /keys', { body: { name: 'test', permissions: 'admin' } })).key
  admin = server.client(key)
})
afterAll(async () => {
  await server.close()
  receiver.closeAllConnections()
  receiver.close()
})
beforeEach(() => {
  received = []
  answer = null
})

describe('each preset', () => {
  test('has a stand-in', async () => {
    const { presets } = await admin.call('GET /channels/presets')
    expect(presets.map(({ id }) => id).filter(id => id !== 'email')).toEqual(Object.keys(standIns))
    for (const { guide } of presets) expect(guide.length).toBeGreaterThan(30)
  })

  test.each(Object.entries(standIns))('%s: sends what the service demands', async (preset, standIn) => {
    await admin.call('PATCH /settings', { body: { service: { site_name: hostile.slice(0, 100) } } })
    const id = await add(preset, standIn.fields(base))
    answer = (reply, request) => {
      const { status, body } = standIn.receive(request)
      reply.writeHead(status, { 'content-type': 'application/json' }).end(body)
    }
    const reply = await tryOut(id)
    expect(reply.status, `${reply.text} ${received[0]?.body ?? ''}`).toBe(200)
    const { steps } = reply.json as { steps: { name: string; ok: boolean }[] }
    expect(steps.map(({ name }) => name)).toEqual(['resolve', 'connect', 'write', 'answer'])
    // A text stays a text wherever it was put, and nothing in it is filled in.
    expect(received[0]?.body).not.toContain('@everyone"')
    expect(received[0]?.body).toContain('{{secret}}')

    for (const failure of standIn.failures) {
      answer = out => out.writeHead(failure.status, failure.headers).end(failure.body)
      const refused = await tryOut(id)
      expect(refused.status).toBe(502)
      expect(refused.text).toContain(failure.says)
    }
    // Nothing secret comes back, in replies or in the audit log.
    const { entries } = await admin.call('GET /settings/audit', { query: { limit: 100 } })
    const shown = JSON.stringify([entries, await admin.call('GET /channels'), reply.json])
    for (const secret of standIn.secrets) expect(shown).not.toContain(secret)
    await admin.call('DELETE /channels/{id}', { params: { id } })
    await admin.call('PATCH /settings', { body: { service: { site_name: 'Stockade' } } })
  })
})

describe('templates', () => {
  const webhook = (template: string, content_type?: string) =>
    post({
      name: `webhook ${++made}`,
      preset: 'webhook',
      fields: fieldsOf({ url: `${base}/own`, template, ...(content_type ? { content_type } : {}) }),
    })
  test('fill texts of JSON, forms and plain text without breaking out', async () => {
    await admin.call('PATCH /settings', { body: { service: { site_name: hostile.slice(0, 100) } } })
    const site = hostile.slice(0, 100)
    for (const [template, type] of [
      ['{"a":["{{site}}",{"b":"x {{ site }} y"}],"when":"{{unix}}"}', 'application/json'],
      ['site={{site}}&when={{unix}}', 'application/x-www-form-urlencoded'],
      ['{{site}}', 'text/plain'],
    ] as const) {
      const { json, status, text } = await webhook(template, type)
      expect(status, text).toBe(201)
      expect((await tryOut((json as { id: string }).id)).status).toBe(200)
    }
    const [one, two, three] = received
    expect(JSON.parse(one?.body ?? '')).toEqual({ a: [site, { b: `x ${site} y` }], when: expect.any(Number) as number })
    expect(Object.fromEntries(new URLSearchParams(two?.body))).toMatchObject({ site })
    expect(three?.body).toBe(site)
    expect(three?.headers['content-type']).toBe('text/plain; charset=utf-8')
    await admin.call('PATCH /settings', { body: { service: { site_name: 'Stockade' } } })
  })
  test.each([
    ['{"a":{{title}}}', 'must be JSON'],
    ['{"a":"{{url}}"}', '{{url}}'],
    ['{"a":"{{secret}}"}', '{{secret}}'],
    [`{"a":"${'{{text}}'.repeat(51)}"}`, 'more than 50'],
    ['"{{text}}"', 'object or array'],
  ])('%s is refused', async (template, says) => {
    const reply = await webhook(template)
    expect(reply.status).toBe(400)
    expect(reply.text).toContain(says)
  })
})

describe('targets', () => {
  test.each(['http://169.254.169.254/latest', 'http://[fd00:ec2::254]/', 'http://0xA9FEA9FE/', 'file:///etc/passwd'])(
    '%s is refused at once',
    async url => {
      const reply = await post({ name: `target ${++made}`, preset: 'webhook', fields: fieldsOf({ url }) })
      expect(reply.status).toBe(400)
    },
  )
  test('this server itself and redirects are not followed', async () => {
    const own = await post({ name: 'own', preset: 'webhook', fields: fieldsOf({ url: `${server.url}/api/v1/health` }) })
    expect(own.status).toBe(400)
    answer = out => out.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    const id = await add('webhook', { url: `${base}/redirects` })
    const reply = await tryOut(id)
    expect(reply.status).toBe(502)
    expect(reply.text).toContain('redirects are not followed')
    expect(received).toHaveLength(1)
  })
  test('line breaks in fields, unknown fields and taken names are refused', async () => {
    const authorization = 'Bearer x\r\nx-evil: 1'
    const broken = await post({ name: 'crlf', preset: 'webhook', fields: fieldsOf({ url: base, authorization }) })
    expect(broken.status).toBe(400)
    expect((await post({ name: 'unknown', preset: 'ntfy', fields: fieldsOf({ colour: 'red' }) })).status).toBe(400)
    expect((await post({ name: 'E-Mail\n', preset: 'ntfy', fields: fieldsOf({ topic: 'a' }) })).status).toBe(201)
    expect((await post({ name: 'chat', preset: 'ntfy', fields: fieldsOf({ topic: 'a' }) })).status).toBe(409)
  })
  test('a secret does not go to another target than the one that it was entered for', async () => {
    const id = await add('gotify', { server_url: base, token: 'a-token-of-gotify' })
    const moved = await patch(id, { fields: fieldsOf({ server_url: 'http://198.51.100.7:9' }) })
    expect(moved.status).toBe(400)
    expect(moved.text).toContain('token is stored for another address')
    const renamed = await patch(id, { name: 'Gotify of the team', enabled: false })
    expect(renamed.json).toMatchObject({ name: 'Gotify of the team', enabled: false })
    const both = await patch(id, { fields: fieldsOf({ server_url: `${base}/sub`, token: 'b-token-of-gotify' }) })
    expect(both.status).toBe(200)
    expect((await tryOut(id)).status).toBe(200)
    expect(received.at(-1)?.headers['x-gotify-key']).toBe('b-token-of-gotify')
  })
})

test('receivers that answer a megabyte or half an answer are bounded', async () => {
  const id = await add('webhook', { url: `${base}/large` })
  answer = out => out.writeHead(500).end('x'.repeat(1024 * 1024))
  const large = await tryOut(id)
  expect(large.status).toBe(502)
  expect(large.text.length).toBeLessThan(2000)
  answer = out => {
    out.writeHead(500, { 'content-length': '100' }).write('half')
    out.destroy()
  }
  expect((await tryOut(id)).status).toBe(502)
})

test('a long answer of a service that repeats the message is read whole', async () => {
  const standIn = standIns.telegram
  if (!standIn) throw new Error('no stand-in')
  const id = await add('telegram', standIn.fields(base))
  answer = out => out.end(JSON.stringify({ ok: true, result: { text: '\\u00e4 delivery failed '.repeat(400) } }))
  expect((await tryOut(id)).status).toBe(200)
})

test('what a webhook of one’s own answers in a 2xx is its own affair', async () => {
  const id = await add('webhook', { url: `${base}/own` })
  answer = out => out.end('{"ok":false,"errors":["none of yours"]}')
  expect((await tryOut(id)).status).toBe(200)
})

test('the two channels of the settings are listed, and changed there', async () => {
  const { channels } = await admin.call('GET /channels')
  expect(channels.slice(0, 2)).toMatchObject([
    { id: 'chat', builtin: true, enabled: false },
    { id: 'email', builtin: true },
  ])
  expect((await patch('chat', { enabled: true })).status).toBe(409)
  expect((await tryOut('chat')).status).toBe(409)
  expect((await raw(server, 'GET', '/api/v1/channels/999', { token: key })).status).toBe(404)
  expect((await raw(server, 'DELETE', '/api/v1/channels/email', { token: key })).status).toBe(409)
})

test('the guide verifies signatures, and its template is accepted', async () => {
  const [program = ''] = guideBlocks('channels', 'js')
  const module = (await import(`data:text/javascript,${encodeURIComponent(program)}`)) as {
    isGenuine(header: string | undefined, body: string, secret: string, now?: number): boolean
  }
  const [, template = ''] = guideBlocks('channels', 'json')
  const id = await add('webhook', { url: `${base}/guide`, secret: 'of-the-guide', template })
  const sentFrom = Math.floor(clock() / 1000)
  expect((await tryOut(id)).status).toBe(200)
  const last = received.at(-1)
  if (!last) throw new Error('nothing was received')
  const { headers, body } = last
  const message = JSON.parse(body) as { summary: string; time: number }
  expect(message.summary).toBe('Test message')
  expect(message.time).toBeGreaterThanOrEqual(sentFrom)
  expect(message.time).toBeLessThanOrEqual(clock() / 1000)
  const header = String(headers['x-stockade-signature'])
  expect(module.isGenuine(header, body, 'of-the-guide', clock())).toBe(true)
  expect(module.isGenuine(header, `${body} `, 'of-the-guide', clock())).toBe(false)
  expect(module.isGenuine(header, body, 'of-another', clock())).toBe(false)
  expect(module.isGenuine(header, body, 'of-the-guide', clock() + 301_000)).toBe(false)
  expect(module.isGenuine(undefined, body, 'of-the-guide', clock())).toBe(false)
})
