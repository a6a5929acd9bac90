import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { second } from '../core/clock.ts'
import { keepRoom } from './connections.ts'

/*
 * The port for plain http beside https: leads browsers to https, answers programs in a sentence, and shows an authority that a name is
 * this server's.
 */

const tooLate =
  'This server speaks https. A credential that was sent over http can be read on the way: replace it, and use https.\n'
const useHttps = 'This server speaks https here: use https.\n'
/** Paths that programs use. A redirect would hide that their request went over http. */
const forPrograms = /^\/(api|agent|metrics|install\.sh)(\/|$|\?)/

/** Where a page is over https; null where the request names no usable host. */
const targetOf = ({ headers, url = '/' }: IncomingMessage, baseUrl: string, port: number): string | null => {
  // Resolving the path against an address would let "//name" and "/\\name" choose the host.
  const path = url.startsWith('/') ? url : '/'
  const { protocol, hostname, origin } = new URL(baseUrl)
  // Without a base URL the server only knows itself as localhost, which leads other machines nowhere.
  if (protocol === 'https:' && hostname !== 'localhost') return `${origin}${path}`
  const [, name] = /^([A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\])(?::\d{1,5})?$/.exec(headers.host ?? '') ?? []
  return name === undefined ? null : `https://${name}${port === 443 ? '' : `:${port}`}${path}`
}

const refuse = (reply: ServerResponse, text: string): void => {
  reply.writeHead(403, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
}

const challengePath = '/.well-known/acme-challenge/'

interface To {
  readonly baseUrl: () => string
  /** Of https. */
  readonly port: () => number
  /** What an ACME authority wants to see for a token; null for one that nobody announced. */
  readonly challenge?: (token: string) => string | null
}

const answer = (request: IncomingMessage, reply: ServerResponse, to: To): void => {
  const { headers, method, url = '/' } = request
  const challengeAnswer = url.startsWith(challengePath) ? to.challenge?.(url.slice(challengePath.length)) : undefined
  if (typeof challengeAnswer === 'string' && method === 'GET') {
    reply.writeHead(200, { 'content-type': 'application/octet-stream', connection: 'close' }).end(challengeAnswer)
    return
  }
  if (headers.authorization !== undefined || headers.cookie !== undefined) return refuse(reply, tooLate)
  const isPage = (method === 'GET' || method === 'HEAD') && !forPrograms.test(url)
  const target = isPage ? targetOf(request, to.baseUrl(), to.port()) : null
  if (target === null) return refuse(reply, useHttps)
  reply.writeHead(308, { location: target, 'cache-control': 'no-store', connection: 'close' }).end()
}

/**
 * Opens the port. A request with a credential is refused instead of redirected: the credential has been sent in the clear already.
 * @param to the address of the server in its settings, the port that https listens on, and what is shown to authorities
 */
export const openRedirect = async (at: { readonly host: string; readonly port: number }, to: To): Promise<Server> => {
  const server = createServer(
    {
      maxHeaderSize: 8192,
      requestTimeout: 10 * second,
      headersTimeout: 10 * second,
      connectionsCheckingInterval: 2 * second,
    },
    (request, reply) => answer(request, reply, to),
  )
  keepRoom(server, { most: 200, ofOne: 20 })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at.port, at.host, resolve)
  })
  return server
}
