import { createHash } from 'node:crypto'

/**
 * The id of a ban is made from what the ban is, so that table, action and a second run of the agent all give the same
 * one and the server's rule "same id, same ban" makes a report exactly once. UUID version 8 (RFC 9562): the time of the
 * ban first, as in version 7, then a hash. Ids that begin with a time lie together in the server's index, however large
 * that has become. `time` in seconds.
 */
export const banEventId = (serverId: string, jail: string, ip: string, time: number): string =>
  shape(time, `${serverId}|${jail}|${ip}|${time}`)

/** The id of the end of that ban. */
export const unbanEventId = (serverId: string, jail: string, ip: string, time: number): string =>
  shape(time, `unban|${serverId}|${jail}|${ip}|${time}`)

/** The id of something that an address did at a knock sequence; `mark` tells it from all else on this host. */
export const knockEventId = (serverId: string, mark: string): string => dashed(hashOf(`knock|${serverId}|${mark}`))

const latest = 2 ** 48 - 1

const shape = (time: number, text: string): string => {
  const bytes = hashOf(text)
  const milliseconds = Math.trunc(time * 1000)
  bytes.writeUIntBE(Math.min(latest, Math.max(0, Number.isFinite(milliseconds) ? milliseconds : 0)), 0, 6)
  return dashed(bytes)
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest().subarray(0, 16)

const dashed = (bytes: Buffer): string => {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
