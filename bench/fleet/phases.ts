import { setTimeout as sleep } from 'node:timers/promises'
import { say } from '../report.ts'
import type { Crew } from './crew.ts'
import { machineNow } from './messages.ts'
import type { Enrolled } from './messages.ts'
import type { Options } from './options.ts'
import type { Admin } from './requests.ts'
import type { Service } from './servers.ts'
import type { Watch } from './watch.ts'

/* What is done to a fleet that is there, and how long it takes. */

export interface Run {
  readonly options: Options
  readonly service: Service
  readonly admin: Admin
  readonly crew: Crew
  readonly enrolled: readonly Enrolled[]
  readonly watch: Watch
  /** What failed, and how often. */
  readonly errors: Map<string, number>
  /** What came out, to be judged at the end: seconds, or kilobytes. */
  readonly results: Map<ResultName, number>
  fail(what: string): void
  /** The worst of several counts. */
  result(name: ResultName, value: number): void
}
export type ResultName = 'memory of a host' | 'whitelist' | 'order' | 'restart'

/** Maximum number of servers in one batch of commands. */
const largestBatch = 10_000

/** How long after `since` so large a share of `count` had happened, seconds; not a number when it has not. */
const secondsUntil = (times: readonly number[], since: number, share: number, count: number): number => {
  const time = times.toSorted((a, b) => a - b)[Math.ceil(count * share) - 1]
  return time === undefined ? NaN : (time - since) / 1000
}

const saidOf = (seconds: number | undefined) =>
  seconds === undefined || Number.isNaN(seconds) ? 'never' : `after ${seconds.toFixed(2)} s`

/** Each host is there, and nothing changes. `before`: megabytes of the servers before the hosts came. */
export const measureCalm = async ({ options, crew, watch, result }: Run, before: number | null): Promise<void> => {
  await crew.until(() => false, options.calm)
  watch.describe('at rest')
  const rest = watch.look()
  if (!rest || before === null) return
  const kilobytes = ((rest.megabytes - before) * 1024) / options.agents
  result('memory of a host', kilobytes)
  say(`each agent that is there takes ${kilobytes.toFixed(1)} KB and ${(rest.files / options.agents).toFixed(2)} files`)
}

export const measureWhitelistChange = async (
  { options, admin, crew, enrolled, fail, result }: Run,
  turn: number,
): Promise<void> => {
  const before = new Set(crew.whitelists.keys())
  const asked = machineNow()
  await admin('POST', '/whitelist', { ip: `198.51.100.${turn + 1}`, description: 'fleetsim' })
  /** When each host held the new version. */
  const held = () => [...crew.whitelists].find(([version]) => !before.has(version))?.[1] ?? []
  const isEverywhere = await crew.until(() => held().length === enrolled.length, options.patience)
  const [half, most, all] = [0.5, 0.99, 1].map(share => secondsUntil(held(), asked, share, enrolled.length))
  // The server is asked at the end: to ask while it works would be a load that no operator makes.
  const ours = new Set(enrolled.map(({ id }) => id))
  const areAllSynced = async () => {
    const { servers } = await admin('GET', '/whitelist/sync-status')
    const waiting = (servers as { id: string; sync_status: string }[]).filter(
      ({ id, sync_status }) => ours.has(id) && sync_status !== 'synced',
    )
    return waiting.length === 0
  }
  const end = machineNow() + options.patience * 1000
  let isSaid = isEverywhere && (await areAllSynced())
  while (isEverywhere && !isSaid && machineNow() < end) {
    await sleep(200)
    isSaid = await areAllSynced()
  }
  const said = isSaid ? (machineNow() - asked) / 1000 : NaN
  result('whitelist', said)
  say(
    `a whitelist change was held by ${isEverywhere ? 'all ' : `${held().length} of `}${enrolled.length}: half ${saidOf(half)}, 99 % ${saidOf(most)}, all ${saidOf(all)}; the server has the word of all ${saidOf(said)}`,
  )
  if (!isEverywhere) fail(`a whitelist change did not reach everybody within ${options.patience} s`)
  else if (!isSaid) fail('a whitelist change is held by all, but the server does not say so')
}

/** A command for each host. */
export const measureOrder = async ({ options, admin, crew, enrolled, fail, result }: Run): Promise<void> => {
  const count = enrolled.length
  const seen = crew.deliveries.length
  const asked = machineNow()
  const batches: string[] = []
  for (let first = 0; first < count; first += largestBatch) {
    const server_ids = enrolled.slice(first, first + largestBatch).map(({ id }) => id)
    const order = { server_ids, type: 'jail-status', params: { jail: 'sshd' } }
    batches.push(String((await admin('POST', '/commands/batch', order)).batch_id))
  }
  const accepted = (machineNow() - asked) / 1000
  if (!(await crew.until(() => crew.deliveries.length - seen >= count, options.patience)))
    fail(`commands were not delivered within ${options.patience} s`)
  const deliveries = crew.deliveries.slice(seen)
  const [half, all] = [0.5, 1].map(share => secondsUntil(deliveries, asked, share, count))
  const completed = async () => {
    let total = 0
    for (const batch of batches)
      total += Number((await admin('GET', `/commands?batch_id=${batch}&status=completed&limit=1`)).total)
    return total
  }
  let done = await completed()
  while (done < count && machineNow() < asked + options.patience * 1000) {
    await sleep(500)
    done = await completed()
  }
  result('order', all ?? NaN)
  say(
    `a batch for ${count} was accepted ${saidOf(accepted)}, delivered to half ${saidOf(half)}, to all ${saidOf(all)}, completed ${saidOf(done < count ? NaN : (machineNow() - asked) / 1000)}`,
  )
  if (done < count) fail(`only ${done} of ${count} commands completed`)
}

/** The servers are killed and come back. */
export const measureRestart = async ({ options, service, crew, enrolled, fail, result }: Run): Promise<void> => {
  await service.kill()
  say(`the servers are killed, and stay away for ${options.away} s`)
  crew.mark()
  await crew.until(() => false, options.away)
  const started = machineNow()
  await service.start()
  const ready = (machineNow() - started) / 1000
  const count = enrolled.length
  const areAllBack = await crew.until(() => crew.beats().length >= count, Math.max(300, options.patience))
  const healthy = secondsUntil(crew.beats(), started, 1, count)
  result('restart', healthy)
  if (!areAllBack) fail(`${count - crew.beats().length} agents had no heartbeat taken after the restart`)
  say(
    `after a restart the servers were ready in ${ready.toFixed(1)} s, and each agent had a heartbeat taken ${saidOf(healthy)}`,
  )
}
