import type { SiemEvent } from '../event.ts'
import { jsonOf } from './json.ts'

/**
 * One object of Splunk's HTTP Event Collector ("Format events for HTTP Event Collector"): `time` in seconds, `host` the
 * server that the event is about, else `host` as given. A batch is the objects one after the other.
 */
export const collectorOf = (event: SiemEvent, host: string): string => {
  const time = (Date.parse(event.timestamp) / 1000).toFixed(3)
  const from = JSON.stringify((event.server?.hostname ?? host).toWellFormed())
  return `{"time":${time},"host":${from},"source":"stockade","sourcetype":"stockade:event","event":${jsonOf(event)}}`
}

export const collectorBatch = (events: readonly string[]): string => events.join('\n')
