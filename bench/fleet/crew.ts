import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cpuOf } from '../processes.ts'
import { Histogram } from './histogram.ts'
import { machineNow } from './messages.ts'
import type { Instruction, Message, Place, Slice } from './messages.ts'

const script = fileURLToPath(new URL('./worker.ts', import.meta.url))

/** The worker processes together: what they saw so far, and what they are told. Times as `machineNow` tells them. */
export interface Crew {
  /** When hosts held each version of the whitelist. */
  readonly whitelists: ReadonlyMap<string, readonly number[]>
  readonly deliveries: readonly number[]
  /** Event ids of bans that the server acknowledged. */
  readonly bans: ReadonlySet<string>
  /** The first heartbeat of each host since the last `mark`. */
  beats(): readonly number[]
  mark(): void
  phase(name: string): void
  attack(): void
  /** Waits until it holds or the seconds are over, and resolves to whether it holds. @throws when a worker ended */
  until(holds: () => boolean, seconds: number): Promise<boolean>
  /** CPU seconds of all workers. */
  cpu(): number
  /** Lets the hosts send what waits, ends the workers and resolves to all that they measured. */
  stop(): Promise<{ readonly latencies: ReadonlyMap<string, Histogram>; readonly errors: ReadonlyMap<string, number> }>
}

type Sharing = Omit<Slice, 'worker' | 'workers' | 'places'>

export const startCrew = (count: number, places: readonly Place[], sharing: Sharing): Crew => {
  const whitelists = new Map<string, number[]>()
  const deliveries: number[] = []
  const bans = new Set<string>()
  const latencies = new Map<string, Histogram>()
  const errors = new Map<string, number>()
  let beats: number[] = []
  let lastMark = 0
  let crash: Error | null = null
  let isStopping = false
  let measured = 0

  const hear = (message: Message) => {
    if (message.kind === 'measured') {
      measured += 1
      for (const [name, data] of Object.entries(message.latencies)) {
        const histogram = latencies.get(name) ?? new Histogram()
        latencies.set(name, histogram)
        histogram.merge(data)
      }
      for (const [what, times] of Object.entries(message.errors)) errors.set(what, (errors.get(what) ?? 0) + times)
      return
    }
    for (const [version, times] of Object.entries(message.whitelists)) {
      const all = whitelists.get(version) ?? []
      whitelists.set(version, all)
      all.push(...times)
    }
    deliveries.push(...message.deliveries)
    for (const eventId of message.bans) bans.add(eventId)
    if (message.mark === lastMark) beats.push(...message.beats)
  }
  const workers: ChildProcess[] = []
  const tell = (instruction: Instruction) => {
    for (const worker of workers) if (worker.connected) worker.send(instruction)
  }
  for (let index = 0; index < count; index++) {
    const worker = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    workers.push(worker)
    worker.on('message', message => hear(message as Message))
    worker.once('exit', code => {
      if (!isStopping) crash = new Error(`Worker ${index + 1} ended with ${String(code)}.`)
    })
    const mine = places.filter((_, place) => place % count === index)
    const { heartbeat, startPeriod, seed } = sharing
    const slice = { heartbeat, startPeriod, seed, bansPerSecond: sharing.bansPerSecond / count }
    worker.send({
      kind: 'start',
      slice: { ...slice, worker: index, workers: count, places: mine },
    } satisfies Instruction)
  }
  // A worker disconnects after its last message; its exit may be heard before that.
  const ended = workers.map(worker => new Promise<void>(resolve => worker.once('disconnect', () => resolve())))

  return {
    whitelists,
    deliveries,
    bans,
    beats: () => beats,
    mark() {
      beats = []
      tell({ kind: 'mark', mark: ++lastMark })
    },
    phase: name => tell({ kind: 'phase', name }),
    attack: () => tell({ kind: 'attack' }),
    async until(holds, seconds) {
      const end = machineNow() + seconds * 1000
      while (!holds() && machineNow() < end) {
        if (crash) throw crash
        await sleep(10)
      }
      return holds()
    },
    cpu: () => workers.reduce((sum, { pid }) => sum + (pid === undefined ? 0 : cpuOf(pid)), 0),
    async stop() {
      isStopping = true
      tell({ kind: 'stop' })
      await Promise.all(ended)
      if (measured < count) errors.set('workers that ended too early', count - measured)
      return { latencies, errors }
    },
  }
}
