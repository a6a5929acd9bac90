import { readJson, readText, writeDurably } from '../files.ts'
import { asFields } from '../json.ts'

/** Longer than any signature holds, for a host whose clock is set back. In seconds. */
const keptNonces = 30 * 86_400
const maxNonces = 100_000

export interface Spent {
  /** @throws Error if the nonce was used before, or if its use cannot be saved */
  spend(nonce: string, expires: number): void
}

/** Nonces of signed commands that were begun, on the disk before the command runs: a signature works once. */
export const openSpent = (path: string, now: () => number): Spent => {
  const expiresByNonce = new Map<string, number>()
  const saved = readJson(path)
  /** Used nonces may have been lost, so no signature is accepted. */
  const isDamaged = saved === null && readText(path) !== null
  for (const [nonce, expires] of Object.entries(asFields(asFields(saved)['nonces'])))
    if (typeof expires === 'number') expiresByNonce.set(nonce, expires)

  return {
    spend(nonce: string, expires: number): void {
      if (isDamaged) throw new Error(`${path} is damaged, so nobody knows which signatures were used; root removes it`)
      if (expiresByNonce.has(nonce)) throw new Error('this signature was used before')
      const oldest = now() / 1000 - keptNonces
      for (const [old, end] of expiresByNonce) if (end < oldest) expiresByNonce.delete(old)
      if (expiresByNonce.size >= maxNonces) throw new Error('this host has taken too many signed commands lately')
      expiresByNonce.set(nonce, expires)
      try {
        writeDurably(path, JSON.stringify({ v: 1, nonces: Object.fromEntries(expiresByNonce) }))
      } catch (error) {
        expiresByNonce.delete(nonce)
        throw error
      }
    },
  }
}
