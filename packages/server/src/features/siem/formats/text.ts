import type { SiemEvent } from '../event.ts'

/**
 * Text fit for a line of a log: a control character becomes its picture (U+2400 to U+2421, so a line feed reads `␊`), one
 * of C1, U+2028 or U+2029 and half a character become U+FFFD. What is in `keep` stays for the format's own escapes.
 */
export const visible = (text: string, keep = ''): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]/gu, char =>
      keep.includes(char)
        ? char
        : char < ' '
          ? String.fromCharCode(0x2400 + char.charCodeAt(0))
          : char === '\x7f'
            ? '\u2421'
            : '\ufffd',
    )

const mark = '[cut]'
/** At most `bytes` of UTF-8, never half a character; a mark says that something is missing. */
export const cut = (text: string, bytes: number): string => {
  if (Buffer.byteLength(text) <= bytes) return text
  const keptBytes = Buffer.from(text.toWellFormed()).subarray(0, Math.max(0, bytes - mark.length))
  // As part of a stream: the beginning of a character that goes on is left out.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(keptBytes, { stream: true }) + mark
}

const longest = 256
const shortened = (event: SiemEvent): SiemEvent => {
  const short = (value: unknown) => (typeof value === 'string' ? cut(value, longest) : value)
  const { server, actor, data, message } = event
  return {
    ...event,
    message: cut(message, longest),
    server: server && { ...server, hostname: cut(server.hostname, longest) },
    actor: actor && { username: cut(actor.username, longest), ip: actor.ip },
    data: Object.fromEntries(
      ['ip', 'jail', 'ban_duration'].flatMap(key => (key in data ? [[key, short(data[key])]] : [])),
    ),
  }
}
/**
 * The event in at most `most` bytes: first its message is cut, and only if that is not enough its other texts; never its
 * id, type and time.
 */
export const fitted = (event: SiemEvent, most: number, render: (event: SiemEvent) => string): string => {
  const full = render(event)
  const over = Buffer.byteLength(full) - most
  if (over <= 0) return full
  const room = Buffer.byteLength(event.message) - over - mark.length
  // Escapes make a text longer than it is, so what was cut may still be too long.
  const less = room > 0 ? render({ ...event, message: cut(event.message, room) }) : full
  return Buffer.byteLength(less) <= most ? less : render(shortened(event))
}
