import { SpanCollector, subtract } from '@stockade/contract/spans.ts'
import type { Spans } from '@stockade/contract/spans.ts'
import { parseRange } from '../../core/ip.ts'

/* The cutting itself, without storage, so that threads can do it. */

/**
 * `private`: private, loopback, link-local, multicast and reserved addresses, and IPv6 that stands for IPv4. `own`: addresses of this server. `people`: where users
 * signed in from lately, and API keys of people are used.
 */
export const protectedKinds = ['private', 'whitelisted', 'own', 'managed', 'people'] as const
export type ProtectedKind = (typeof protectedKinds)[number]
export type ProtectedParts = Readonly<Record<ProtectedKind, Spans>>

export interface Cut {
  readonly spans: Spans
  readonly counts: Readonly<Record<ProtectedKind, number>>
}

export const cutBy = (parts: ProtectedParts, spans: Spans): Cut => {
  const counts = { private: 0, whitelisted: 0, own: 0, managed: 0, people: 0 }
  let left = spans
  for (const kind of protectedKinds) {
    const step = subtract(left, parts[kind])
    left = step.spans
    counts[kind] = step.touched
  }
  return { spans: left, counts }
}

export const spansOfTexts = (texts: Iterable<string>): Spans => {
  const collector = new SpanCollector()
  for (const text of texts) {
    const range = parseRange(text)
    if (range) collector.add(range)
  }
  return collector.spans()
}
