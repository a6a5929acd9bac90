import { createSocket } from 'node:dgram'
import { createServer as createHttp } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { createServer as createTcp } from 'node:net'
import type { Server, Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { freePort } from '../../testing/free-port.ts'

/* Receivers for tests: they take what comes by the rules of each format, and nothing that is not to the rules. */

export interface Received {
  readonly id: string
  readonly type: string
  readonly severity: number
  readonly timestamp: string
  readonly message: string
  readonly server: { id: string; hostname: string } | null
  readonly actor: { username: string; ip: string | null } | null
  readonly data: Record<string, unknown>
}
export interface HttpReply {
  readonly status: number
  readonly text?: string
  readonly headers?: Record<string, string>
}
export interface HttpReceiver {
  readonly port: number
  /** In the order of arrival, repetitions included. */
  readonly events: Received[]
  readonly requests: { url: string; headers: IncomingMessage['headers']; events: number; gzip: boolean }[]
  /** How many connections were made. */
  connections(): number
  /** What to answer instead of 200; `cut`: the connection is broken after the body came; null: never answers. */
  answer: ((events: readonly Received[]) => HttpReply | 'cut' | null | undefined) | null
  /** Milliseconds between taking events in and saying so. */
  delay: number
  /** Breaks all connections and listens no more. */
  stop(): Promise<void>
  /** Listens again, on the same port. */
  start(): Promise<void>
}

const parse = (url: string, text: string): Received[] => {
  if (!url.startsWith('/services/collector')) return JSON.parse(text) as Received[]
  // Objects one after the other.
  return text.split('\n').map(line => {
    const { time, host, source, sourcetype, event } = JSON.parse(line) as {
      time: number
      host: string
      source: string
      sourcetype: string
      event: Received
    }
    if (source !== 'stockade' || sourcetype !== 'stockade:event' || host === '') throw new Error('not as agreed')
    if (Math.abs(time * 1000 - Date.parse(event.timestamp)) > 0.5) throw new Error('another time')
    return event
  })
}
const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      const address = server.address()
      if (typeof address === 'object' && address) resolve(address.port)
    })
  })

export const httpReceiver = async (): Promise<HttpReceiver> => {
  const sockets = new Set<Socket>()
  let receiverCount = 0
  const server = createHttp((request, reply) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const gzip = request.headers['content-encoding'] === 'gzip'
      const body = Buffer.concat(pieces)
      const url = request.url ?? ''
      const events = parse(url, (gzip ? gunzipSync(body) : body).toString('utf8'))
      receiver.requests.push({ url, headers: request.headers, events: events.length, gzip })
      const answer = receiver.answer?.(events)
      if (answer === null) return
      if (answer === 'cut') return void request.socket.destroy()
      const { status = 200, text = '{"text":"Success","code":0}', headers = {} } = answer ?? {}
      if (status >= 200 && status < 300) receiver.events.push(...events)
      if (receiver.delay === 0) return void reply.writeHead(status, headers).end(text)
      setTimeout(() => reply.writeHead(status, headers).end(text), receiver.delay)
    })
  })
  server.on('connection', socket => {
    receiverCount++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  const receiver: HttpReceiver = {
    port: await listen(server, await freePort()),
    events: [],
    requests: [],
    answer: null,
    delay: 0,
    connections: () => receiverCount,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
    async start() {
      await listen(server, receiver.port)
    },
  }
  return receiver
}

export interface LineReceiver {
  readonly port: number
  readonly messages: string[]
  /** Messages that a connection took in before it was killed count only if they were read. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** Octet counting (RFC 6587 section 3.4.1); a byte that is not to it ends the connection and is remembered. */
export const streamReceiver = async (): Promise<LineReceiver & { readonly faults: string[] }> => {
  const sockets = new Set<Socket>()
  const server = createTcp(socket => {
    sockets.add(socket)
    let rest = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', piece => {
      rest = Buffer.concat([rest, piece])
      for (;;) {
        const space = rest.indexOf(0x20)
        if (space < 0) return
        const count = rest.subarray(0, space).toString('latin1')
        if (!/^[1-9]\d{0,5}$/.test(count)) {
          receiver.faults.push(rest.subarray(0, 50).toString())
          return void socket.destroy()
        }
        const end = space + 1 + Number(count)
        if (rest.length < end) return
        receiver.messages.push(rest.subarray(space + 1, end).toString('utf8'))
        rest = rest.subarray(end)
      }
    })
  })
  const messages: string[] = []
  const faults: string[] = []
  const receiver = {
    port: await listen(server, await freePort()),
    messages,
    faults,
    async stop() {
      for (const socket of sockets) socket.resetAndDestroy()
      await new Promise(resolve => server.close(resolve))
    },
    async start() {
      await listen(server, receiver.port)
    },
  }
  return receiver
}

export const datagramReceiver = async (): Promise<LineReceiver> => {
  let socket = createSocket('udp4')
  const messages: string[] = []
  const receiver = {
    port: 0,
    messages,
    stop: () => new Promise<void>(resolve => socket.close(() => resolve())),
    async start() {
      socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
      socket.on('message', message => receiver.messages.push(message.toString('utf8')))
      await new Promise<void>(resolve => socket.bind(receiver.port, '127.0.0.1', resolve))
      receiver.port = socket.address().port
    },
  }
  await receiver.start()
  return receiver
}

/** A parameter of the structured data. */
export const paramOf = (message: string, name: string): string | null =>
  new RegExp(` ${name}="((?:[^"\\\\\\]]|\\\\.)*)"`, 'u').exec(message)?.[1]?.replace(/\\(["\\\]])/g, '$1') ?? null
