import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { aHeartbeat, aPeerAlert, aReport } from './bans.ts'

/*
 * A load generator in a process of its own: keep-alive connections, one request at a time on each, every body new.
 * Raw sockets, because a general HTTP client would need more of the core than the server that it measures.
 */

export interface Load {
  readonly port: number
  /** Process whose CPU is counted. */
  readonly pid: number
  readonly connections: number
  readonly seconds: number
  readonly warmUp: number
  readonly method: 'GET' | 'POST'
  readonly body: keyof typeof bodies | null
  /** Each request takes the next one. */
  readonly paths: readonly string[]
  /** Each connection has one. */
  readonly tokens: readonly string[]
  readonly expect: number
  /** Never sleep: for a generator that has a core of its own. */
  readonly spin: boolean
}
export interface Measured {
  /** Requests that were answered as expected. */
  readonly done: number
  readonly errors: number
  readonly firstError: string | null
  readonly seconds: number
  /** User and system time of the server's process and its threads. */
  readonly cpuSeconds: number
  /** The same of the generator itself. */
  readonly ownCpuSeconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

const load = JSON.parse(process.argv[2] ?? '{}') as Load
const bodies = {
  report: () => aReport(),
  'report of our agent': () => aReport('agent'),
  'report with random id': () => aReport('random'),
  'alert of the peer': aPeerAlert,
  heartbeat: aHeartbeat,
  empty: () => '{}',
}
/** Clock ticks a second in /proc: 100 on every Linux that Node runs on. */
const ticks = 100
const cpuOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / ticks
}

const latencies: number[] = []
let counting = false
let stopping = false
let errors = 0
let firstError: string | null = null
let nextPath = 0
const fail = (what: string) => {
  if (stopping) return
  errors++
  firstError ??= what.slice(0, 300)
}

/** One connection that asks, waits for the whole answer, and asks again. */
const converse = (index: number): void => {
  const token = load.tokens[index % Math.max(1, load.tokens.length)]
  const socket: Socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true })
  socket.setEncoding('latin1')
  let received = ''
  let wanted = -1
  let sent = 0
  const ask = () => {
    const path = load.paths[nextPath++ % load.paths.length] ?? '/'
    const body = load.body === null ? '' : bodies[load.body]()
    received = ''
    wanted = -1
    sent = performance.now()
    socket.write(
      `${load.method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}${
        load.body === null ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      }\r\n${body}`,
    )
  }
  socket.on('connect', ask)
  socket.on('data', (piece: string) => {
    received += piece
    if (wanted < 0) {
      const head = received.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, head))?.[1]
      wanted = head + 4 + Number(length ?? 0)
    }
    if (received.length < wanted) return
    if (received.startsWith(`HTTP/1.1 ${load.expect} `)) {
      if (counting) latencies.push(performance.now() - sent)
    } else fail(received)
    if (!stopping) ask()
  })
  const again = (what: string) => {
    fail(what)
    if (!stopping) setTimeout(() => converse(index), 100)
  }
  socket.on('error', error => fail(error.message))
  socket.on('close', () => again('the connection was closed'))
}
for (let index = 0; index < load.connections; index++) converse(index)

// On a core of its own it never sleeps: waking another core costs the server several microseconds a reply on virtual
// machines, and would charge that to whoever is slow enough to let the generator fall asleep.
const spin = () => {
  if (!stopping) setImmediate(spin)
}
if (load.spin) spin()

setTimeout(() => {
  const start = { at: performance.now(), cpu: cpuOf(load.pid), own: cpuOf(process.pid) }
  counting = true
  setTimeout(() => {
    counting = false
    stopping = true
    const seconds = (performance.now() - start.at) / 1000
    const sorted = Float64Array.from(latencies).sort()
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    const measured: Measured = {
      done: latencies.length,
      errors,
      firstError,
      seconds,
      cpuSeconds: cpuOf(load.pid) - start.cpu,
      ownCpuSeconds: cpuOf(process.pid) - start.own,
      p50: at(0.5),
      p99: at(0.99),
    }
    process.stdout.write(JSON.stringify(measured), () => process.exit(0))
  }, load.seconds * 1000)
}, load.warmUp * 1000)
