import type { FastifyRequest } from 'fastify'
import type { Endpoint } from '@stockade/contract'
import type { Actor } from '../core/actor.ts'
import { parseIp } from '../core/ip.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
  interface FastifyRequest {
    /** The endpoint of the contract that was asked for; null for everything else that is served. */
    endpoint: Endpoint | null
    actor: Actor | null
    byCookie: boolean
  }
}

export const prefix = '/api/v1'
const feedToken = /^(\/api\/v1\/feeds\/)[^/]+/
/**
 * The path of a request as logs may hold it: without the query, which holds codes of invitations and of the set-up, and
 * without the token of a feed, which is the whole credential of its reader.
 */
export const loggedPath = ({ url }: FastifyRequest): string => (url.split('?')[0] ?? '').replace(feedToken, '$1[token]')
/** Methods that change something. */
export const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const ours = /^\/(api|agent|metrics|install\.sh)(\/|$)/
/** Whether a path belongs to the server and not to a page of the dashboard. */
export const isOurs = (path: string): boolean => ours.test(path)

const names = new WeakMap<Endpoint, string>()
/** The name of an endpoint, such as `GET /servers`. Kept, because every request needs it. */
export const nameOf = (endpoint: Endpoint): string => {
  const knownNames = names.get(endpoint)
  if (knownNames !== undefined) return knownNames
  const name = `${endpoint.method} ${endpoint.path}`
  names.set(endpoint, name)
  return name
}

/** Addresses as they came, with their canonical form: the same hosts call again and again. */
const canonical = new Map<string, string | null>()
const canonicalOf = (text: string): string | null => {
  const knownText = canonical.get(text)
  if (knownText !== undefined) return knownText
  const read = parseIp(text)?.text ?? null
  if (canonical.size >= 10_000) canonical.clear()
  canonical.set(text, read)
  return read
}
/** The caller's address in canonical form; the connection's own if a trusted proxy sent nonsense. */
export const addressOf = (request: FastifyRequest): string =>
  canonicalOf(request.ip) ?? canonicalOf(request.socket.remoteAddress ?? '') ?? '0.0.0.0'
