import { isIPv4, isIPv6 } from 'node:net'
import { fieldsOf, typeNames } from '../event.ts'
import type { SiemEvent } from '../event.ts'
import { inSyslog } from './syslog.ts'
import { fitted, visible } from './text.ts'

/** In the header `\` and `|` are escaped; a line break has no escape there. */
const header = (text: string): string => visible(text).replace(/[\\|]/g, '\\$&')
const breaks: Record<string, string> = { '\n': '\\n', '\r': '\\r' }
/** In the extension `\` and `=` are escaped, and line breaks are `\n` and `\r`; a pipe is not. */
const value = (text: string): string => visible(text, '\n\r').replace(/[\\=\n\r]/g, char => breaks[char] ?? `\\${char}`)

/** An address has a key of its own by its family; a range is no address and goes into a text. */
const addressOf = (ip: string | null): Record<string, string> => {
  if (ip === null) return {}
  if (isIPv4(ip)) return { src: ip }
  if (isIPv6(ip)) return { c6a2: ip, c6a2Label: 'Source IPv6 Address' }
  return { cs2: ip, cs2Label: 'network' }
}

const render = (event: SiemEvent, version: string): string => {
  const { ip, jail, server, user, banDuration } = fieldsOf(event)
  const { name, act } = typeNames[event.type]
  const extension: Record<string, string | null> = {
    rt: String(Date.parse(event.timestamp)),
    externalId: event.id,
    act,
    ...addressOf(ip),
    dhost: server,
    suser: user,
    ...(jail === null ? {} : { cs1: jail, cs1Label: 'jail' }),
    ...(banDuration === null ? {} : { cn1: String(banDuration), cn1Label: 'banDuration' }),
    msg: event.message,
  }
  const pairs = Object.entries(extension).flatMap(([key, text]) => (text === null ? [] : [`${key}=${value(text)}`]))
  return `CEF:0|Stockade|Stockade|${header(version)}|${event.type}|${header(name)}|${event.severity}|${pairs.join(' ')}`
}

/**
 * ArcSight Common Event Format, CEF:0 (Micro Focus "Implementing ArcSight Common Event Format", revision 25), in a
 * message of RFC 5424; `most` in bytes.
 */
export const cefOf = (event: SiemEvent, host: string, version: string, most: number): string =>
  fitted(event, most, given => inSyslog(given, host, render(given, version)))
