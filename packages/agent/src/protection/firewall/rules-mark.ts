import { createHash } from 'node:crypto'
import type { NftListings } from './nft-listings.ts'

/** A rule about a source that is written out: a ban of iptables, or one that somebody made by hand. Rules that let it in count. */
const isOfOneSource = (line: string): boolean =>
  /\bsaddr [0-9a-f.:/-]+ /.test(line) && !/\b(?:accept|return)\b/.test(line)

/**
 * Another value whenever rules of nftables changed, those of iptables-nft too. Bans and counters are left out. Null where the kernel or nft
 * does not tell. nft is started only after nftables changed.
 */
export const createRulesMark = (needs: {
  nft: NftListings
  generation: () => number | null
}): (() => Promise<string | null>) => {
  let lastMark: { readonly generation: number; readonly mark: string } | null = null
  return async () => {
    const generation = needs.generation()
    if (generation === null) return null
    if (lastMark?.generation === generation) return lastMark.mark
    const { code, stdout } = await needs.nft(['-t', '-s', 'list', 'ruleset'])
    if (code !== 0) return null
    const rules = stdout
      .split('\n')
      .filter(line => !isOfOneSource(line))
      .map(line => line.replace(/ counter packets \d+ bytes \d+/g, ' counter'))
    lastMark = { generation, mark: createHash('sha256').update(rules.join('\n')).digest('base64') }
    return lastMark.mark
  }
}
