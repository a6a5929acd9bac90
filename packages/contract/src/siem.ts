import { Type } from 'typebox'
import type { Static } from 'typebox'
import { partly } from './changes.ts'
import { endpoint } from './endpoint.ts'
import { allSiemTypes } from './events.ts'
import { bounds, pages } from './limits.ts'
import { keysOf } from './records.ts'
import { count, message, period, steps, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

/** All of it is an administrator's, and nothing for a key that is bound to one server. */
const siem = { tag: 'SIEM', access: 'admin', fleet: true, licence: 'siem' } as const

export const siemFormat = oneOf(['syslog', 'cef', 'leef', 'json', 'collector'], { title: 'SiemFormat' })
export const siemType = oneOf(keysOf(allSiemTypes), { title: 'SiemEventType' })
const eventTypes = Type.Array(siemType, { maxItems: keysOf(allSiemTypes).length })
const percent = nullable(Type.Number({ minimum: 0, maximum: 100 }))

/** What is both read and written; a target's host, path and certificate can be taken away with null. */
const target = {
  enabled: Type.Boolean(),
  format: siemFormat,
  host: field(nullable(text(1, bounds.hostname)), 'Host name or address of the target; null when it is not set.'),
  port: field(Type.Integer({ minimum: 1, maximum: 65_535 }), 'Port of the target.'),
  protocol: field(oneOf(['tcp', 'udp', 'http', 'https']), 'Transport to the target.'),
  tls_enabled: field(Type.Boolean(), 'Whether to use TLS.'),
  framing: field(
    oneOf(['octet-counting', 'newline'], { title: 'SiemFraming' }),
    'How messages on TCP and TLS are told apart: by their length (RFC 6587, RFC 5425), or by a line feed after each.',
  ),
  tls_verify: field(Type.Boolean(), 'Whether to check the certificate of the target.'),
  ca_cert: field(
    nullable(text(1, 64 * 1024)),
    'PEM text of the authority that signed the certificate of the target; null for the usual authorities.',
  ),
  path: field(
    nullable(Type.String({ pattern: '^/[!-~]*$', minLength: 1, maxLength: 2048 })),
    'Path of an HTTP target; null for the default one.',
  ),
  events: field(eventTypes, 'Types of events to forward.'),
  min_severity: field(Type.Integer({ minimum: 0, maximum: 10 }), 'Lowest severity to forward.'),
  batch_size: field(Type.Integer({ minimum: 1, maximum: 1000 }), 'Maximum number of events in one delivery.'),
  flush_interval: field(
    Type.Integer({ minimum: 1, maximum: 3600 }),
    'Maximum number of seconds that an event waits for its batch.',
  ),
}
export const siemSettings = resource('SiemSettings', {
  ...target,
  token_set: field(Type.Boolean(), 'Whether a token is stored.'),
})
export type SiemSettings = Static<typeof siemSettings>

export const getSiemSettings = endpoint('GET /siem/settings', {
  ...siem,
  summary: 'Read the SIEM settings',
  description: 'The token is never returned; `token_set` says whether there is one.',
  reply: siemSettings,
})

export const updateSiemSettings = endpoint('PATCH /siem/settings', {
  ...siem,
  lasts: true,
  summary: 'Change the SIEM settings',
  description:
    '`enabled: true` needs a host. `syslog`, `cef` and `leef` travel as RFC 5424 over UDP, TCP or, with `tls_enabled`, TLS; for `json` and `collector` `tcp` means http, and https with `tls_enabled`. `token` is for HTTP targets: sent as `Splunk …` to the collector, as `Bearer …` otherwise; with another host it has to be sent again. `flush_interval` is in seconds.',
  body: partly({
    ...target,
    token: field(nullable(text(0, 1024)), 'Token for an HTTP target; null or empty removes it. It is never returned.'),
  }),
  reply: message,
})

export const testSiem = endpoint('POST /siem/test', {
  ...siem,
  lasts: false,
  leaves: null,
  summary: 'Send a test event',
  description:
    'Works while forwarding is off, and passes every filter. Where the target is not reached: 400 with the error `Connection failed`, and the step that failed in the message. `steps` tells of each step with its time; the body of that 400 has it, too.',
  reply: shape({
    message: Type.String(),
    event_id: field(uuid, 'Id of the test event.'),
    steps: steps('SiemStep', ['resolve', 'connect', 'tls', 'write', 'answer']),
  }),
})

export const siemStatus = endpoint('GET /siem/status', {
  ...siem,
  summary: 'Whether events arrive',
  description: '`uptime_percent` is the share of the last 24 hours in which the target was reachable.',
  reply: shape({
    enabled: Type.Boolean(),
    connected: field(Type.Boolean(), 'Whether the target was reachable at the last attempt.'),
    queue_size: count,
    events_sent_today: field(count, 'Number of events sent today (UTC).'),
    events_failed_today: field(count, 'Number of events that failed today (UTC).'),
    last_event: field(nullable(timestamp), 'Time of the last event that was sent; null when there is none.'),
    last_error: nullable(Type.String()),
    uptime_percent: field(
      percent,
      'Share of the last 24 hours in which the target was reachable, in percent; null when it is unknown.',
    ),
  }),
})

export const siemQueue = endpoint('GET /siem/queue', {
  ...siem,
  summary: 'What waits to be sent',
  description: 'Newest first.',
  query: shape({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pages.queue.maximum, default: pages.queue.default })),
  }),
  reply: shape({
    queue_size: count,
    events: field(
      Type.Array(
        resource('QueuedEvent', {
          id: uuid,
          type: field(siemType, 'Type of the event.'),
          created_at: timestamp,
          retry_count: field(count, 'Number of failed attempts.'),
        }),
      ),
      'The events, newest first.',
    ),
  }),
})

