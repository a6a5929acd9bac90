import { Type } from 'typebox'
import type { Static } from 'typebox'
import { partly } from './changes.ts'
import { endpoint } from './endpoint.ts'
import { allSiemTypes } from './events.ts'
import type { SiemType } from './events.ts'
import { bounds, pages } from './limits.ts'
import { count, message, nullable, oneOf, period, resource, shape, steps, text, timestamp, uuid } from './shapes.ts'

/** All of it is an administrator's, and nothing for a key that is bound to one server. */
const siem = { tag: 'SIEM', access: 'admin', fleet: true, licence: 'siem' } as const

export const siemFormat = oneOf(['syslog', 'cef', 'leef', 'json', 'collector'], { title: 'SiemFormat' })
export const siemType = oneOf(Object.keys(allSiemTypes) as SiemType[], { title: 'SiemEventType' })
const eventTypes = Type.Array(siemType, { maxItems: Object.keys(allSiemTypes).length })
const percent = nullable(Type.Number({ minimum: 0, maximum: 100 }))

/** What is both read and written; a target's host, path and certificate can be taken away with null. */
const target = {
  enabled: Type.Boolean(),
  format: siemFormat,
  host: nullable(text(1, bounds.hostname)),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  protocol: oneOf(['tcp', 'udp', 'http', 'https']),
  tls_enabled: Type.Boolean(),
  tls_verify: Type.Boolean(),
  /** PEM text of the authority that signed the target's certificate. */
  ca_cert: nullable(text(1, 64 * 1024)),
  /** Of an HTTP target. */
  path: nullable(Type.String({ pattern: '^/[!-~]*$', minLength: 1, maxLength: 2048 })),
  events: eventTypes,
  min_severity: Type.Integer({ minimum: 0, maximum: 10 }),
  batch_size: Type.Integer({ minimum: 1, maximum: 1000 }),
  flush_interval: Type.Integer({ minimum: 1, maximum: 3600 }),
}
export const siemSettings = resource('SiemSettings', { ...target, token_set: Type.Boolean() })
export type SiemSettings = Static<typeof siemSettings>

export const getSiemSettings = endpoint({
  ...siem,
  method: 'GET',
  path: '/siem/settings',
  summary: 'Read the SIEM settings',
  description: 'The token is never returned; `token_set` says whether there is one.',
  status: 200,
  reply: siemSettings,
})

export const updateSiemSettings = endpoint({
  ...siem,
  method: 'PATCH',
  path: '/siem/settings',
  stepUp: true,
  summary: 'Change the SIEM settings',
  description:
    '`enabled: true` needs a host. `syslog`, `cef` and `leef` travel as RFC 5424 over UDP, TCP or, with `tls_enabled`, TLS; for `json` and `collector` `tcp` means http, and https with `tls_enabled`. `token` is for HTTP targets: sent as `Splunk …` to the collector, as `Bearer …` otherwise; with another host it has to be sent again. `flush_interval` is in seconds.',
  body: partly({ ...target, token: nullable(text(0, 1024)) }),
  status: 200,
  reply: message,
})

export const testSiem = endpoint({
  ...siem,
  method: 'POST',
  path: '/siem/test',
  summary: 'Send a test event',
  description:
    'Works while forwarding is off, and passes every filter. Where the target is not reached: 400 with the error `Connection failed`, and the step that failed in the message. `steps` tells of each step with its time; the body of that 400 has it, too.',
  status: 200,
  reply: shape({
    message: Type.String(),
    event_id: uuid,
    steps: steps('SiemStep', ['resolve', 'connect', 'tls', 'write', 'answer']),
  }),
})

export const siemStatus = endpoint({
  ...siem,
  method: 'GET',
  path: '/siem/status',
  summary: 'Whether events arrive',
  description: '`uptime_percent` is the share of the last 24 hours in which the target was reachable.',
  status: 200,
  reply: shape({
    enabled: Type.Boolean(),
    connected: Type.Boolean(),
    queue_size: count,
    events_sent_today: count,
    events_failed_today: count,
    last_event: nullable(timestamp),
    last_error: nullable(Type.String()),
    uptime_percent: percent,
  }),
})

