import * as http from 'node:http'
import type * as https from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type * as tls from 'node:tls'
import { readOr } from '@stockade/contract/untrusted.ts'

/** An HTTP proxy between the agent and the server. */
export interface Proxy {
  readonly host: string
  readonly port: number
  /** The header `Proxy-Authorization`; null without a user. */
  readonly authorization: string | null
}

const connectTime = 15_000

/** @throws Error with a sentence that repeats no password, unless this is `http://[USER:PASSWORD@]HOST[:PORT]` */
export const readProxy = (text: string): Proxy => {
  const form = 'the proxy must have the form http://[USER:PASSWORD@]HOST[:PORT]'
  if (text.length > 1000) throw new Error(form)
  let url: URL
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  } catch {
    throw new Error(form)
  }
  if (url.protocol !== 'http:' || url.hostname === '' || url.pathname !== '/' || url.search || url.hash)
    throw new Error(form)
  const user = `${decoded(url.username)}:${decoded(url.password)}`
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 80),
    authorization: user === ':' ? null : `Basic ${Buffer.from(user, 'utf8').toString('base64')}`,
  }
}

const decoded = (text: string): string => readOr(text, () => decodeURIComponent(text))

/** How the proxy is shown: without user and password. */
export const proxyName = (text: string): string => {
  const { host, port } = readProxy(text)
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * The proxy that the environment names for the server, as curl reads it: `https_proxy` or `http_proxy` by the base URL, else
 * `all_proxy`, and none where `no_proxy` covers the server. `HTTP_PROXY` is not read: a CGI program gets it from a request.
 */
export const proxyFromEnvironment = (baseUrl: string, env: NodeJS.ProcessEnv): string | null => {
  const { protocol, hostname } = new URL(baseUrl)
  const first = (...names: readonly string[]): string =>
    names.map(name => (env[name] ?? '').trim()).find(value => value !== '') ?? ''
  const proxyUrl = protocol === 'https:' ? first('https_proxy', 'HTTPS_PROXY') : first('http_proxy')
  const proxy = proxyUrl || first('all_proxy', 'ALL_PROXY')
  return proxy === '' || isExcepted(hostname, first('no_proxy', 'NO_PROXY')) ? null : proxy
}

/** `*`, names with all names below them, and addresses. */
const isExcepted = (hostname: string, list: string): boolean => {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  return list
    .split(',')
    .map(entry =>
      entry
        .trim()
        .toLowerCase()
        .replace(/^\*?\./, '')
        .replace(/^\[|\]$/g, ''),
    )
    .some(entry => entry === '*' || (entry !== '' && (host === entry || host.endsWith(`.${entry}`))))
}

/** Opens a connection to `host:port` through the proxy, by CONNECT. */
const openTunnel = (proxy: Proxy, host: string, port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const target = `${host.includes(':') ? `[${host}]` : host}:${port}`
    const request = http.request({
      host: proxy.host,
      port: proxy.port,
      method: 'CONNECT',
      path: target,
      agent: false,
      headers: { host: target, ...proxyHeaders(proxy) },
      timeout: connectTime,
    })
    request.once('connect', (response, socket, head) => {
      const status = response.statusCode ?? 0
      if (status === 200 && head.length === 0) {
        socket.setTimeout(0)
        return resolve(socket)
      }
      socket.destroy()
      reject(new Error(`the proxy refused the connection to ${target}: it answered ${status}`))
    })
    request.once('timeout', () => request.destroy(new Error(`the proxy did not answer within ${connectTime / 1000} s`)))
    request.once('error', error => reject(new Error(`the proxy: ${error.message}`)))
    request.end()
  })

/** What a request carries for the proxy itself, and what the server must not see. */
export const proxyHeaders = (proxy: Proxy): Record<string, string> =>
  proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }

type Connected = (error: Error | null, stream?: Duplex) => void

/** Makes an agent for https connect through the proxy. What it checks of the server's certificate or key stays as it is. */
export const throughProxy = (agent: https.Agent, proxy: Proxy): https.Agent => {
  const connect = agent.createConnection.bind(agent)
  const createConnection = (options: tls.ConnectionOptions, done: Connected): undefined => {
    openTunnel(proxy, options.host ?? '', options.port ?? 443).then(
      socket => {
        const throughSocket = { ...options, socket }
        const secured = connect(throughSocket, done)
        // Node's own agent returns the connection; the pinned one calls back after it has seen the key.
        if (secured) done(null, secured)
      },
      (error: Error) => done(error),
    )
    return undefined
  }
  return Object.assign(agent, { createConnection })
}
