import { readFileSync } from 'node:fs'
import { createHmac } from 'node:crypto'
import type { AddressInfo, Server } from 'node:net'
import { expect } from 'vitest'
import { eventually, sight, startServer } from '../../src/testing/index.ts'
import type { Options, TestServer } from '../../src/testing/index.ts'
import { pageOf } from './endpoints.ts'
import { deviations, text, words } from './kinds.ts'
import type { Read, Shape } from './kinds.ts'

/*
 * Plain HTTP to a server, as somebody talks to it who has read the pages and nothing else. The server of a newcomer runs as a process of its own
 * (newcomer.test.ts), the others in that of the test, which costs half.
 */

export interface Reply {
  readonly endpoint: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown
}
export interface Given {
  /** Without the question mark. */
  readonly query?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is. */
  readonly plain?: string
  readonly headers?: Readonly<Record<string, string>>
  /** What the path names in braces. */
  readonly [inPath: string]: unknown
}
/** Asks `METHOD /path`, written as the interface writes it, as one caller. */
export type Caller = (endpoint: string, given?: Given) => Promise<Reply>

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
/** Paths that are not below `/api/v1` begin with two slashes. */
const addressOf = (base: string, path: string, given: Given) =>
  (path.startsWith('//') ? base + path.slice(1) : `${base}/api/v1${path}`).replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(given[name])),
  ) + (given.query === undefined ? '' : `?${given.query}`)

/** Somebody with that credential, or with none. */
export const callerOf =
  (base: string, token?: string): Caller =>
  async (endpoint, given = {}) => {
    const [method = '', path = ''] = endpoint.split(' ')
    const body = given.plain ?? (given.body === undefined ? undefined : JSON.stringify(given.body))
    const reply = await fetch(addressOf(base, path, given), {
      method,
      redirect: 'manual',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(given.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...given.headers,
      },
      ...(body === undefined ? {} : { body }),
    })
    const received = await reply.text()
    return { endpoint, status: reply.status, headers: reply.headers, text: received, json: parsed(received) }
  }

const titleOf = (endpoint: string) => `${pageOf(endpoint)}, ${endpoint}`

/** The reply has that status and exactly that shape; gives its body. `sentence` says where else it comes from. */
export const says = async <const S extends Shape>(
  asked: Promise<Reply>,
  status: number,
  shape: S,
  sentence?: string,
): Promise<Read<S>> => {
  const reply = await asked
  const claim = `${titleOf(reply.endpoint)}: ${status} ${words(shape)}${sentence ? ` (${sentence})` : ''}`
  expect(reply.status, `${claim}, got: ${reply.text.slice(0, 400)}`).toBe(status)
  expect.soft(reply.headers.get('content-type'), `${claim}: JSON (spec conventions)`).toMatch(/^application\/json/)
  expect.soft(deviations(reply.json, shape), claim).toEqual([])
  return reply.json as Read<S>
}
/** The reply is `{ message }`, as simple actions have it (spec conventions). */
export const saysDone = (asked: Promise<Reply>, sentence?: string) => says(asked, 200, { message: text }, sentence)

/** The reply is text of that type, for the few that are no JSON; gives the reply. */
export const saysText = async (asked: Promise<Reply>, type: string): Promise<Reply> => {
  const reply = await asked
  expect.soft(reply.status, `${titleOf(reply.endpoint)}: 200, got ${reply.text.slice(0, 200)}`).toBe(200)
  expect.soft(reply.headers.get('content-type'), `${titleOf(reply.endpoint)}: ${type}`).toMatch(new RegExp(`^${type}`))
  return reply
}

const phrases: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  502: 'Bad Gateway',
}
/** What no error body may hold (spec errors): SQL, stacks, files of the server. */
const inner = /SQLITE|select .* from|at .*\.[jt]s:\d|node_modules|packages\/server/i

