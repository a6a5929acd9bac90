import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import statics from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordOf } from '@stockade/contract/untrusted.ts'
import { places } from '../core/places.ts'
import { cookieNames } from './identity.ts'

const dist = places.dashboard

const policy = (nonce: string) =>
  [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/**
 * Whether the browser calls the page's origin trustworthy: https, also before a proxy, or the browser's own machine. A false claim
 * changes the answer to the one who makes it, and nothing else.
 */
const isTrustworthy = ({ protocol, hostname, headers }: FastifyRequest): boolean =>
  protocol === 'https' ||
  headers['x-forwarded-proto'] === 'https' ||
  /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/i.test(hostname)

/** Headers of every page: no framing, no guessing of types, no address told to others. */
const pageHeaders = (nonce: string, by: { isStrict: boolean; isTrustworthy: boolean }): Record<string, string> => ({
  'content-security-policy': policy(nonce),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  // Elsewhere browsers ignore it, with a warning on the console.
  ...(by.isStrict || by.isTrustworthy ? { 'cross-origin-opener-policy': 'same-origin' } : {}),
  ...(by.isStrict ? { 'strict-transport-security': 'max-age=31536000' } : {}),
})

/** Pages for which nobody needs to sign in. */
const outside = /^\/(?:setup|invite)\b/

/**
 * Links to the code of the page that is asked for, so that a browser loads it beside the app and not after it. Without a session that
 * is the sign-in, to which the other pages lead.
 */
const createAhead = () => {
  const linksByPage = recordOf(JSON.parse(readFileSync(`${dist}ahead.json`, 'utf8')))
  return ({ url, headers: { cookie = '' } }: FastifyRequest): string => {
    const path = url.split('?')[0] ?? ''
    const hasSession = Object.values(cookieNames).some(name => cookie.includes(`${name}=`))
    if (hasSession ? path === '/login' : outside.test(path)) return ''
    const links = hasSession ? (linksByPage[path] ?? linksByPage[path.replace(/[^/]+$/, '*')]) : linksByPage['/login']
    return typeof links === 'string' ? links : ''
  }
}

/** Whether the dashboard is built. */
export const dashboardBuilt = (): boolean => existsSync(`${dist}index.html`)

/** Serves the built dashboard's files; returns what answers any other page's path with `index.html`. */
export const serveDashboard = async (
  fastify: FastifyInstance,
  baseUrl: () => string,
  isStrict: () => boolean,
): Promise<(reply: FastifyReply) => FastifyReply> => {
  if (!dashboardBuilt())
    return reply =>
      reply.status(503).type('text/plain; charset=utf-8').send('The dashboard is not built. Run: npm run build\n')
  // The build has compressed them already (packages/dashboard/build.mjs).
  await fastify.register(statics, {
    root: `${dist}assets`,
    prefix: '/assets/',
    preCompressed: true,
    index: false,
    cacheControl: false,
    setHeaders(reply) {
      // The names of built files change with their content.
      reply.header('cache-control', 'public, max-age=31536000, immutable')
      reply.header('x-content-type-options', 'nosniff')
    },
  })
  const icon = readFileSync(`${dist}icon.svg`)
  fastify.get('/icon.svg', (_, reply) =>
    reply
      .type('image/svg+xml')
      // A page shows it in three places, and each would be a request.
      .headers({ 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' })
      .send(icon),
  )
  const page = readFileSync(`${dist}index.html`, 'utf8')
  const aheadOf = createAhead()
  return reply => {
    // A page that was loaded before an upgrade asks for parts that are gone: a page in their place would only confuse it.
    if (/\/assets\/[^/]*$/.test(reply.request.url.split('?')[0] ?? ''))
      return reply
        .status(404)
        .type('text/plain; charset=utf-8')
        .send('There is no such file any more. Reload the page.\n')
    const nonce = randomBytes(18).toString('base64')
    const base = `${new URL(baseUrl()).pathname.replace(/\/+$/, '')}/`
    const html = page
      .replaceAll('__BASE_HREF__', encodeURI(base))
      .replaceAll('__CSP_NONCE__', nonce)
      .replace('</head>', `${aheadOf(reply.request)}</head>`)
    return reply
      .status(200)
      .headers({
        ...pageHeaders(nonce, { isStrict: isStrict(), isTrustworthy: isTrustworthy(reply.request) }),
        'cache-control': 'no-cache',
      })
      .type('text/html; charset=utf-8')
      .send(html)
  }
}
