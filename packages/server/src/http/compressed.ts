import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { takesGzip } from './conditional.ts'

/**
 * Lists that are long and hold no secret. An answer that repeats what a stranger typed and holds a secret must not be compressed: its
 * length would tell the secret (BREACH). So answers are sent as they are, but these.
 */
const compressedEndpoints: ReadonlySet<string> = new Set([
  'GET /bans',
  'GET /bans/attackers',
  'GET /bans/stats',
  'GET /servers',
  'GET /servers/summary',
  'GET /templates',
])
export const isCompressed = (endpoint: string): boolean => compressedEndpoints.has(endpoint)

/** What is shorter fits into one packet anyway, in characters. */
const leastLength = 1024
const gzipped = promisify(gzip)

/** Compresses an answer for those who take it, in a thread beside the event loop. */
export const compress = async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
  if (typeof payload !== 'string' || payload.length < leastLength) return payload
  void reply.header('vary', 'Accept-Encoding')
  if (!takesGzip(request.headers['accept-encoding'])) return payload
  void reply.header('content-encoding', 'gzip')
  return gzipped(payload, { level: constants.Z_BEST_SPEED })
}
