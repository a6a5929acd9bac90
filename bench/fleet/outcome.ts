import { judge, say } from '../report.ts'
import { Histogram } from './histogram.ts'
import type { Options } from './options.ts'
import type { ResultName } from './phases.ts'
import type { Admin } from './requests.ts'

/* What came out of a run: whether all is stored, latencies, and goals. */

/** How often each ban is stored, by its event id. */
const storedSince = async (admin: Admin, from: string): Promise<ReadonlyMap<string, number>> => {
  const found = new Map<string, number>()
  for (let page = 1; ; page++) {
    const list = (await admin('GET', `/bans?from=${from}&limit=100&page=${page}`)).bans as { event_id: string }[]
    for (const { event_id } of list) found.set(event_id, (found.get(event_id) ?? 0) + 1)
    if (list.length < 100) return found
  }
}
/** Of the bans that the server acknowledged: how many are not stored, and how many more than once. */
export const readBack = async (admin: Admin, acknowledged: ReadonlySet<string>, from: string) => {
  const stored = await storedSince(admin, from)
  const times = [...acknowledged].map(id => stored.get(id) ?? 0)
  return { lost: times.filter(count => count === 0).length, doubled: times.filter(count => count > 1).length }
}

/** Whether an error counts: a server that is killed breaks connections. */
export const isGrave = (what: string, isKilled: boolean): boolean =>
  !isKilled || !/ECONN|EPIPE|socket hang up|no answer|50\d/.test(what)

export const printLatencies = (latencies: ReadonlyMap<string, Histogram>) => {
  say()
  say(`${'request'.padEnd(24)}${['count', 'p50 ms', 'p99 ms', 'max ms'].map(name => name.padStart(10)).join('')}`)
  for (const [name, histogram] of [...latencies].sort(([a], [b]) => a.localeCompare(b)))
    say(
      `${name.padEnd(24)}${String(histogram.total).padStart(10)}${[0.5, 0.99, 1].map(share => histogram.at(share).toFixed(1).padStart(10)).join('')}`,
    )
}
/** Heartbeats of several phases as one. */
const beatsOf = (latencies: ReadonlyMap<string, Histogram>, ...phases: readonly string[]) => {
  const all = new Histogram()
  for (const phase of phases) {
    const histogram = latencies.get(`heartbeat (${phase})`)
    if (histogram) all.merge(histogram.data())
  }
  return all.at(0.99)
}
export const printGoals = (
  options: Options,
  results: ReadonlyMap<ResultName, number>,
  latencies: ReadonlyMap<string, Histogram>,
) => {
  const result = (name: ResultName) => results.get(name) ?? NaN
  say()
  if (options.calm > 0) {
    if (!options.url) judge('memory of the servers for each host, at most', result('memory of a host'), 10, ' KB')
    judge('heartbeats at rest, p99, at most', beatsOf(latencies, 'calm'), 50, ' ms')
  }
  const changes = beatsOf(latencies, 'whitelist', 'order')
  // A short run may have none in them.
  if (!Number.isNaN(changes)) judge('heartbeats during a change for all, p99, at most', changes, 500, ' ms')
  if (options.whitelistChanges > 0)
    judge('a whitelist change acknowledged by all, at most', result('whitelist'), 5, ' s')
  if (options.batches > 0) judge('an order delivered to all, at most', result('order'), 5, ' s')
  if (options.kill) judge('healthy after a restart, at most', result('restart'), 120, ' s')
}
