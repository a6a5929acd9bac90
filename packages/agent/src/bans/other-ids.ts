import { bounds } from '@stockade/contract/limits.ts'
import type { BannedPlaces } from '../engine/banned.ts'
import { canonicalIp } from '../ip.ts'
import { cleanText } from '../text.ts'

/** Ids of one jail that are no address. */
export interface OtherIds {
  readonly count: number
  readonly ids: string[]
}

const { perJail, perHost, length } = bounds.otherIds

/** In one line, at most as long as the server takes; attackers choose the text. */
const lineOf = (id: string): string => {
  const line = cleanText(id).replace(/\s+/g, ' ').trim()
  // Cleaned again, since a cut may part a pair of surrogates.
  return (line.length > length ? `${cleanText(line.slice(0, length - 1)).slice(0, length - 1)}…` : line) || '\ufffd'
}

/**
 * What jails ban that is no address: a filter with `<F-ID>` finds user names, and `usedns = raw` names of hosts. The server gets it as a kind of its own,
 * bounded for each jail and for the host.
 * @param tells whether the server may see texts from the logs of a jail; else it gets the number only
 */
export const otherIdsOf = (banned: BannedPlaces, tells: (jail: string) => boolean): ReadonlyMap<string, OtherIds> => {
  const idsByJail = new Map<string, OtherIds>()
  let room: number = perHost
  for (const [jail, places] of banned) {
    let count = 0
    const ids: string[] = []
    const most = tells(jail) ? Math.min(perJail, room) : 0
    for (const id of places) {
      if (canonicalIp(id) !== null) continue
      count++
      if (ids.length < most) ids.push(lineOf(id))
    }
    room -= ids.length
    if (count > 0) idsByJail.set(jail, { count, ids })
  }
  return idsByJail
}
