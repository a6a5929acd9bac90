import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram } from './histogram.ts'
import { Host } from './host.ts'
import type { Notes, World } from './host.ts'
import { machineNow } from './messages.ts'
import type { Instruction, Message, Seen, Slice } from './messages.ts'

/* A process of the simulator: it runs a slice of the hosts as the coordinator tells it. */

/** Milliseconds between two messages to the coordinator about what happened. */
const telling = 50
/** Milliseconds that hosts have at the end to send what waits. */
const farewell = 60_000

const tell = (message: Message) =>
  new Promise<void>((resolve, reject) => {
    process.send?.(message, undefined, {}, error => (error ? reject(error) : resolve()))
  })

const latencies = new Map<string, Histogram>()
const errors = new Map<string, number>()
const delivered = new Set<string>()
let mark = 0
/** The mark at which each host's heartbeat was told last. */
const markOf = new WeakMap<Host, number>()
const nothing = () => ({
  whitelists: {} as Record<string, number[]>,
  deliveries: [] as number[],
  beats: [] as number[],
  bans: [] as string[],
})
let seen = nothing()

const notes: Notes = {
  latency(request, since) {
    const histogram = latencies.get(request) ?? new Histogram()
    latencies.set(request, histogram)
    histogram.add(performance.now() - since)
  },
  error: what => void errors.set(what, (errors.get(what) ?? 0) + 1),
  heartbeatTaken(host) {
    if (markOf.get(host) === mark) return
    markOf.set(host, mark)
    seen.beats.push(machineNow())
  },
  whitelistHeld: version => void (seen.whitelists[version] ??= []).push(machineNow()),
  commandDelivered(id) {
    if (delivered.has(id)) return
    delivered.add(id)
    seen.deliveries.push(machineNow())
  },
  banTaken: eventId => void seen.bans.push(eventId),
}
const tellSeen = async () => {
  const { whitelists, deliveries, beats, bans } = seen
  if (Object.keys(whitelists).length + deliveries.length + beats.length + bans.length === 0) return
  seen = nothing()
  await tell({ kind: 'seen', mark, whitelists, deliveries, beats, bans } satisfies Seen)
}

/** The same numbers for the same seed. */
const numbersFrom = (seed: number) => {
  let state = seed % 2_147_483_647 || 1
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

const run = (slice: Slice) => {
  const random = numbersFrom(slice.seed + slice.worker * 7919)
  const world: World = { notes, heartbeat: slice.heartbeat, phase: 'start', isStopping: false, random }
  const hosts = slice.places.map(place => new Host(world, place))
  const work = hosts.map(async host => {
    await sleep(random() * slice.startPeriod * 1000)
    await host.live()
  })
  const attack = async () => {
    const started = performance.now()
    for (let count = 0; !world.isStopping;) {
      const due = Math.floor(((performance.now() - started) / 1000) * slice.bansPerSecond)
      for (; count < due; count++) {
        const address = count * slice.workers + slice.worker
        hosts[Math.floor(random() * hosts.length)]?.ban({
          eventId: randomUUID(),
          ip: `11.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
          jail: random() < 0.7 ? 'sshd' : 'nginx-http-auth',
        })
      }
      await sleep(20)
    }
  }
  const messages = setInterval(() => void tellSeen(), telling)
  const stop = async () => {
    world.isStopping = true
    for (const host of hosts) host.hangUp()
    await Promise.race([Promise.all(work), sleep(farewell)])
    for (const host of hosts) host.disconnect()
    clearInterval(messages)
    await tellSeen()
    await tell({
      kind: 'measured',
      latencies: Object.fromEntries([...latencies].map(([name, histogram]) => [name, histogram.data()])),
      errors: Object.fromEntries(errors),
    })
    process.disconnect()
  }
  return { world, attack, stop }
}

let running: ReturnType<typeof run> | undefined
process.on('message', (instruction: Instruction) => {
  if (instruction.kind === 'start') running = run(instruction.slice)
  else if (instruction.kind === 'phase' && running) running.world.phase = instruction.name
  else if (instruction.kind === 'mark') {
    mark = instruction.mark
    seen.beats = []
  } else if (instruction.kind === 'attack') void running?.attack()
  else if (instruction.kind === 'stop') void running?.stop()
})
// Without its coordinator, or after its last message, nobody needs it.
process.on('disconnect', () => process.exit())
