import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { aHost, raw, startServer } from '../src/testing/index.ts'
import type { TestServer } from '../src/testing/index.ts'

/*
 * Every mounted endpoint with input that is half right: made from its own schema and bent in places. Whatever comes, the
 * answer is a success or a refusal in the agreed form, never a defect, and the server goes on.
 */

interface Schema {
  readonly type?: string | string[]
  readonly properties?: Record<string, Schema>
  readonly items?: Schema
  readonly enum?: unknown[]
  readonly anyOf?: Schema[]
  readonly const?: unknown
  readonly format?: string
}

const hostile = fc.constantFrom<unknown>(
  null,
  true,
  -1,
  0,
  1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e300,
  '',
  ' ',
  '0',
  'null',
  'a\u0000b',
  '\ud800',
  '\u202e',
  '%',
  '_',
  "'",
  '"',
  '\\',
  "'; drop table bans; --",
  '${7*7}',
  '<script>',
  '../../etc/passwd',
  '-rf',
  '*',
  '203.0.113.7',
  '2001:db8::7',
  '::ffff:203.0.113.7',
  '203.0.113.0/24',
  '0.0.0.0/0',
  'fe80::1%eth0',
  '1970-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  'x'.repeat(3000),
  [],
  {},
  [[]],
  [null],
  { __proto__: null },
  { constructor: 1 },
  { length: 5 },
)
const formats: Record<string, fc.Arbitrary<unknown>> = {
  uuid: fc.uuid(),
  'date-time': fc.date({ noInvalidDate: true }).map(date => date.toISOString()),
  ip: fc.oneof(fc.ipV4(), fc.ipV6()),
  'ip-or-range': fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map(ip => `${ip}/28`),
  ),
  email: fc.emailAddress(),
}
/** Mostly what the schema says, sometimes not. */
const valueOf = (schema: Schema): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: rightOf(schema) }, { weight: 1, arbitrary: hostile })
const rightOf = (schema: Schema): fc.Arbitrary<unknown> => {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valueOf))
  const type = [schema.type].flat().find(name => name !== 'null')
  if (type === 'object')
    return fc.record(
      Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, valueOf(inner)])),
      { requiredKeys: [] },
    )
  if (type === 'array') return fc.array(valueOf(schema.items ?? {}), { maxLength: 4 })
  if (type === 'integer') return fc.integer({ min: -1, max: 200 })
  if (type === 'number') return fc.double({ noNaN: true })
  if (type === 'boolean') return fc.boolean()
  if (type === 'string')
    return schema.format && formats[schema.format]
      ? (formats[schema.format] as fc.Arbitrary<unknown>)
      : fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('sshd', 'admin', 'web-01'))
  return fc.oneof(fc.jsonValue(), hostile)
}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

let server: TestServer
let ids: Record<string, string>
let tokens: { admin: string; agent: string }
beforeAll(async () => {
  server = await startServer()
  const admin = await server.setUp()
  const host = await aHost(server, admin.client)
  const { key } = await admin.client.call('POST /keys', { body: { name: 'fuzz', permissions: 'admin' } })
  const ban = await host.client.call('POST /bans', { body: { ip: '203.0.113.1', jail: 'sshd' } })
  const command = await admin.client.call('POST /servers/{serverId}/commands', {
    params: { serverId: host.id },
    body: { type: 'reload-all' },
  })
  ids = {
    serverId: host.id,
    banId: String(ban.id),
    commandId: command.id,
    keyId: '999',
    ip: '203.0.113.1',
    userId: '1',
    sessionId: command.id,
  }
  tokens = { admin: key, agent: host.key }
})
afterAll(() => server.close())

/** A body for an endpoint. Long polls do not wait here. */
const bodyOf = (endpoint: Endpoint) => {
  const body = valueOf(endpoint.body as Schema)
  return endpoint.held
    ? body.map(value =>
        typeof value === 'object' && value !== null && 'wait' in value ? { ...value, wait: 0 } : value,
      )
    : body
}
/** What would end the run itself: its own server and its own account. */
const spared = new Set(['DELETE /servers/{serverId}', 'DELETE /keys/{keyId}', 'DELETE /users/{userId}'])

test('no input makes it fail', async () => {
  const { paths } = (await raw(server, 'GET', '/api/openapi.json')).json as {
    paths: Record<string, Record<string, object>>
  }
  const mounted = endpoints.filter(
    ({ method, path }) => paths[`/api/v1${path}`]?.[method.toLowerCase()] && !spared.has(`${method} ${path}`),
  )
  expect(mounted.length).toBeGreaterThan(60)
  const tried = async (
    endpoint: Endpoint,
    params: Record<string, unknown>,
    query: Record<string, unknown>,
    body: unknown,
  ) => {
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(params[name]).toWellFormed() || 'x'),
    )
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]) => [name, textOf(value) ?? ''] as [string, string]),
    ).toString()
    const reply = await raw(server, endpoint.method, `/api/v1${path}${search ? `?${search}` : ''}`, {
      token: endpoint.access === 'agent' ? tokens.agent : tokens.admin,
      ...(endpoint.method === 'GET' || body === undefined ? {} : { body }),
    })
    expect(
      reply.status,
      `${endpoint.method} ${path}?${search} ${JSON.stringify(body)?.slice(0, 500)}\n${reply.text}`,
    ).not.toBe(500)
    if (reply.status >= 400)
      expect(reply.json, reply.text).toMatchObject({ error: expect.any(String), message: expect.any(String) })
  }
  for (const endpoint of mounted) {
    const params = endpoint.params as Schema | undefined
    const input = fc.tuple(
      fc.record(
        Object.fromEntries(
          Object.keys(params?.properties ?? {}).map(name => [
            name,
            fc.oneof(
              { weight: 3, arbitrary: fc.constant<unknown>(ids[name] ?? 'x') },
              { weight: 1, arbitrary: hostile.map(textOf) },
            ),
          ]),
        ),
      ),
      endpoint.query && !endpoint.held
        ? (rightOf(endpoint.query as Schema) as fc.Arbitrary<Record<string, unknown>>)
        : fc.constant({}),
      endpoint.body ? bodyOf(endpoint) : fc.constantFrom(undefined, {}, { x: 1 }),
    )
    await fc.assert(
      fc.asyncProperty(input, ([a, b, c]) => tried(endpoint, a, b, c)),
      { numRuns: Number(process.env.STOCKADE_FUZZ_RUNS ?? 25) },
    )
  }
  expect(await raw(server, 'GET', '/api/v1/ready')).toMatchObject({ status: 200 })
})
