import * as http from 'node:http'
import * as https from 'node:https'
import { gunzipSync } from 'node:zlib'
import { codeOf } from '@stockade/contract/error-code.ts'
import { readOr } from '@stockade/contract/untrusted.ts'
import { trustedContext } from './authorities.ts'
import { createSteps, steadyNow } from './clock.ts'
import { asFields } from './json.ts'
import { judgedAgent, pinnedAgent } from './pins.ts'
import type { ShownKey } from './pins.ts'
import { proxyHeaders, readProxy, throughProxy } from './proxy.ts'
import { retryAfterOf } from './schedule.ts'
import type { Budget, Urgency } from './schedule.ts'
import { cleanText, errorText } from './text.ts'

const maxBodyBytes = 4 * 1024 * 1024
/**
 * At rest one connection is enough (loops/line.ts), and a server of many hosts pays for each: one more that a burst needed is closed when nothing
 * used it for so long, milliseconds. The one that holds a poll stays: the client heeds this only where no request is under way.
 */
const surplusIdle = 15_000
const connections = { keepAlive: true, maxSockets: 4, timeout: surplusIdle } as const

/** A request failed: the status of the answer, or 0 if there was no valid one. */
export class ServerError extends Error {
  readonly status: number
  /** Milliseconds, from `Retry-After`. */
  readonly retryAfter: number | null
  /** Whether the server itself answered, in its error format, and not a proxy or a broken connection. */
  readonly spoken: boolean
  constructor(message: string, status = 0, retryAfter: number | null = null, spoken = false) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
    this.spoken = spoken
  }
}

export interface Ask {
  readonly body?: unknown
  readonly timeout?: number
  readonly signal?: AbortSignal
  readonly urgency?: Urgency
  /** Uses a new connection. */
  readonly alone?: boolean
}

/** A text with the version that conditional requests compare. */
export interface Fresh {
  /** The version from the ETag, without quotes and without the suffix of a compressed body; "" if there is none. */
  readonly version: string
  readonly text: string
}

export interface Transport {
  /** The JSON of a 2xx answer. @throws ServerError for everything else, at the latest after the timeout */
  json(method: string, path: string, ask?: Ask): Promise<unknown>
  /** The text at a path; null if it still is the `known` version (304). @throws ServerError as `json` does */
  fresh(path: string, known: string | null, ask?: Ask & { maxBytes?: number }): Promise<Fresh | null>
  /** The content at a path. @throws ServerError as `json` does, also where it is larger than `maxBytes` */
  bytes(path: string, maxBytes: number): Promise<Buffer>
  /**
   * Milliseconds to add to our clock to get the server's, from its last answer; null before the first one. Somebody who sets our
   * clock changes this at once.
   */
  clockOffset(): number | null
  /** Uses another way to the server from now on. Requests under way are broken off. */
  redirect(to: { readonly baseUrl: string; readonly pins: readonly string[] }): void
  /** The address that the server was last reached at. */
  peer(): string | null
  close(): void
}

