import type { siem } from '@stockade/contract'
import type { SiemEvent } from '../event.ts'
import { cefOf } from './cef.ts'
import { collectorBatch, collectorOf } from './collector.ts'
import { jsonBatch, jsonOf } from './json.ts'
import { leefOf } from './leef.ts'
import { syslogOf } from './syslog.ts'

export type Format = siem.SiemSettings['format']
export type Framing = siem.SiemSettings['framing']

/** The largest payload of a UDP datagram over IPv4 (RFC 768: 65,535 less both headers). */
export const datagramBytes = 65_507
/** Of a message on a stream; far above what receivers must take (RFC 5425 section 4.3.1: 2,048), as the rest of what is sent is far below. */
export const streamBytes = 65_536

/** Who tells it: the host that receivers see, and the version of the product. */
export interface Teller {
  readonly host: string
  readonly version: string
}

/** One event as it is sent; `most` counts for what travels in syslog. */
export const formatted = (format: Format, event: SiemEvent, { host, version }: Teller, most: number): string => {
  switch (format) {
    case 'syslog':
      return syslogOf(event, host, most)
    case 'cef':
      return cefOf(event, host, version, most)
    case 'leef':
      return leefOf(event, host, version, most)
    case 'json':
      return jsonOf(event)
    case 'collector':
      return collectorOf(event, host)
  }
}
/** Events of an HTTP format as one body. */
export const bodyOf = (format: Format, events: readonly string[]): string =>
  format === 'collector' ? collectorBatch(events) : jsonBatch(events)

/**
 * Messages on a stream. Octet counting, so that nothing inside a message can end it (RFC 6587 section 3.4.1, RFC 5425 section 4.3); or a line
 * feed after each (RFC 6587 section 3.4.2), which none of them holds.
 */
export const framed = (messages: readonly string[], framing: Framing): Buffer =>
  Buffer.concat(
    messages.flatMap(message => {
      if (framing === 'newline') return [Buffer.from(`${message.replace(/[\r\n]+/g, ' ')}\n`)]
      const bytes = Buffer.from(message)
      return [Buffer.from(`${bytes.length} `), bytes]
    }),
  )
