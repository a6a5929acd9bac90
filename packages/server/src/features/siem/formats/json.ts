import type { SiemEvent } from '../event.ts'

/** Without halves of characters, which have no UTF-8: strict readers refuse the whole body for one. */
const wellFormed = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value)

/** The event as a JSON text (RFC 8259): all of it, in one line. */
export const jsonOf = (event: SiemEvent): string => JSON.stringify(event, wellFormed)

/** A batch as one JSON array. */
export const jsonBatch = (events: readonly string[]): string => `[${events.join(',')}]`
