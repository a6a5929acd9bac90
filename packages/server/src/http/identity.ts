import type { FastifyRequest } from 'fastify'
import { parseCookie } from 'cookie'
import type { Actor, Principal } from '../core/actor.ts'
import { forbidden } from '../core/problem.ts'
import { addressOf } from './request.ts'

/** Finds who is behind a credential. Null: unknown, expired or revoked. */
export interface Credentials {
  byKey(key: string, ip: string): Principal | null | Promise<Principal | null>
  /** `quietly`: only checks whether the credential is still good; does not count as activity. */
  byToken(token: string, ip: string, quietly?: boolean): Promise<Principal | null>
  byCookie(value: string, ip: string, quietly?: boolean): Promise<Principal | null>
}

export const cookieNames = { plain: 'stockade_session', secure: '__Host-stockade_session' } as const

/** Who sends a request, by header or cookie. */
export interface Identity {
  /** Answers at once for an API key that is in memory, as almost all requests carry; else waits for storage. */
  identify(request: FastifyRequest, quietly?: boolean): Actor | Promise<Actor>
  cookiesOf(request: FastifyRequest): Record<string, string | undefined>
  /** Refuses a cookie that a page of another origin sent along. @throws Problem 403 */
  checkOrigin(request: FastifyRequest): void
}

export const createIdentity = (needs: {
  readonly credentials: Credentials
  readonly baseUrl: () => string
  readonly httpsOnly: boolean
}): Identity => {
  const { credentials, httpsOnly } = needs
  const cookiesOf = (request: FastifyRequest) => parseCookie(request.headers.cookie ?? '')
  const byHeader = (header: string, ip: string, quietly: boolean) => {
    const credential = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(header)?.[1]
    if (!credential) return null
    return credential.startsWith('svc_')
      ? credentials.byKey(credential, ip)
      : credentials.byToken(credential, ip, quietly)
  }
  return {
    identify(request, quietly = false) {
      const ip = addressOf(request)
      const actorOf = (principal: Principal | null): Actor => principal ?? { kind: 'anonymous', ip }
      const header = request.headers.authorization
      if (header !== undefined) {
        const identity = byHeader(header, ip, quietly)
        return identity instanceof Promise ? identity.then(actorOf) : actorOf(identity)
      }
      const cookies = cookiesOf(request)
      // A sibling host can plant a cookie of the plain name, so under https only the `__Host-` one counts.
      const value = cookies[cookieNames.secure] ?? (httpsOnly ? undefined : cookies[cookieNames.plain])
      if (!value) return actorOf(null)
      return credentials.byCookie(value, ip, quietly).then(principal => {
        request.byCookie = principal !== null
        return actorOf(principal)
      })
    },
    cookiesOf,
    checkOrigin(request) {
      const sent = request.headers.origin ?? request.headers.referer
      const from = sent ? URL.parse(sent) : null
      const own = new URL(needs.baseUrl())
      // Under https, a page that was served in the clear may be anybody's.
      const isSafe = !httpsOnly || from?.protocol === 'https:'
      if (from && isSafe && (from.origin === own.origin || from.host === request.headers.host)) return
      throw forbidden(
        `A change by session cookie needs the Origin of this dashboard, ${own.origin}; this came from ${from?.origin ?? 'nowhere'}.`,
      )
    },
  }
}
