import { endpoints } from '@stockade/contract'
import type { ScanOutcome } from '../db/scans.ts'
import { scanOutcomes } from '../db/scans.ts'
import { createHistogram, expositionOf, linesOf } from './exposition.ts'
import type { MetricFamily, Sample, Scrape } from './exposition.ts'
import { createProcessMetrics } from './process-metrics.ts'
import { nameOf } from './request.ts'

/** What a callback answers at a scrape: one value, one by each value of the only label, or samples. Null: nothing is known. */
export type Reading = number | Readonly<Record<string, number>> | readonly Sample[] | null
interface About {
  readonly name: string
  readonly help: string
  /** The only label. */
  readonly label?: string
  readonly labels?: readonly string[]
}

export interface Metrics {
  observe(endpoint: string, status: number, seconds: number): void
  bansReported(count: number): void
  failed(where: string): void
  /** A search's statement ended after `seconds`, of which it `waited` for others. */
  scanned(outcome: ScanOutcome, seconds: number, waited: number): void
  /** Adds a value that is read at each scrape. */
  gauge(about: About, read: () => Reading): void
  /** Adds a value that only rises, under a name that ends in `_total`. */
  counter(about: About, read: () => Reading): void
  add(family: MetricFamily): void
  /** Adds what is done before each scrape. It must end soon, and must not throw. */
  before(refresh: () => Promise<void>): void
  text(scrape: Scrape): Promise<Buffer>
  close(): void
}

const isSamples = (reading: Reading): reading is readonly Sample[] => Array.isArray(reading)
const samplesOf = (reading: Reading): readonly Sample[] => {
  if (reading === null) return []
  if (typeof reading === 'number') return [[[], reading]]
  if (isSamples(reading)) return reading
  return Object.entries(reading).map(([value, count]) => [[value], count])
}
const read = (
  type: 'gauge' | 'counter',
  { name, help, label, labels = label === undefined ? [] : [label] }: About,
  reading: () => Reading,
): MetricFamily => ({ name, help, type, write: write => write(linesOf(name, labels, samplesOf(reading()))) })

/** Counts that rise one by one, by label. */
const countsByLabel = () => {
  const counts = new Map<string, number>()
  return {
    add: (label: string) => void counts.set(label, (counts.get(label) ?? 0) + 1),
    read: (): Readonly<Record<string, number>> => Object.fromEntries(counts),
  }
}
/** Replies by endpoint and status. */
const createAnswers = () => {
  const answered = new Map<string, Map<number, number>>()
  return {
    add(endpoint: string, status: number) {
      let statuses = answered.get(endpoint)
      if (!statuses) answered.set(endpoint, (statuses = new Map()))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    },
    read: (): Sample[] =>
      [...answered].flatMap(([endpoint, statuses]) =>
        [...statuses].map(([status, count]): Sample => [[endpoint, String(status)], count]),
      ),
  }
}
const longPolls = new Set(endpoints.flatMap(endpoint => (endpoint.held ? [nameOf(endpoint)] : [])))
const searchBounds = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30]

/** Metrics of the process: replies by endpoint, bans, searches, and what features add. */
export const createMetrics = (): Metrics => {
  const answers = createAnswers()
  const failures = countsByLabel()
  let bans = 0
  const duration = createHistogram({
    name: 'stockade_http_request_seconds',
    help: 'Time to answer by endpoint and class of status, without long polls',
    labels: ['endpoint', 'code'],
    bounds: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  })
  const scans = createHistogram({
    name: 'stockade_search_seconds',
    help: 'Reads of searches and top lists until their end, waiting included; a search makes one to three',
    labels: ['outcome'],
    bounds: searchBounds,
  })
  const scanWaits = createHistogram({
    name: 'stockade_search_wait_seconds',
    help: 'How long reads of searches and top lists waited for others',
    bounds: searchBounds,
  })
  // A series that begins with its first event has no rate for it.
  for (const outcome of scanOutcomes) scans.begin([outcome])
  const processMetrics = createProcessMetrics()
  const families: MetricFamily[] = [
    read(
      'counter',
      { name: 'stockade_http_requests_total', help: 'Answers by endpoint and status', labels: ['endpoint', 'status'] },
      answers.read,
    ),
    duration.family,
    read('counter', { name: 'stockade_bans_reported_total', help: 'New bans that agents reported' }, () => bans),
    read(
      'counter',
      { name: 'stockade_failures_total', help: 'Failed jobs and subscribers', label: 'where' },
      failures.read,
    ),
    scans.family,
    scanWaits.family,
    ...processMetrics.families,
  ]
  const refreshes: (() => Promise<void>)[] = []
  return {
    observe(endpoint, status, seconds) {
      answers.add(endpoint, status)
      if (!longPolls.has(endpoint)) duration.observe([endpoint, `${Math.floor(status / 100)}xx`], seconds)
    },
    bansReported: count => void (bans += count),
    failed: failures.add,
    scanned(outcome, seconds, waited) {
      scans.observe([outcome], seconds)
      scanWaits.observe([], waited)
    },
    gauge: (about, reading) => void families.push(read('gauge', about, reading)),
    counter: (about, reading) => void families.push(read('counter', about, reading)),
    add: family => void families.push(family),
    before: refresh => void refreshes.push(refresh),
    async text(scrape) {
      await Promise.all(refreshes.map(refresh => refresh()))
      return expositionOf(families, scrape)
    },
    close: processMetrics.close,
  }
}
