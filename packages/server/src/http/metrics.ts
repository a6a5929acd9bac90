import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client'
import { scanOutcomes } from '../db/scans.ts'
import type { ScanOutcome } from '../db/scans.ts'

export interface Metrics {
  observe(endpoint: string, status: number, seconds: number): void
  bansReported(count: number): void
  failed(where: string): void
  /** A search's statement ended after `seconds`, of which it `waited` for others. */
  scanned(outcome: ScanOutcome, seconds: number, waited: number): void
  /** Adds a value that is read at each scrape; with a label, one for each of its values. */
  gauge(
    about: { readonly name: string; readonly help: string; readonly label?: string },
    read: () => number | Readonly<Record<string, number>>,
  ): void
  /** Prometheus' text format. */
  text(): Promise<string>
  readonly contentType: string
}

/** Metrics of the process: replies by endpoint, bans, searches, and the gauges that features add. */
export const createMetrics = (): Metrics => {
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
  /** Replies since the last scrape: setting labels is expensive, and nobody reads between two scrapes. */
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
    gauge({ name, help, label }, read) {
      new Gauge({
        name,
        help,
        ...(label ? { labelNames: [label] } : {}),
        registers,
        collect() {
          const values = read()
          if (typeof values === 'number') this.set(values)
          else for (const [value, count] of Object.entries(values)) this.set({ [label ?? '']: value }, count)
        },
      })
    },
    text() {
      settle()
      return registry.metrics()
    },
    contentType: registry.contentType,
  }
}