export const flushSiem = endpoint('POST /siem/flush', {
  ...siem,
  lasts: false,
  leaves: null,
  summary: 'Send the queue now',
  reply: shape({ message: Type.String(), events_sent: count, events_failed: count }),
  refusals: [409],
})

export const discardSiemQueue = endpoint('DELETE /siem/queue', {
  ...siem,
  lasts: true,
  summary: 'Discard the queue',
  reply: shape({ message: Type.String(), events_discarded: field(count, 'Number of events that were discarded.') }),
})

export const siemDeliveries = endpoint('GET /siem/deliveries', {
  ...siem,
  summary: 'The last attempts to deliver',
  description:
    'Newest first, at most 100. `status` is the HTTP status where there is one; `next_try` is when a failed attempt is repeated.',
  reply: shape({
    deliveries: field(
      Type.Array(
        resource('SiemDelivery', {
          at: field(timestamp, 'Time of the attempt.'),
          events: field(count, 'Number of events.'),
          bytes: field(count, 'Size in bytes.'),
          ok: field(Type.Boolean(), 'Whether the target accepted it.'),
          status: field(nullable(Type.Integer()), 'HTTP status; null for other transports.'),
          error: nullable(Type.String()),
          next_try: field(nullable(timestamp), 'Time of the next attempt; null when there is none.'),
        }),
      ),
      'The attempts, newest first, at most 100.',
    ),
  }),
})

export const siemStats = endpoint('GET /siem/stats', {
  ...siem,
  summary: 'Statistics of forwarding',
  query: shape({ period: Type.Optional(period) }),
  reply: shape({
    period,
    total_events: count,
    by_type: Type.Record(Type.String(), count),
    by_hour: field(
      Type.Array(resource('HourEventCount', { hour: Type.Integer({ minimum: 0, maximum: 23 }), count })),
      'Number of events for each hour of the day (UTC).',
    ),
    delivery_stats: field(
      resource('DeliveryStats', {
        sent: field(count, 'Number of events that were sent.'),
        failed: field(count, 'Number of events that could not be sent.'),
        retried: field(count, 'Number of events that needed more than one attempt.'),
        success_rate: percent,
      }),
      'How deliveries ended.',
    ),
  }),
})

const eventType = resource('EventType', {
  id: siemType,
  name: Type.String(),
  description: Type.String(),
  default_severity: field(Type.Integer({ minimum: 0, maximum: 10 }), 'Severity of such events.'),
})
export const listEventTypes = endpoint('GET /siem/event-types', {
  ...siem,
  summary: 'Event types that can be forwarded',
  reply: shape({
    event_types: Type.Array(eventType),
    additional_event_types: field(Type.Array(eventType), 'Further types that `events` accepts; off by default.'),
  }),
})

export const startReplay = endpoint('POST /siem/replay', {
  ...siem,
  lasts: false,
  leaves: { what: 'replays that run', most: bounds.replays, per: 'fleet' },
  summary: 'Send past events again',
  description: 'Those from `from` (inclusive) to `to` (exclusive), of all types or those of `event_types`.',
  body: shape({ from: timestamp, to: timestamp, event_types: Type.Optional(eventTypes) }),
  reply: shape({ message: Type.String(), events_to_replay: field(count, 'Number of events to send.'), job_id: uuid }),
  refusals: [409],
})

export const getReplay = endpoint('GET /siem/replay/{jobId}', {
  ...siem,
  summary: 'How far a replay is',
  params: shape({ jobId: uuid }),
  reply: shape({
    job_id: uuid,
    status: oneOf(['running', 'completed', 'failed']),
    total_events: count,
    events_sent: count,
    events_failed: count,
    progress_percent: field(Type.Number({ minimum: 0, maximum: 100 }), 'Progress in percent.'),
    started_at: field(timestamp, 'Start of the replay.'),
  }),
  refusals: [404],
})
