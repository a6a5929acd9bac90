import { canonicalIp, overlaps, span } from '../../ip.ts'

const single = /[0-9a-f.:]+(?:\/\d+)?/gi
/** An address with a prefix, or two addresses. */
const wide = /(?<![\w.:])([0-9a-f.:]+)(?:\/([\d.]+)|-([0-9a-f.:]+))(?![\w.:])/gi
/** A listing with more ranges is judged by its single words alone. */
const mostRanges = 20_000

/** The addresses and ranges that a listing names neither by themselves nor within a range. */
export const notAmong = (listing: string, ips: readonly string[]): string[] => {
  const singles = new Set(listing.match(single) ?? [])
  const absent = ips.filter(ip => !singles.has(ip))
  if (absent.length === 0) return []
  const ranges = [...listing.matchAll(wide)]
    .slice(0, mostRanges)
    .flatMap(([, first = '', prefix, last]) => rangeOf(first, prefix, last))
  return ranges.length === 0 ? absent : absent.filter(ip => !ranges.some(covers => covers(ip)))
}

const rangeOf = (first: string, prefix: string | undefined, last: string | undefined): ((ip: string) => boolean)[] => {
  if (last === undefined) {
    const range = canonicalIp(`${first}/${prefix?.includes('.') === true ? lengthOf(prefix) : prefix}`)
    return range === null ? [] : [ip => isWithinRange(ip, range)]
  }
  const [from, to] = [canonicalIp(first), canonicalIp(last)]
  if (from === null || to === null) return []
  const [low, high] = [span(from), span(to)]
  return [
    ip => {
      const own = canonicalIp(ip)
      const ownSpan = own === null ? null : span(own)
      return ownSpan !== null && ownSpan.bits === low.bits && low.first <= ownSpan.first && ownSpan.last <= high.last
    },
  ]
}

/** Whether a range holds all of an address or range. */
const isWithinRange = (ip: string, range: string): boolean => {
  const own = canonicalIp(ip)
  if (own === null) return false
  const [inner, outer] = [span(own), span(range)]
  return inner.bits === outer.bits && outer.first <= inner.first && inner.last <= outer.last
}

/** The prefix length of a netmask such as 255.255.255.0. */
const lengthOf = (mask: string): number =>
  mask.split('.').reduce((sum, part) => sum + (Number(part).toString(2).match(/1/g) ?? []).length, 0)

/** Whether a source that a rule names has an address in common with one of these; true where that is not known. */
export const mayMeet = (source: string, ips: readonly string[]): boolean => {
  const range = canonicalIp(source)
  if (range === null) return true
  return ips.some(ip => {
    const own = canonicalIp(ip)
    return own === null || overlaps(own, range)
  })
}
