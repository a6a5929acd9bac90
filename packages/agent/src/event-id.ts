import { createHash } from 'node:crypto'

/**
 * The id of a ban is made from what the ban is, so that table, action and a second run of the agent all give the same
 * one and the server's rule "same id, same ban" makes a report exactly once. UUID version 8 (RFC 9562).
 */
export function banEventId(serverId: string, jail: string, ip: string, time: number): string {
  return shape(`${serverId}|${jail}|${ip}|${time}`)
}

/** The id of the end of that ban. */
export function unbanEventId(serverId: string, jail: string, ip: string, time: number): string {
  return shape(`unban|${serverId}|${jail}|${ip}|${time}`)
}

/** The id of something that an address did at a knock sequence; `mark` tells it from all else on this host. */
export function knockEventId(serverId: string, mark: string): string {
  return shape(`knock|${serverId}|${mark}`)
}

function shape(text: string): string {
  const bytes = createHash('sha256').update(text, 'utf8').digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
