import { createSocket } from 'node:dgram'
import { connect } from 'node:net'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import { createServer as createHttp } from 'node:http'
import { createServer as createTcp } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { httpReceiver } from '../packages/server/src/features/siem/receivers.ts'
import type { SiemEvent } from '../packages/server/src/features/siem/event.ts'
import {
  bodyOf,
  datagramBytes,
  formatted,
  framed,
  streamBytes,
} from '../packages/server/src/features/siem/formats/formats.ts'
import type { Format } from '../packages/server/src/features/siem/formats/formats.ts'
import { createLine } from '../packages/server/src/features/siem/transport.ts'
import type { Target } from '../packages/server/src/features/siem/line.ts'
import { createOutgoing } from '../packages/server/src/outgoing/outgoing.ts'
import { aHost, startServer } from '@stockade/server/testing'
import { median, ratio, say } from './report.ts'

/*
 * `npm run bench -- siem`: events a second for each format and transport, against a bare writer of the same bytes to the same
 * receiver, and through the whole server. Look at the ratios, the rest is this machine's.
 */

const batch = 100
const rounds = 3
const seconds = Number(process.env.SECONDS ?? 0.3)

/** In a thread of its own: takes everything and keeps nothing. */
const sink = () => {
  const stream = createTcp(socket => socket.on('error', () => {}).resume())
  const web = createHttp((request, reply) => request.on('end', () => reply.end('{}')).resume())
  const udp = createSocket('udp4')
  stream.listen(0, '127.0.0.1', () =>
    web.listen(0, '127.0.0.1', () =>
      udp.bind(0, '127.0.0.1', () =>
        parentPort?.postMessage({
          stream: (stream.address() as AddressInfo).port,
          http: (web.address() as AddressInfo).port,
          udp: udp.address().port,
        }),
      ),
    ),
  )
}

const event: SiemEvent = {
  id: '019a9c4e-7b00-7abc-8def-0123456789ab',
  type: 'ban',
  severity: 5,
  timestamp: '2026-11-20T09:30:00.000Z',
  message: '203.0.113.7 banned on web-01 (jail sshd)',
  server: { id: '019a9c4e-7b00-7abc-8def-000000000001', hostname: 'web-01' },
  actor: null,
  data: {
    id: 1,
    ip: '203.0.113.7',
    jail: 'sshd',
    country: 'AT',
    asn: 'AS64496',
    log_lines: 'Nov 20 09:29:58 web-01 sshd[1]: Failed password for root from 203.0.113.7 port 4022 ssh2\n'.repeat(3),
    ban_duration: 600,
  },
}
const teller = { host: 'stockade.example', version: '1.0.0' }

/** Events a second: the median of some rounds. */
const rate = async (work: () => Promise<void> | void): Promise<number> => {
  const found: number[] = []
  for (let round = 0; round < rounds; round++) {
    const started = performance.now()
    let events = 0
    while (performance.now() - started < seconds * 1000) {
      await work()
      events += batch
    }
    found.push(events / ((performance.now() - started) / 1000))
  }
  return median(found)
}
const whole = (value: number) => Math.round(value).toLocaleString('en').padStart(10)

const bare = async (port: number, bytes: Buffer): Promise<number> => {
  const socket = connect(port, '127.0.0.1')
  await new Promise(resolve => socket.once('connect', resolve))
  const found = await rate(() => new Promise(resolve => socket.write(bytes, () => resolve())))
  socket.destroy()
  return found
}
const formats = ['syslog', 'cef', 'leef', 'json', 'collector'] as const satisfies readonly Format[]

const lines = async (ports: Record<'stream' | 'http' | 'udp', number>) => {
  const outgoing = createOutgoing({ ports: [], databases: [] })
  say(`Formatting and sending, batches of ${batch}   formatted       sent       bare      ratio`)
  for (const format of formats)
    for (const way of format === 'json' || format === 'collector'
      ? (['http'] as const)
      : (['stream', 'udp'] as const)) {
      const target: Target = {
        format,
        way,
        tls: false,
        framing: 'octet-counting',
        verify: true,
        ca: null,
        host: '127.0.0.1',
        port: ports[way],
        path: '/',
        token: null,
      }
      const most = way === 'udp' ? datagramBytes : streamBytes
      const make = () => Array.from({ length: batch }, () => formatted(format, event, teller, most))
      const line = createLine(target, { outgoing, clock: Date.now })
      await line.open()
      const sent = await rate(async () => {
        const outcome = await line.send(make())
        if (!outcome.ok) throw new Error(outcome.words)
      })
      await line.end()
      const bytes = way === 'http' ? Buffer.from(bodyOf(format, make())) : framed(make(), 'octet-counting')
      const plain = await bare(ports.stream, bytes)
      const name = `  ${format} over ${way === 'stream' ? 'TCP' : way.toUpperCase()}`.padEnd(38)
      say(
        `${name}${whole(await rate(() => void make()))} ${whole(sent)} ${whole(plain)} ${ratio(sent, plain).padStart(10)}`,
      )
    }
}

/** From a report to the receiver, through events, queue and all: `n` bans that wait, sent as fast as they go. */
const wholeWay = async (n: number) => {
  const receiver = await httpReceiver()
  const server = await startServer()
  try {
    const { client } = await server.setUp()
    const host = await aHost(server, client)
    const target = { enabled: true, format: 'json', host: '127.0.0.1', port: receiver.port, protocol: 'http' } as const
    await client.call('PATCH /siem/settings', {
      body: { ...target, events: ['ban'], flush_interval: 3600, batch_size: 1000 },
    })
    receiver.answer = () => ({ status: 503 })
    for (let start = 0; start < n; start += 1000)
      await host.client.call('POST /bans/batch', {
        body: { bans: Array.from({ length: 1000 }, (_, index) => ({ ip: `203.0.113.${index % 250}`, jail: 'sshd' })) },
      })
    while ((await client.call('GET /siem/status')).queue_size < n) await new Promise(resolve => setTimeout(resolve, 20))
    receiver.answer = null
    const started = performance.now()
    await client.call('POST /siem/flush')
    const took = (performance.now() - started) / 1000
    say(`The whole way, ${n.toLocaleString('en')} that waited: ${whole(receiver.events.length / took).trim()} a second`)
  } finally {
    await server.close()
    await receiver.stop()
  }
}

if (!isMainThread) sink()
else {
  const worker = new Worker(fileURLToPath(import.meta.url))
  const ports = await new Promise<Record<'stream' | 'http' | 'udp', number>>(resolve => worker.once('message', resolve))
  await lines(ports)
  await worker.terminate()
  await wholeWay(20_000)
}