/** The field by `details`, or an id in the sentence. */
const names = (body: { message?: unknown; details?: unknown }, naming: string) =>
  String(body.message).includes(naming) ||
  (Array.isArray(body.details) &&
    body.details.some(({ path }: { path?: unknown }) => String(path).split('.').includes(naming)))
const errorsPage = readFileSync(new URL('../../../../docs/spec/errors.md', import.meta.url), 'utf8')
/** Whether the table of reasons has a row for it that names the status. */
const isReason = (reason: unknown, status: number): boolean =>
  errorsPage.split('\n').some(row => row.startsWith(`| \`${String(reason)}\` |`) && row.endsWith(`Status ${status}. |`))

/** How an error body deviates from spec errors; `naming`: the field that its message has to name. */
export const refusalDeviations = (reply: Reply, status: number, naming?: string): string[] => {
  if (reply.status !== status) return [`status ${reply.status}, not ${status}: ${reply.text.slice(0, 200)}`]
  const body = (reply.json ?? {}) as { error?: unknown; message?: unknown; reason?: unknown; details?: unknown }
  const wrong: [string, boolean][] = [
    ['it is not JSON', !/^application\/json/.test(reply.headers.get('content-type') ?? '')],
    [
      'it has more than error, message, reason and details',
      !Object.keys(body).every(name => /^(error|message|reason|details)$/.test(name)),
    ],
    [`error is ${String(body.error)}, not ${phrases[status] ?? ''}`, body.error !== phrases[status]],
    [`no row of the specification says ${String(body.reason)} of ${status}`, !isReason(body.reason, status)],
    ['message is no sentence', typeof body.message !== 'string' || body.message.length < 8],
    ['it shows what is inside', inner.test(reply.text)],
    [
      'details are not [{ path, message }]',
      body.details !== undefined && deviations(body.details, [{ path: text, message: text }]).length > 0,
    ],
    [`it does not name ${naming ?? ''}: ${reply.text}`, naming !== undefined && !names(body, naming)],
    ['no WWW-Authenticate: Bearer', status === 401 && !/^Bearer/.test(reply.headers.get('www-authenticate') ?? '')],
    ['no Allow', status === 405 && !reply.headers.get('allow')],
    ['no Retry-After in seconds', status === 429 && !/^[1-9]\d*$/.test(reply.headers.get('retry-after') ?? '')],
  ]
  return wrong.filter(([, is]) => is).map(([what]) => what)
}
/** The reply is that refusal; `why` is the page and its sentence. */
export const refuses = async (asked: Promise<Reply>, status: number, why: string, naming?: string): Promise<Reply> => {
  const reply = await asked
  expect.soft(refusalDeviations(reply, status, naming), `${why} (${titleOf(reply.endpoint)})`).toEqual([])
  return reply
}
/** A table of what is refused with 400: the field that has to be named, and what is sent. */
export const refusesEach = async <T>(
  why: string,
  rows: readonly (readonly [naming: string, sent: T])[],
  ask: (sent: T) => Promise<Reply>,
): Promise<void> => {
  for (const [naming, sent] of rows)
    await refuses(ask(sent), 400, `${why}: ${JSON.stringify(sent).slice(0, 100)}`, naming)
}
/** Integers are decimal (spec conventions); each of these names `limit`, and the last ones `page`. */
export const notDecimal: readonly (readonly [naming: string, query: string])[] = [
  ...['1e1', '%2B5', '+5', '%205', '0x10', '5.0', '1_0'].map(value => ['limit', `limit=${value}`] as const),
  ...['1e1', '%2B5', '0x10'].map(value => ['page', `page=${value}`] as const),
]
/** A table of what is taken: anything but an error. */
export const takesEach = async <T>(
  why: string,
  rows: readonly T[],
  ask: (sent: T) => Promise<Reply>,
): Promise<void> => {
  for (const sent of rows) {
    const reply = await ask(sent)
    expect
      .soft(
        reply.status,
        `${why}: ${JSON.stringify(sent).slice(0, 100)} (${titleOf(reply.endpoint)}), got ${reply.text.slice(0, 200)}`,
      )
      .toBeLessThan(300)
  }
}
/** A claim about values; the page and its sentence stand before what is wrong. */
export const same = (why: string, got: unknown, wanted: unknown): void => expect.soft(got, why).toEqual(wanted)

