import type { Ban } from '../../api/queries.ts'

/** The range that an address shares with its neighbours: a /24, or a /64 of IPv6. */
export const rangeAround = (ip: string): string => {
  const v4 = /^(\d+\.\d+\.\d+)\.\d+$/.exec(ip)
  return v4 ? `${v4[1] ?? ''}.0/24` : `${ip}/64`
}

export interface Neighbour {
  readonly ip: string
  readonly count: number
}
/** Each address of some bans once, with how often it was banned in all, most often first. */
export const neighboursOf = (bans: readonly (Ban & { readonly occurrences?: number })[]): readonly Neighbour[] => {
  const counts = new Map<string, number>()
  for (const { ip, occurrences } of bans) counts.set(ip, occurrences ?? (counts.get(ip) ?? 0) + 1)
  return [...counts].map(([ip, count]) => ({ ip, count })).sort((a, b) => b.count - a.count)
}
