import { canonicalIp } from '../ip.ts'

/** Wider ranges are never whitelisted by mistake or on purpose: two of half the Internet are the whole. */
const WIDEST = { 4: 8, 6: 16 }
const MOST = 250_000

/**
 * The entries of the list's text, canonical. Throws with a sentence unless every line is an address or range and there
 * are at least as many as the server counts: half a list would take protection away without a word.
 */
export function parseList(text: string, count: number): string[] {
  const entries: string[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const entry = canonicalIp(line)
    if (entry === null) throw new Error(`line ${index + 1} of the whitelist is not an address: the list is refused`)
    const prefix = Number(entry.split('/')[1] ?? 128)
    const widest = entry.includes(':') ? WIDEST[6] : WIDEST[4]
    if (prefix < widest) throw new Error(`${entry} in the whitelist is wider than /${widest}: the list is refused`)
    entries.push(entry)
  }
  if (entries.length < count)
    throw new Error(`the whitelist came with ${entries.length} of ${count} entries: it is refused as a whole`)
  if (entries.length > MOST) throw new Error(`the whitelist has more than ${MOST} entries: it is refused`)
  return entries
}