/** Tries until the reply is as wanted, for what happens soon after; gives that one. */
export const until = async <T>(ask: () => Promise<T>, good: (got: T) => boolean): Promise<T> =>
  eventually(async () => {
    const got = sight('the reply', await ask())
    if (!good(got)) throw new Error(`The reply did not become as wanted: ${String(good)}`)
    return got
  })
/** Listens on loopback and gives the port. */
export const listening = (server: Server): Promise<number> =>
  new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

/** An id that nothing has. */
export const unknownId = '01890000-0000-7000-8000-000000000000'
export const passwords = { admin: 'Adm1n-password', operator: 'Oper4tor-pass', viewer: 'V1ewer-passwd' } as const

export interface Host {
  readonly id: string
  readonly key: string
  readonly agent: Caller
}
export interface Place {
  readonly server: TestServer
  readonly nobody: Caller
  /** The first administrator, user 1. */
  readonly admin: Caller
  readonly operator: Caller
  readonly viewer: Caller
  as(token: string): Caller
  /** An access token of a user without a second factor. */
  signIn(username: string, password: string): Promise<string>
  /** A server by POST /servers, and a stand-in for its agent. */
  host(hostname: string): Promise<Host>
  close(): Promise<void>
}
const field = (reply: Reply, name: string): string => {
  const value = (reply.json as Record<string, unknown> | undefined)?.[name]
  if (typeof value !== 'string') throw new Error(`${reply.endpoint} gave no ${name}: ${reply.text}`)
  return value
}
/** A server on a fresh data folder with users `admin`, `operator` and `viewer`. */
export const aPlace = async (options: Options = {}): Promise<Place> => {
  const server = await startServer({
    ...options,
    env: {
      STOCKADE_ADMIN_USERNAME: 'admin',
      STOCKADE_ADMIN_EMAIL: 'admin@corp.example',
      STOCKADE_ADMIN_PASSWORD: passwords.admin,
      ...options.env,
    },
  })
  const as = (token: string) => callerOf(server.url, token)
  const nobody = callerOf(server.url)
  const signIn = async (username: string, password: string) =>
    field(await nobody('POST /auth/login', { body: { username, password } }), 'access_token')
  const admin = as(await signIn('admin', passwords.admin))
  const user = async (role: 'operator' | 'viewer') => {
    const body = { username: role, email: `${role}@corp.example`, password: passwords[role], role }
    field(await admin('POST /users', { body }), 'username')
    return as(await signIn(role, passwords[role]))
  }
  return {
    server,
    nobody,
    admin,
    operator: await user('operator'),
    viewer: await user('viewer'),
    as,
    signIn,
    async host(hostname) {
      const made = await admin('POST /servers', { body: { hostname } })
      const key = field(made, 'api_key')
      return { id: field(made, 'id'), key, agent: as(key) }
    },
    close: () => server.close(),
  }
}

export interface WithHost {
  readonly place: Place
  readonly web: Host
}
/** The same with one host, `web.example`. */
export const aPlaceWithHost = async (): Promise<WithHost> => {
  const place = await aPlace()
  return { place, web: await place.host('web.example') }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** The code of RFC 6238 (SHA-1, 6 digits, 30 s; spec access), `steps` time steps from now. */
export const totp = (secret: string, steps = 0): string => {
  const bits = [...secret].map(digit => digits.indexOf(digit).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps))
  const digest = createHmac('sha1', key).update(counter).digest()
  const offset = (digest.at(-1) ?? 0) & 15
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