/** HTTP/1.1 with keep-alive over Node's own client: the agent must run on Node 18 without dependencies. */
export const createTransport = (options: {
  baseUrl: string
  apiKey: string | null
  ca: string | null
  pins?: readonly string[]
  /** Accepts or refuses the key that the server shows, in place of pins and authorities. It answers a sentence to refuse it. */
  judge?: (shown: ShownKey) => string | null
  /** URL of an HTTP proxy on the way to the server; null or none: there is none. */
  proxy?: string | null
  /** Files that may hold the authorities which this host trusts. */
  authorities?: readonly string[]
  budget: Budget
  now: () => number
  steadyNow?: () => number
  userAgent: string
}): Transport => {
  let way = wayTo(options)
  let agent = way.agentOf(connections)
  let offset: number | null = null
  const steps = createSteps({ now: options.now, steadyNow: options.steadyNow ?? steadyNow })
  let peer: string | null = null

  const once = <T>(
    method: string,
    path: string,
    ask: Ask & { headers?: Record<string, string>; maxBytes?: number },
    read: (response: http.IncomingMessage, body: Buffer) => T,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      const { secure, agentOf, target } = way
      const body = ask.body === undefined ? null : Buffer.from(JSON.stringify(ask.body), 'utf8')
      const request = (secure ? https : http).request({
        agent: ask.alone === true ? agentOf({ keepAlive: false }) : agent,
        method,
        host: target.host,
        port: target.port,
        path: target.before + path,
        headers: {
          ...target.headers,
          accept: 'application/json',
          'user-agent': options.userAgent,
          ...ask.headers,
          ...(options.apiKey === null ? {} : { authorization: `Bearer ${options.apiKey}` }),
          ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
        },
        ...(ask.signal ? { signal: ask.signal } : {}),
      })
      const timeout = ask.timeout ?? 30_000
      const timer = setTimeout(
        () => request.destroy(new Error(`no complete answer within ${Math.round(timeout / 1000)} s`)),
        timeout,
      )
      const fail = (error: Error): void => {
        clearTimeout(timer)
        reject(Object.assign(error, { stale: request.reusedSocket && codeOf(error) === 'ECONNRESET' }))
      }
      request.on('error', fail)
      request.on('response', response => {
        peer = response.socket.remoteAddress ?? peer
        noteDate(response.headers.date)
        const parts: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > (ask.maxBytes ?? maxBodyBytes)) request.destroy(new Error('the answer is unreasonably large'))
          else parts.push(chunk)
        })
        response.on('error', fail)
        response.on('aborted', () => fail(new Error('the answer was cut off')))
        response.on('end', () => {
          clearTimeout(timer)
          if (!response.complete) return fail(new Error('the answer was cut off'))
          try {
            resolve(read(response, Buffer.concat(parts)))
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)))
          }
        })
      })
      request.end(body ?? undefined)
    })

  /**
   * Compares the clocks when the header of an answer arrives, because a long poll was sent long before. The header has
   * whole seconds: their middle counts, and a difference below two seconds is ignored as noise.
   */
  const noteDate = (header: string | undefined): void => {
    const date = Date.parse(header ?? '')
    if (Number.isNaN(date)) return
    steps.take()
    const difference = date + 500 - options.now()
    offset = Math.abs(difference) < 2000 ? 0 : Math.round(difference)
  }

  const jsonOf = (response: http.IncomingMessage, body: Buffer): unknown => {
    const status = response.statusCode ?? 0
    if (status < 200 || status >= 300) throw refusalOf(response, body)
    const parsed = parse(body.toString('utf8'))
    if (isObject(parsed)) return parsed
    throw new ServerError(`answered ${status} with something that is not JSON`)
  }

  const freshOf = (response: http.IncomingMessage, body: Buffer, maxBytes: number): Fresh | null => {
    if (response.statusCode === 304) return null
    if (response.statusCode !== 200) throw refusalOf(response, body)
    const version = /^(?:W\/)?"(.*)"$/.exec(response.headers.etag ?? '')?.[1] ?? ''
    const packed = response.headers['content-encoding'] === 'gzip'
    const text = packed ? gunzipSync(body, { maxOutputLength: maxBytes }) : body
    return { version: version.replace(/-gz$/, ''), text: text.toString('utf8') }
  }

  const refusalOf = (response: http.IncomingMessage, body: Buffer): ServerError => {
    const status = response.statusCode ?? 0
    const parsed = parse(body.toString('utf8'))
    const message = isObject(parsed) && typeof parsed['message'] === 'string' ? parsed['message'] : ''
    const spoken = isObject(parsed) && typeof parsed['error'] === 'string'
    const retryAfter = retryAfterOf(response.headers['retry-after'], options.now())
    const moved = status >= 300 && status < 400 ? response.headers.location : undefined
    const words = moved
      ? `refers to ${moved.slice(0, 500)}: if it moved there, give this host its new base URL with "stockade-agent move"`
      : message.slice(0, 500)
    return new ServerError(cleanText(`answered ${status}${words ? `: ${words}` : ''}`), status, retryAfter, spoken)
  }

  /** Waits until the request fits the budget of requests a minute. */
  const admit = async (ask: Ask): Promise<void> => {
    for (;;) {
      const wait = options.budget.take(ask.urgency ?? 'report')
      if (wait === 0) return
      if (ask.signal?.aborted) throw new ServerError('cancelled')
      await new Promise(resolve => setTimeout(resolve, Math.min(wait, 2000)))
    }
  }

  const ask = async <T>(attempt: () => Promise<T>, settings: Ask): Promise<T> => {
    await admit(settings)
    try {
      return await attempt().catch((error: unknown) => {
        // The server had just closed this kept connection. Ids make a second try harmless.
        if (asFields(error)['stale'] === true) return attempt()
        throw error
      })
    } catch (error) {
      if (error instanceof ServerError) throw error
      throw new ServerError(errorText(error))
    }
  }

  return {
    json: (method, path, settings = {}) => ask(() => once(method, path, settings, jsonOf), settings),
    fresh(path, known, settings = {}) {
      const maxBytes = settings.maxBytes ?? maxBodyBytes
      const headers = {
        accept: '*/*',
        'accept-encoding': 'gzip',
        ...(known === null ? {} : { 'if-none-match': `"${known}"` }),
      }
      return ask(
        () =>
          once('GET', path, { ...settings, headers, maxBytes }, (response, body) => freshOf(response, body, maxBytes)),
        settings,
      )
    },
    bytes(path, maxBytes) {
      const settings = { timeout: 120_000, urgency: 'heartbeat' } as const
      const read = (response: http.IncomingMessage, body: Buffer): Buffer => {
        if (response.statusCode !== 200) throw refusalOf(response, body)
        return body
      }
      return ask(() => once('GET', path, { ...settings, headers: { accept: '*/*' }, maxBytes }, read), settings)
    },
    clockOffset: () => (offset === null ? null : offset - steps.since()),
    redirect(to) {
      const before = agent
      way = wayTo({ ...options, ...to })
      agent = way.agentOf(connections)
      before.destroy()
    },
    peer: () => peer,
    close: () => agent.destroy(),
  }
}

