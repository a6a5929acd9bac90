import { fromKey } from '../ip.ts'
import { NetlinkError } from '../netlink/connection.ts'
import type { NetlinkConnection } from '../netlink/connection.ts'
import { getElements, getRules, readElements, readRules } from '../netlink/tables.ts'
import type { FoundElement } from '../netlink/tables.ts'
import { eventLoopTurn } from '../serial.ts'
import type { Nft, Seen } from './nft.ts'
import { entranceChain, eventSets, ofMark, tableName } from './rules.ts'

/** Bytes of the mark, which follows the address in a key. The kernel keeps it in the byte order of the machine. */
const markBytes = 4

/**
 * Nft, with the netlink socket for what the agent reads every few seconds: a reading by the nft program starts it five times.
 * `connection`: null where there is no socket.
 */
export const withSocket = (nft: Nft, connection: NetlinkConnection | null): Nft =>
  connection === null ? nft : { ...nft, ...createReader(connection) }

const createReader = (connection: NetlinkConnection): Pick<Nft, 'seen' | 'entrance'> => ({
  async seen() {
    const setElements: Seen[] = []
    for (const set of eventSets) {
      const elements = orAbsent(() => readElements(connection.ask(getElements(tableName, set))))
      if (elements === null) return null
      setElements.push(...elements.flatMap(seenOf))
      // A crowd fills a set, which takes 20 ms to read.
      await eventLoopTurn()
    }
    return setElements
  },
  // A changed rule gets another handle. The kernel lists no rules where the table is gone, as where somebody flushed the chain.
  entrance: async () =>
    readRules(connection.ask(getRules(tableName, entranceChain)))
      .map(({ handle }) => handle)
      .join(' '),
})

const seenOf = ({ key, packets, expires }: FoundElement): Seen[] => {
  const at = key.length - markBytes
  const meant = at > 0 ? ofMark(key.readUInt32LE(at)) : null
  if (meant === null) return []
  const seconds = Math.floor((expires ?? 0) / 1000)
  return [{ ...meant, ip: fromKey(key.subarray(0, at)), count: packets ?? 0, expires: seconds }]
}

const orAbsent = <T>(read: () => T): T | null => {
  try {
    return read()
  } catch (error) {
    if (error instanceof NetlinkError && error.code === 'ENOENT') return null
    throw error
  }
}
