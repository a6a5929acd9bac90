import { span } from '../ip.ts'

type Range = readonly [first: number, last: number]

const rangeOf = (canonical: string): Range => {
  const { first, last } = span(canonical)
  return [Number(first), Number(last)]
}

/** IPv4 addresses that are not public: private, reserved, documentation, multicast. */
const notPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
].map(rangeOf)

const size = ([first, last]: Range): number => last - first + 1
const publicAddresses = 2 ** 32 - notPublic.reduce((sum, range) => sum + size(range), 0)

/** The share of the public IPv4 addresses that these entries cover together; they may overlap. */
export const publicShare = (entries: readonly string[]): number => {
  const ranges = entries
    .filter(entry => !entry.includes(':'))
    .map(rangeOf)
    .sort(([one], [other]) => one - other)
  let covered = 0
  let end = -1
  for (const [first, last] of ranges) {
    const from = Math.max(first, end + 1)
    if (from > last) continue
    end = last
    covered += size([from, last]) - notPublic.reduce((sum, other) => sum + common([from, last], other), 0)
  }
  return covered / publicAddresses
}

/** The share of the public IPv6 addresses, 2000::/3, that they cover together. */
export const publicShareIpv6 = (entries: readonly string[]): number => {
  const { first: begin, last: most } = span('2000::/3')
  const ranges = entries
    .filter(entry => entry.includes(':'))
    .map(span)
    .sort((one, other) => (one.first < other.first ? -1 : 1))
  let covered = 0n
  let end = begin - 1n
  for (const { first, last } of ranges) {
    const from = first > end ? first : end + 1n
    const to = last < most ? last : most
    if (from > to) continue
    covered += to - from + 1n
    end = to
  }
  return Number(covered) / Number(most - begin + 1n)
}

const common = ([first, last]: Range, [otherFirst, otherLast]: Range): number =>
  Math.max(0, Math.min(last, otherLast) - Math.max(first, otherFirst) + 1)