/** How the server is reached: its address or that of a proxy, and what is checked of a connection. */
const wayTo = (options: {
  baseUrl: string
  ca: string | null
  pins?: readonly string[]
  judge?: (shown: ShownKey) => string | null
  proxy?: string | null
  authorities?: readonly string[]
}) => {
  const { hostname, host, port, origin, pathname, protocol } = new URL(options.baseUrl)
  const secure = protocol === 'https:'
  const prefix = pathname.replace(/\/+$/, '')
  const pins = options.pins ?? []
  const proxy = options.proxy ? readProxy(options.proxy) : null
  const secureContext = secure && pins.length === 0 ? trustedContext(options.ca, options.authorities) : undefined
  const checkedAgent = (settings: https.AgentOptions): https.Agent => {
    if (options.judge) return judgedAgent(options.judge, settings)
    return pins.length > 0 ? pinnedAgent(pins, settings) : new https.Agent(settings)
  }
  const direct = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)) }
  return {
    secure,
    agentOf(settings: https.AgentOptions): http.Agent {
      if (!secure) return new http.Agent(settings)
      const agent = checkedAgent({ ...settings, secureContext })
      return proxy ? throughProxy(agent, proxy) : agent
    },
    /** A proxy is asked for the whole URL of plain http; https goes through it in a tunnel. */
    target:
      proxy && !secure
        ? { host: proxy.host, port: proxy.port, before: origin + prefix, headers: { host, ...proxyHeaders(proxy) } }
        : { ...direct, before: prefix, headers: {} },
  }
}

const parse = (text: string): unknown => readOr(null, () => JSON.parse(text))

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
