import { fieldsOf } from '../event.ts'
import type { SiemEvent } from '../event.ts'
import { fitted, visible } from './text.ts'

/** Facility 10: security and authorization messages. */
const facility = 10
/** From 0 to 10 to syslog's 7 (debug) to 2 (critical): 0, 1-2, 3-4, 5-6, 7-8, 9-10. */
const severities = [7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2] as const
export const syslogSeverity = (severity: number): number => severities[Math.min(10, Math.max(0, severity))] ?? 7

/** Printable US-ASCII without spaces, as all fields of the header must be (RFC 5424 section 6). */
const headerField = (text: string, most: number): string => text.replace(/[^\x21-\x7e]/g, '').slice(0, most) || '-'

/** `"`, `\` and `]` are escaped, and nothing else may be (RFC 5424 section 6.3.3). */
const param = (name: string, value: string | number | null): string =>
  value === null ? '' : ` ${name}="${visible(String(value)).replace(/["\\\]]/g, '\\$&')}"`

const headerOf = (event: SiemEvent, host: string): string =>
  `<${facility * 8 + syslogSeverity(event.severity)}>1 ${event.timestamp} ${headerField(host, 255)} stockade - ${event.type}`

/** Text in UTF-8 begins with a byte order mark (RFC 5424 section 6.4); plain US-ASCII needs none. */
const messageOf = (text: string): string => (/^[\x20-\x7e]*$/.test(text) ? text : `\ufeff${text}`)

const render = (event: SiemEvent, host: string): string => {
  const { ip, jail, server, user } = fieldsOf(event)
  const params = [
    param('id', event.id),
    param('type', event.type),
    param('severity', event.severity),
    param('ip', ip),
    param('jail', jail),
    param('server', server),
    param('user', user),
  ].join('')
  return `${headerOf(event, host)} [stockade@32473${params}] ${messageOf(visible(event.message))}`
}

/**
 * One message of RFC 5424, without framing: facility 10, APP-NAME `stockade`, MSGID the type, one element of structured
 * data. `host` is who sends it; `most` in bytes. Control characters, which RFC 5424 section 6.4 asks to avoid, become
 * visible pictures.
 */
export const syslogOf = (event: SiemEvent, host: string, most: number): string =>
  fitted(event, most, given => render(given, host))

/** The same envelope around a message of another format; no byte order mark, since its readers look for its first word. */
export const inSyslog = (event: SiemEvent, host: string, message: string): string =>
  `${headerOf(event, host)} - ${message}`
