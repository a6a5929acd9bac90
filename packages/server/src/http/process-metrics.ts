import { readFileSync, readdirSync } from 'node:fs'
import { PerformanceObserver, constants, monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { readOr, recordOf } from '@stockade/contract/untrusted.ts'
import { createHistogram, linesOf, sampleLine } from './exposition.ts'
import type { MetricFamily, Sample } from './exposition.ts'

/* This process, under the names that clients of Prometheus give it. */

const collections = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
])
const createCollections = () => {
  const histogram = createHistogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Garbage collection by kind',
    labels: ['kind'],
    bounds: [0.001, 0.01, 0.1, 1, 2, 5],
  })
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      const { kind } = recordOf(recordOf(entry).detail)
      histogram.observe([collections.get(Number(kind)) ?? 'other'], entry.duration / 1000)
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return { family: histogram.family, close: () => observer.disconnect() }
}

type Value = readonly [name: string, help: string, read: () => number | null, type?: 'counter']
const family = ([name, help, read, type]: Value): MetricFamily => ({
  name,
  help,
  type: type ?? 'gauge',
  write(write) {
    const value = read()
    if (value !== null) write(sampleLine(name, '', value))
  },
})
/** A number of a file below /proc/self, where the system has one. */
const ofProcess = (file: string, line: RegExp) => (): number | null => {
  try {
    const [, found] = line.exec(readFileSync(`/proc/self/${file}`, 'utf8')) ?? []
    return found === undefined ? null : Number(found)
  } catch {
    return null
  }
}
const kilobytes = (line: RegExp) => {
  const read = ofProcess('status', line)
  return () => {
    const reading = read()
    return reading === null ? null : reading * 1024
  }
}
const openFiles = () => readOr(null, () => readdirSync('/proc/self/fd').length)
const startedAt = Math.round(Date.now() / 1000 - process.uptime())
const cpu = (part: 'user' | 'system') => () => process.cpuUsage()[part] / 1e6
const values: readonly Value[] = [
  ['process_cpu_user_seconds_total', 'User CPU time', cpu('user'), 'counter'],
  ['process_cpu_system_seconds_total', 'System CPU time', cpu('system'), 'counter'],
  ['process_cpu_seconds_total', 'User and system CPU time', () => cpu('user')() + cpu('system')(), 'counter'],
  ['process_start_time_seconds', 'Start of the process since 1970', () => startedAt],
  ['process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss()],
  ['process_virtual_memory_bytes', 'Virtual memory', kilobytes(/^VmSize:\s+(\d+)/m)],
  ['process_heap_bytes', 'Data segment of the process', kilobytes(/^VmData:\s+(\d+)/m)],
  ['process_open_fds', 'Open file descriptors', openFiles],
  ['process_max_fds', 'Most file descriptors that may be open', ofProcess('limits', /^Max open files\s+(\d+)/m)],
  ['nodejs_heap_size_total_bytes', 'Heap of Node.js', () => process.memoryUsage().heapTotal],
  ['nodejs_heap_size_used_bytes', 'Used part of the heap of Node.js', () => process.memoryUsage().heapUsed],
  ['nodejs_external_memory_bytes', 'Memory of Node.js outside its heap', () => process.memoryUsage().external],
]

const spaces = (): MetricFamily[] =>
  (
    [
      ['total', 'space_size'],
      ['used', 'space_used_size'],
      ['available', 'space_available_size'],
    ] as const
  ).map(([part, field]) => ({
    name: `nodejs_heap_space_size_${part}_bytes`,
    help: `Spaces of the heap of Node.js, ${part}`,
    type: 'gauge',
    write: write =>
      write(
        linesOf(
          `nodejs_heap_space_size_${part}_bytes`,
          ['space'],
          getHeapSpaceStatistics().map((space): Sample => [[space.space_name.replace(/_space$/, '')], space[field]]),
        ),
      ),
  }))
const activeResources = (): MetricFamily => ({
  name: 'nodejs_active_resources',
  help: 'What keeps the event loop alive, by type',
  type: 'gauge',
  write: write =>
    write(
      linesOf(
        'nodejs_active_resources',
        ['type'],
        [...Map.groupBy(process.getActiveResourcesInfo(), type => type)].map(([type, all]): Sample => [
          [type],
          all.length,
        ]),
      ),
    ),
})
const version = (): MetricFamily => {
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.')
  return {
    name: 'nodejs_version_info',
    help: 'Version of Node.js',
    type: 'gauge',
    write: write =>
      write(
        linesOf(
          'nodejs_version_info',
          ['version', 'major', 'minor', 'patch'],
          [[[process.version, major, minor, patch], 1]],
        ),
      ),
  }
}

const lagHelp = 'Delay of the event loop since the last scrape'
/** Delays of timers of 10 ms. The sampling begins again with each scrape. */
const createLag = () => {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  let seconds: Readonly<Record<string, number>> = {}
  const take = () => {
    const part = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0)
    seconds = {
      '': part(delay.mean),
      min_: part(delay.min),
      max_: part(delay.max),
      mean_: part(delay.mean),
      stddev_: part(delay.stddev),
      p50_: part(delay.percentile(50)),
      p90_: part(delay.percentile(90)),
      p99_: part(delay.percentile(99)),
    }
    delay.reset()
  }
  const nameOf = (part: string) => `nodejs_eventloop_lag_${part}seconds`
  const parts = ['', 'min_', 'max_', 'mean_', 'stddev_', 'p50_', 'p90_', 'p99_']
  const families = parts.map((part): MetricFamily => {
    const name = nameOf(part)
    const help = part === '' ? `${lagHelp}, mean` : `${lagHelp}, ${part.slice(0, -1)}`
    return {
      name,
      help,
      type: 'gauge',
      write(write) {
        // The first of them takes the figures of all.
        if (part === '') take()
        write(sampleLine(name, '', seconds[part] ?? 0))
      },
    }
  })
  return { families, close: () => void delay.disable() }
}

/** `close` ends the observers. */
export const createProcessMetrics = (): { readonly families: readonly MetricFamily[]; close(): void } => {
  const garbage = createCollections()
  const lag = createLag()
  return {
    families: [...values.map(family), ...spaces(), activeResources(), version(), garbage.family, ...lag.families],
    close() {
      garbage.close()
      lag.close()
    },
  }
}
