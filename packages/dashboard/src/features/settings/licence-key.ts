import { recordOf } from '@stockade/contract/untrusted.ts'

/** What a licence key says of itself; whether it was signed by the right authority only the server can tell. */
export interface LicenceKey {
  readonly tier: string
  readonly serverLimit: number
  readonly registeredTo: string
  /** Null: for good. */
  readonly expiresAt: string | null
}

const decoded = (base64url: string): string => {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary, c => c.charCodeAt(0)))
}

/** Reads a key as it was pasted, maybe wrapped into lines; null where it is none. */
export const readLicenceKey = (typed: string): LicenceKey | null => {
  const [version, body, signature, ...more] = typed.replace(/\s+/g, '').split('.')
  if (version !== 'stk1' || !body || !signature || more.length > 0) return null
  try {
    const { tier, server_limit, registered_to, expires_at } = recordOf(JSON.parse(decoded(body)))
    if (typeof tier !== 'string' || typeof server_limit !== 'number' || typeof registered_to !== 'string') return null
    return {
      tier,
      serverLimit: server_limit,
      registeredTo: registered_to,
      expiresAt: typeof expires_at === 'number' ? new Date(expires_at).toISOString() : null,
    }
  } catch {
    return null
  }
}