export const siemQueue = endpoint({
  ...siem,
  method: 'GET',
  path: '/siem/queue',
  summary: 'What waits to be sent',
  description: 'Newest first.',
  query: shape({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pages.queue.maximum, default: pages.queue.default })),
  }),
  status: 200,
  reply: shape({
    queue_size: count,
    events: Type.Array(
      resource('QueuedEvent', { id: uuid, type: siemType, created_at: timestamp, retry_count: count }),
    ),
  }),
})

export const flushSiem = endpoint({
  ...siem,
  method: 'POST',
  path: '/siem/flush',
  summary: 'Send the queue now',
  status: 200,
  reply: shape({ message: Type.String(), events_sent: count, events_failed: count }),
  refusals: [409],
})

export const discardSiemQueue = endpoint({
  ...siem,
  method: 'DELETE',
  path: '/siem/queue',
  summary: 'Discard the queue',
  status: 200,
  reply: shape({ message: Type.String(), events_discarded: count }),
})

export const siemDeliveries = endpoint({
  ...siem,
  method: 'GET',
  path: '/siem/deliveries',
  summary: 'The last attempts to deliver',
  description:
    'Newest first, at most 100. `status` is the HTTP status where there is one; `next_try` is when a failed attempt is repeated.',
  status: 200,
  reply: shape({
    deliveries: Type.Array(
      resource('SiemDelivery', {
        at: timestamp,
        events: count,
        bytes: count,
        ok: Type.Boolean(),
        status: nullable(Type.Integer()),
        error: nullable(Type.String()),
        next_try: nullable(timestamp),
      }),
    ),
  }),
})

export const siemStats = endpoint({
  ...siem,
  method: 'GET',
  path: '/siem/stats',
  summary: 'Statistics of forwarding',
  query: shape({ period: Type.Optional(period) }),
  status: 200,
  reply: shape({
    period,
    total_events: count,
    by_type: Type.Record(Type.String(), count),
    by_hour: Type.Array(resource('HourEventCount', { hour: Type.Integer({ minimum: 0, maximum: 23 }), count })),
    delivery_stats: resource('DeliveryStats', { sent: count, failed: count, retried: count, success_rate: percent }),
  }),
})

const eventType = resource('EventType', {
  id: siemType,
  name: Type.String(),
  description: Type.String(),
  default_severity: Type.Integer({ minimum: 0, maximum: 10 }),
})
export const listEventTypes = endpoint({
  ...siem,
  method: 'GET',
  path: '/siem/event-types',
  summary: 'Event types that can be forwarded',
  status: 200,
  reply: shape({
    event_types: Type.Array(eventType),
    /** Accepted in `events`, too, and off unless asked for. */
    additional_event_types: Type.Array(eventType),
  }),
})

export const startReplay = endpoint({
  ...siem,
  method: 'POST',
  path: '/siem/replay',
  summary: 'Send past events again',
  description: 'Those from `from` (inclusive) to `to` (exclusive), of all types or those of `event_types`.',
  body: shape({ from: timestamp, to: timestamp, event_types: Type.Optional(eventTypes) }),
  status: 200,
  reply: shape({ message: Type.String(), events_to_replay: count, job_id: uuid }),
  refusals: [409],
})

export const getReplay = endpoint({
  ...siem,
  method: 'GET',
  path: '/siem/replay/{jobId}',
  summary: 'How far a replay is',
  params: shape({ jobId: uuid }),
  status: 200,
  reply: shape({
    job_id: uuid,
    status: oneOf(['running', 'completed', 'failed']),
    total_events: count,
    events_sent: count,
    events_failed: count,
    progress_percent: Type.Number({ minimum: 0, maximum: 100 }),
    started_at: timestamp,
  }),
  refusals: [404],
})
