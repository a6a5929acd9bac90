import { createHash } from 'node:crypto'
import { asFields, asList, isList } from '../json.ts'
import { testJail } from './own-files.ts'
import { decodePickle } from './pickle.ts'
import type { Pickled } from './pickle.ts'
import type { ReadReply } from './socket.ts'

/** jail -> its banned addresses. */
export type BannedPlaces = ReadonlyMap<string, ReadonlySet<string>>

/** A good reply without data, which fail2ban never gives to this question. */
const unchanged: Pickled = [0, null]

/**
 * Reads fail2ban's list of bans. It comes every few seconds and may have 50,000 entries, so a reply with the bytes of the one before
 * is not read again.
 */
export const createBannedReader = () => {
  let places: BannedPlaces = new Map()
  let digest = ''
  let digestOfReply = ''
  let readAt = -Infinity

  const read: ReadReply = bytes => {
    digestOfReply = createHash('sha256').update(bytes).digest('base64')
    return digestOfReply === digest ? unchanged : decodePickle(bytes)
  }

  return {
    read,
    /** Takes the reply that `read` gave last. */
    take(reply: Pickled, at: number): void {
      readAt = at
      if (reply === null) return
      const found = new Map<string, Set<string>>()
      for (const entry of isList(reply) ? reply : []) {
        for (const [jail, ips] of Object.entries(asFields(entry)))
          if (jail !== testJail) found.set(jail, new Set(asList(ips).map(String)))
      }
      places = found
      digest = digestOfReply
    },
    places: (): BannedPlaces => places,
    readAt: (): number => readAt,
  }
}
