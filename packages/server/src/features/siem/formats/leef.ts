import { fieldsOf } from '../event.ts'
import type { SiemEvent } from '../event.ts'
import { inSyslog } from './syslog.ts'
import { fitted, visible } from './text.ts'

/** Not the default, a tab: relays rewrite control characters. */
const delimiter = '^'
const header = (text: string): string => visible(text).replace(/[\\|]/g, '\\$&')
const breaks: Record<string, string> = { '\n': '\\n', '\r': '\\r' }
const value = (text: string): string =>
  visible(text, '\n\r').replace(/[\\=^\n\r]/g, char => breaks[char] ?? `\\${char}`)

const render = (event: SiemEvent, version: string): string => {
  const { ip, jail, server, user, banDuration } = fieldsOf(event)
  const attributes: Record<string, string | null> = {
    devTime: event.timestamp,
    devTimeFormat: "yyyy-MM-dd'T'HH:mm:ss.SSSX",
    // From 1 to 10 here.
    sev: String(Math.max(1, event.severity)),
    externalId: event.id,
    src: ip,
    identHostName: server,
    usrName: user,
    jail,
    banDuration: banDuration === null ? null : String(banDuration),
    msg: event.message,
  }
  const pairs = Object.entries(attributes).flatMap(([key, text]) => (text === null ? [] : [`${key}=${value(text)}`]))
  return `LEEF:2.0|Stockade|Stockade|${header(version)}|${event.type}|${delimiter}|${pairs.join(delimiter)}`
}

/**
 * IBM QRadar's Log Event Extended Format 2.0 ("LEEF format guide"), attributes separated by `^`, in a message of RFC 5424;
 * `most` in bytes. Inside values `\`, `=` and `^` are escaped with a backslash, line breaks are `\n` and `\r`.
 */
export const leefOf = (event: SiemEvent, host: string, version: string, most: number): string =>
  fitted(event, most, given => inSyslog(given, host, render(given, version)))
