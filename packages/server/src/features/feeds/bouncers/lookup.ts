import { covers, ipText, parseRange } from '../../../core/ip.ts'
import type { IpRange } from '../../../core/ip.ts'
import { inSlices } from '../../../core/slices.ts'

/** Finds entries by what they hold. */
export interface Lookup {
  /** Entries that hold all of it. */
  around(asked: IpRange): string[]
  /** Entries that lie in it. */
  inside(asked: IpRange): Promise<string[]>
}

/** A step for each length of prefix that occurs: bouncers ask for each visitor. */
export const createLookup = (held: ReadonlySet<string>): Lookup => {
  const prefixes = new Set<number>()
  for (const entry of held) {
    const slash = entry.indexOf('/')
    if (slash >= 0) prefixes.add(Number(entry.slice(slash + 1)))
  }
  return {
    around(asked) {
      const bits = asked.bytes.length * 8
      const own = asked.prefix ?? bits
      const address = ipText(asked.bytes, null)
      const candidates = [...prefixes]
        .filter(prefix => prefix <= own && prefix < bits)
        .flatMap(prefix => parseRange(`${address}/${prefix}`)?.text ?? [])
      return [...(asked.prefix === null ? [address] : []), ...candidates].filter(entry => held.has(entry))
    },
    async inside(asked) {
      const entries: string[] = []
      await inSlices(held, entry => {
        const range = parseRange(entry)
        if (range && (range.prefix ?? 999) >= (asked.prefix ?? 999) && covers(asked, range)) entries.push(entry)
      })
      return entries
    },
  }
}
