import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client'
import { scanOutcomes } from '../db/scans.ts'
import type { ScanOutcome } from '../db/scans.ts'

export interface Metrics {
  observe(endpoint: string, status: number, seconds: number): void
  bansReported(count: number): void
  failed(where: string): void
  /** A statement of a search or a top list is over; `seconds` from asking on, of which it `waited` for others. */
  scanned(outcome: ScanOutcome, seconds: number, waited: number): void
  /** Prometheus' text format. */
  text(): Promise<string>
  readonly contentType: string
}

/** What an operator watches: answers by endpoint, bans, and the health of the process. */
export const createMetrics = (gauges: {
  servers: () => { online: number; offline: number; pending: number }
  live: () => number
  /** Bytes of the write-ahead log; null where there is none. */
  log: (() => number) | null
}): Metrics => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const requests = new Counter({
    name: 'stockade_http_requests_total',
    help: 'Answers by endpoint and status',
    labelNames: ['endpoint', 'status'],
    registers,
  })
  const duration = new Histogram({
    name: 'stockade_http_request_seconds',
    help: 'Time to answer, without long polls',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers,
  })
  const bans = new Counter({ name: 'stockade_bans_reported_total', help: 'New bans that agents reported', registers })
  const failures = new Counter({
    name: 'stockade_failures_total',
    help: 'Failed jobs and subscribers',
    labelNames: ['where'],
    registers,
  })
  const scans = new Histogram({
    name: 'stockade_search_seconds',
    help: 'Reads of searches and top lists until their end, waiting included; a search makes one to three',
    labelNames: ['outcome'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const scanWaits = new Histogram({
    name: 'stockade_search_wait_seconds',
    help: 'How long reads of searches and top lists waited for others',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  for (const outcome of scanOutcomes) scans.zero({ outcome })
  const { log } = gauges
  if (log)
    new Gauge({
      name: 'stockade_sqlite_log_bytes',
      help: "Size of SQLite's write-ahead log on the disk",
      registers,
      collect() {
        this.set(log())
      },
    })
  new Gauge({
    name: 'stockade_servers',
    help: 'Servers by state',
    labelNames: ['status'],
    registers,
    collect() {
      for (const [status, count] of Object.entries(gauges.servers())) this.set({ status }, count)
    },
  })
  new Gauge({
    name: 'stockade_live_clients',
    help: 'Open live feeds',
    registers,
    collect() {
      this.set(gauges.live())
    },
  })
  /** Answers since the counter was last asked for: labels are dear, and nobody reads between two scrapes. */
  const answered = new Map<string, Map<number, number>>()
  const count = (endpoint: string, status: number) => {
    let statuses = answered.get(endpoint)
    if (!statuses) answered.set(endpoint, (statuses = new Map()))
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const settle = () => {
    for (const [endpoint, statuses] of answered)
      for (const [status, n] of statuses) requests.inc({ endpoint, status }, n)
    answered.clear()
  }
  return {
    observe(endpoint, status, seconds) {
      count(endpoint, status)
      if (!endpoint.endsWith('/commands/pending')) duration.observe(seconds)
    },
    bansReported: count => bans.inc(count),
    failed: where => failures.inc({ where }),
    scanned(outcome, seconds, waited) {
      scans.observe({ outcome }, seconds)
      scanWaits.observe(waited)
    },
    text() {
      settle()
      return registry.metrics()
    },
    contentType: registry.contentType,
  }
}
