import { Secret, TOTP } from 'otpauth'

const period = 30

const totpOf = (secret: string, account: string, issuer: string) =>
  new TOTP({ issuer, label: account, algorithm: 'SHA1', digits: 6, period, secret: Secret.fromBase32(secret) })

/** A new secret of 160 bits, in base32 (RFC 4226 recommends that length). */
export const newSecret = (): string => new Secret({ size: 20 }).base32

/** The key as the picture that authenticators read: a PNG data URI of its `otpauth://` address. */
export const qrCode = async (secret: string, account: string, issuer: string): Promise<string> => {
  const { toDataURL } = await import('./qr-picture.ts')
  return toDataURL(totpOf(secret, account, issuer).toString(), { errorCorrectionLevel: 'M', margin: 2, width: 240 })
}

/** The time step that the code belongs to (RFC 6238), one step of drift allowed; null when it is wrong. */
export const stepOf = (secret: string, code: string, now: number): number | null => {
  if (!/^\d{6}$/.test(code)) return null
  const delta = totpOf(secret, '', '').validate({ token: code, timestamp: now, window: 1 })
  return delta === null ? null : Math.floor(now / 1000 / period) + delta
}
