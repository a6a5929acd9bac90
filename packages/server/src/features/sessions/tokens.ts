import { SignJWT, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { times } from '@stockade/contract/limits.ts'
import type { Clock } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'

export interface Tokens {
  /** An access token (RFC 9068 type) for a session, good for an hour. */
  sign(userId: number, session: SessionClaim): Promise<string>
  /** What it says of its session; null for anything else: other algorithm, key, issuer or type, expired, truncated. */
  verify(token: string): Promise<SessionClaim | null>
}
/** A session by its id, and a secret that storage knows the digest of only: a stolen database with its key makes no token. */
export interface SessionClaim {
  readonly id: string
  readonly secret: string
}
/** The secret of a session's access tokens; its refresh token contains it as well. */
export const accessSecret = (refreshToken: string): string => sha256(`access ${refreshToken}`)

const claims = { issuer: 'stockade', audience: 'stockade-api' } as const

export const createTokens = (key: Uint8Array, clock: Clock): Tokens => {
  // A verification costs 20 us, a look-up half a microsecond. The session itself is checked on every request.
  const claimCache = new LRUCache<string, { claim: SessionClaim; until: number }>({ max: 5000 })
  return {
    sign: (userId, { id, secret }) =>
      new SignJWT({ sid: id, ssk: secret })
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
        .setIssuer(claims.issuer)
        .setAudience(claims.audience)
        .setSubject(String(userId))
        .setIssuedAt(Math.floor(clock() / 1000))
        .setExpirationTime(Math.floor(clock() / 1000) + times.accessToken)
        .sign(key),
    async verify(token) {
      const hash = sha256(token)
      const cached = claimCache.get(hash)
      if (cached) return cached.until > clock() ? cached.claim : null
      try {
        const { payload } = await jwtVerify(token, key, {
          ...claims,
          algorithms: ['HS256'],
          typ: 'at+jwt',
          requiredClaims: ['exp', 'sub', 'sid', 'ssk'],
          currentDate: new Date(clock()),
        })
        const { sid: id, ssk: secret } = payload
        if (typeof id !== 'string' || typeof secret !== 'string') return null
        const claim = { id, secret }
        claimCache.set(hash, { claim, until: (payload.exp ?? 0) * 1000 })
        return claim
      } catch {
        return null
      }
    },
  }
}
