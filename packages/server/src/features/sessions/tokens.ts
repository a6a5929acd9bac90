import { SignJWT, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { times } from '@stockade/contract'
import type { Clock } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'

export interface Tokens {
  /** An access token (RFC 9068 type) for a session, good for an hour. */
  sign(userId: number, sessionId: string): Promise<string>
  /** The session's id; null for anything else: other algorithm, key, issuer or type, expired, truncated. */
  verify(token: string): Promise<string | null>
}

const claims = { issuer: 'stockade', audience: 'stockade-api' } as const

export const createTokens = (key: Uint8Array, clock: Clock): Tokens => {
  // A verification costs 20 us, a look-up half a microsecond. The session itself is checked on every request.
  const known = new LRUCache<string, { sessionId: string; until: number }>({ max: 5000 })
  return {
    sign: (userId, sessionId) =>
      new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
        .setIssuer(claims.issuer)
        .setAudience(claims.audience)
        .setSubject(String(userId))
        .setIssuedAt(Math.floor(clock() / 1000))
        .setExpirationTime(Math.floor(clock() / 1000) + times.accessToken)
        .sign(key),
    async verify(token) {
      const hash = sha256(token)
      const cached = known.get(hash)
      if (cached) return cached.until > clock() ? cached.sessionId : null
      try {
        const { payload } = await jwtVerify(token, key, {
          ...claims,
          algorithms: ['HS256'],
          typ: 'at+jwt',
          requiredClaims: ['exp', 'sub', 'sid'],
          currentDate: new Date(clock()),
        })
        const sessionId = typeof payload.sid === 'string' ? payload.sid : null
        if (sessionId) known.set(hash, { sessionId, until: (payload.exp ?? 0) * 1000 })
        return sessionId
      } catch {
        return null
      }
    },
  }
}
