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
      const addressesByJail = new Map<string, Set<string>>()
      for (const entry of isList(reply) ? reply : []) {
        for (const [jail, ips] of Object.entries(asFields(entry)))
          if (jail !== testJail) addressesByJail.set(jail, new Set(asList(ips).map(String)))
      }
      places = addressesByJail
      digest = digestOfReply
    },
    places: (): BannedPlaces => places,
    readAt: (): number => readAt,
  }
}

/** A line of `get JAIL banip --with-time`: the id, its time, its length in seconds, its end. Times are in the time zone of fail2ban. */
const heldBan = /^(\S.*?) \t(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) \+ (-?\d+) = /

/** From when a ban lasts and how long, in seconds; `seconds` -1: for ever. `from` is right where fail2ban runs in the time zone of the agent. */
export interface BanLength {
  readonly from: number
  readonly seconds: number
}
export type BanLengths = ReadonlyMap<string, BanLength>

/** Reads how long the bans of a jail last, through `ask`. A reply with the bytes of the jail's one before is not read again. */
export const createLengthReader = (ask: (jail: string, read: ReadReply) => Promise<Pickled>) => {
  const replyByJail = new Map<string, { readonly digest: string; readonly lengths: BanLengths }>()
  return async (jail: string): Promise<BanLengths> => {
    const before = replyByJail.get(jail)
    let digest = ''
    const reply = await ask(jail, bytes => {
      digest = createHash('sha256').update(bytes).digest('base64')
      return digest === before?.digest ? unchanged : decodePickle(bytes)
    })
    if (before && digest === before.digest) return before.lengths
    const lengths = new Map<string, BanLength>()
    for (const line of asList(reply)) {
      const [, id, day, time, seconds] = heldBan.exec(String(line)) ?? []
      if (id !== undefined) lengths.set(id, { from: Date.parse(`${day}T${time}`) / 1000, seconds: Number(seconds) })
    }
    replyByJail.set(jail, { digest, lengths })
    return lengths
  }
}
