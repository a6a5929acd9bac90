import { createSocket } from 'node:dgram'
import type { Socket as DatagramSocket } from 'node:dgram'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { saidBy } from '../../core/text.ts'
import { minute, second } from '../../core/clock.ts'
import type { Outgoing, Reached } from '../../outgoing/outgoing.ts'
import { bodyOf, framed } from './formats/formats.ts'
import type { Format } from './formats/formats.ts'

/** Where and how events go. */
export interface Target {
  readonly format: Format
  readonly way: 'udp' | 'stream' | 'http'
  readonly tls: boolean
  /** Whether a certificate that does not fit is refused. */
  readonly verify: boolean
  /** PEM text; null: the authorities that the system knows. */
  readonly ca: string | null
  readonly host: string
  readonly port: number
  /** Of HTTP. */
  readonly path: string
  readonly token: string | null
}
export interface Step {
  readonly name: 'resolve' | 'connect' | 'tls' | 'write' | 'answer'
  readonly ok: boolean
  readonly ms: number
  readonly detail: string
}
/** The target was not reached, or did not take what was written; the message is fit for operators and names the step. */
export class Unreached extends Error {
  readonly step: Step['name']
  constructor(step: Step['name'], message: string) {
    super(message)
    this.name = 'Unreached'
    this.step = step
  }
}
/**
 * What became of a batch. A failure is about the `events`, which the target never will take, or about the `target`, which
 * may later; `retryAfter` in milliseconds where it said so. `bytes` as they were sent.
 */
export type Outcome =
  | { readonly ok: true; readonly status: number | null; readonly bytes: number }
  | {
      readonly ok: false
      readonly about: 'events' | 'target'
      readonly status: number | null
      readonly words: string
      readonly retryAfter: number | null
      readonly bytes: number
    }

/** A way to a target, open or not. Only one call at a time. */
export interface Line {
  /** Makes the connection, or finds out whether it can be made. @throws Unreached */
  open(): Promise<void>
  isOpen(): boolean
  /** Sends formatted events; resolves when the other side has taken them, or on a stream when they are written. */
  send(messages: readonly string[]): Promise<Outcome>
  /** When a stream that was open ended without our doing; null while it did not. */
  brokenAt(): number | null
  /** Ends what is open. Answers whether the other side has surely got all that was written. */
  end(): Promise<boolean>
  /** Lets go at once: what is under way fails. */
  destroy(): void
}

export interface LineNeeds {
  readonly outgoing: Pick<Outgoing, 'reach'>
  readonly clock: () => number
  /** Hears of every step, for the test endpoint. */
  readonly note?: (step: Step) => void
  /** Milliseconds; for tests. */
  readonly times?: Partial<typeof lineTimes>
}
const lineTimes = {
  /** For each of resolving, connecting and TLS. */
  connect: 5 * second,
  write: 10 * second,
  answer: 30 * second,
  /** How long an HTTP target counts as reachable after it was. */
  fresh: minute,
}
const mostReply = 64 * 1024
const mostRetryAfter = 60 * minute

const within = <T>(ms: number, work: Promise<T>, words: string): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(words)), ms)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
const messageOf = (error: unknown, token: string | null): string => {
  const { message, code } = error as { message?: string; code?: string }
  const known: Record<string, string> = {
    ECONNREFUSED: 'nothing listens there (connection refused)',
    ECONNRESET: 'the other side broke the connection (reset)',
    EPIPE: 'the other side has closed the connection',
    ETIMEDOUT: 'no answer from that address',
    EHOSTUNREACH: 'no route to that address',
    ENETUNREACH: 'no route to that network',
  }
  return known[code ?? ''] ?? saidBy(message ?? String(error), [token])
}

/** One step on the way, timed and told of; its failure says where it happened. */
const step = async <T>(
  needs: LineNeeds,
  name: Step['name'],
  token: string | null,
  work: () => Promise<readonly [T, string]>,
): Promise<T> => {
  const started = performance.now()
  const ms = () => Math.round(performance.now() - started)
  try {
    const [value, detail] = await work()
    needs.note?.({ name, ok: true, ms: ms(), detail })
    return value
  } catch (error) {
    const detail = error instanceof Unreached ? error.message : messageOf(error, token)
    // What failed inside has told of itself.
    if (!(error instanceof Unreached) || error.step === name) needs.note?.({ name, ok: false, ms: ms(), detail })
    throw error instanceof Unreached ? error : new Unreached(name, detail)
  }
}
const resolveTarget = (target: Target, needs: LineNeeds): Promise<Reached> =>
  step(needs, 'resolve', null, async () => {
    const { connect } = { ...lineTimes, ...needs.times }
    const to = await within(
      connect,
      needs.outgoing.reach(target.host, target.port),
      `${target.host} can't be resolved in time`,
    )
    return [to, to.address]
  })

/** Waits for the event that says "open"; whatever else comes first is why not. */
const opened = <S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  ms: number,
  late: string,
): Promise<S> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error(late)), ms)
    const done = () => {
      clearTimeout(timer)
      socket.off('error', fail).off('close', closed)
    }
    const fail = (error: Error) => {
      done()
      // A second failure of the same socket is nobody's.
      socket.on('error', () => {}).destroy()
      reject(error)
    }
    const closed = () => fail(new Error('the other side closed the connection'))
    socket.once('error', fail).once('close', closed)
    socket.once(event, () => {
      done()
      resolve(socket)
    })
  })
/** A connection to the checked address and no other, with TLS where it is asked for. @throws Unreached */
const openSocket = async (target: Target, needs: LineNeeds): Promise<Socket> => {
  const times = { ...lineTimes, ...needs.times }
  const to = await resolveTarget(target, needs)
  const plain = await step(needs, 'connect', null, async () => {
    const socket = connectTcp({ host: to.address, family: to.family, port: to.port })
    await opened(socket, 'connect', times.connect, `no connection within ${times.connect / 1000} s`)
    return [socket, `${to.address} port ${to.port}`]
  })
  plain.setNoDelay(true)
  // A peer that vanished without a word is noticed after a while.
  plain.setKeepAlive(true, 10 * second)
  if (!target.tls) return plain
  // TLS tells of its failures; unheard, they would end the process.
  plain.on('error', () => {})
  return step(needs, 'tls', null, async () => {
    const socket = connectTls({
      socket: plain,
      host: to.host,
      ...(isIP(to.host) ? {} : { servername: to.host }),
      ...(target.ca === null ? {} : { ca: target.ca }),
      rejectUnauthorized: target.verify,
      minVersion: 'TLSv1.2',
    })
    try {
      await opened(socket, 'secureConnect', times.connect, `no TLS within ${times.connect / 1000} s`)
    } catch (error) {
      plain.destroy()
      throw error
    }
    const trusted = socket.authorized ? 'certificate checked' : 'certificate NOT checked'
    return [socket, `${socket.getProtocol() ?? 'TLS'}, ${trusted}`]
  })
}
const failure = (words: string, bytes: number, status: number | null = null): Outcome => ({
  ok: false,
  about: 'target',
  status,
  words,
  retryAfter: null,
  bytes,
})

/** Octet-counted messages over TCP (RFC 6587) or TLS (RFC 5425). */
const streamLine = (target: Target, needs: LineNeeds): Line => {
  const { write: writeTime } = { ...lineTimes, ...needs.times }
  let socket: Socket | null = null
  let broken: number | null = null
  let why = ''
  const watch = (made: Socket) => {
    socket = made
    broken = null
    made.on('error', error => (why = messageOf(error, null)))
    made.on('close', () => {
      if (socket !== made) return
      socket = null
      broken = needs.clock()
    })
    // Receivers say nothing that is of interest; unread, their goodbye would not be noticed.
    made.resume()
  }
  return {
    isOpen: () => socket !== null && socket.writable,
    brokenAt: () => broken,
    async open() {
      socket?.destroy()
      socket = null
      why = ''
      watch(await openSocket(target, needs))
    },
    async send(messages) {
      const bytes = framed(messages)
      const now = socket
      if (!now?.writable) return failure(why || 'the connection was closed', 0)
      try {
        await step(needs, 'write', null, async () => {
          const done = Promise.withResolvers<void>()
          const closed = () => done.reject(new Error(why || 'the other side closed the connection'))
          now.once('close', closed)
          now.write(bytes, error => (error ? done.reject(error) : done.resolve()))
          await within(writeTime, done.promise, `nothing is taken any more (${writeTime / 1000} s)`).finally(() =>
            now.off('close', closed),
          )
          return [null, `${bytes.length} bytes`]
        })
        return { ok: true, status: null, bytes: bytes.length }
      } catch (error) {
        now.destroy()
        return failure((error as Error).message, bytes.length)
      }
    },
    async end() {
      const now = socket
      if (!now) return broken === null
      socket = null
      const gone = Promise.withResolvers<boolean>()
      now.once('close', hadError => gone.resolve(!hadError))
      now.end()
      // The other side closes in turn once it has read everything.
      const clean = await within(second, gone.promise, 'late').catch(() => false)
      now.destroy()
      return clean
    },
    destroy: () => void socket?.destroy(),
  }
}

/** One datagram a message (RFC 5426). What is lost on the way is not known; that nobody listens often is. */
const datagramLine = (target: Target, needs: LineNeeds): Line => {
  let socket: DatagramSocket | null = null
  let heard: string | null = null
  const drop = () => {
    socket?.close()
    socket = null
  }
  return {
    isOpen: () => socket !== null,
    brokenAt: () => null,
    async open() {
      drop()
      heard = null
      const to = await resolveTarget(target, needs)
      const made = createSocket(to.family === 4 ? 'udp4' : 'udp6')
      made.on('error', error => (heard = messageOf(error, null)))
      await new Promise<void>((resolve, reject) => {
        made.once('error', reject)
        made.connect(to.port, to.address, () => {
          made.off('error', reject)
          resolve()
        })
      }).catch((error: unknown) => {
        made.close()
        throw new Unreached('connect', messageOf(error, null))
      })
      socket = made
    },
    async send(messages) {
      const now = socket
      if (!now) return failure('the socket was closed', 0)
      let bytes = 0
      try {
        await step(needs, 'write', null, async () => {
          for (const [index, message] of messages.entries()) {
            if (heard !== null) throw new Error(heard)
            const datagram = Buffer.from(message)
            bytes += datagram.length
            await new Promise<void>((resolve, reject) =>
              now.send(datagram, error => (error ? reject(error) : resolve())),
            )
            // A receiver's buffer holds a few hundred; nobody tells when it is full.
            if (index % 32 === 31) await new Promise(resolve => setTimeout(resolve, 1))
          }
          if (heard !== null) throw new Error(heard)
          return [null, `${bytes} bytes`]
        })
        return { ok: true, status: null, bytes }
      } catch (error) {
        drop()
        return failure((error as Error).message, bytes)
      }
    },
    async end() {
      drop()
      return true
    },
    destroy: drop,
  }
}

/** Refusals that are about what was sent; all others are about the target. */
const aboutEvents = new Set([400, 413, 415, 422])
const retryAfterOf = (header: string | undefined, now: number): number | null => {
  if (header === undefined) return null
  const ms = /^\d+$/.test(header) ? Number(header) * second : /[a-z]{3}/i.test(header) ? Date.parse(header) - now : NaN
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), mostRetryAfter) : null
}
const compress = promisify(gzip)

interface Reply {
  readonly status: number
  readonly text: string
  readonly retryAfter: string | undefined
  /** It says that it takes compressed bodies; what says nothing may not know of them, and find the events malformed. */
  readonly unzips: boolean
}
/** A batch is one POST; connections are kept, bodies compressed where the target says that it takes it (RFC 7694). */
const httpLine = (target: Target, needs: LineNeeds): Line => {
  const times = { ...lineTimes, ...needs.times }
  let seen: number | null = null
  let zips = false
  const abort = new AbortController()
  const agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), {
    createConnection: (_: unknown, done: (error: Error | null, socket?: Socket) => void) => {
      openSocket(target, needs).then(
        socket => done(null, socket),
        (error: unknown) => done(error as Error),
      )
      return undefined
    },
  })
  const isUsual = target.port === (target.tls ? 443 : 80)
  const name = target.host.includes(':') && !target.host.startsWith('[') ? `[${target.host}]` : target.host
  const headers = {
    host: isUsual ? name : `${name}:${target.port}`,
    'content-type': 'application/json',
    ...(target.token === null
      ? {}
      : { authorization: `${target.format === 'collector' ? 'Splunk' : 'Bearer'} ${target.token}` }),
  }
  const post = (body: Buffer, more: Record<string, string>): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const signal = AbortSignal.any([AbortSignal.timeout(times.answer), abort.signal])
      const fail = (error: Error & { code?: string }) => {
        if (abort.signal.aborted) return reject(new Error('given up: the server is shutting down'))
        if (signal.aborted) return reject(new Error(`no answer within ${times.answer / 1000} s`))
        // The other side ended a kept connection just as it was used again: that says nothing about the target.
        const again = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        return again ? post(body, more).then(resolve, reject) : reject(error)
      }
      const outgoing = request(
        {
          agent,
          method: 'POST',
          path: target.path,
          headers: { ...headers, ...more, 'content-length': body.length },
          signal,
        },
        reply => {
          const pieces: Buffer[] = []
          let size = 0
          const done = () =>
            resolve({
              status: reply.statusCode ?? 0,
              text: Buffer.concat(pieces).subarray(0, mostReply).toString('utf8'),
              retryAfter: reply.headers['retry-after'],
              unzips: /(^|,)\s*(gzip|\*)\s*(;(?!\s*q=0(\.0*)?\s*(,|$))|,|$)/i.test(
                reply.headers['accept-encoding'] ?? '',
              ),
            })
          reply.on('data', (piece: Buffer) => {
            pieces.push(piece)
            size += piece.length
            if (size <= mostReply) return
            done()
            reply.destroy()
          })
          reply.on('end', done)
          reply.on('error', fail)
        },
      )
      outgoing.on('error', fail)
      outgoing.once('finish', () => needs.note?.({ name: 'write', ok: true, ms: 0, detail: `${body.length} bytes` }))
      outgoing.end(body)
    })
  const send = async (messages: readonly string[]): Promise<Outcome> => {
    const plain = Buffer.from(bodyOf(target.format, messages))
    const zipped = zips && plain.length > 1024
    const body = zipped ? await compress(plain) : plain
    try {
      const { status, text, retryAfter, unzips } = await step(needs, 'answer', target.token, async () => {
        const reply = await post(body, zipped ? { 'content-encoding': 'gzip' } : {})
        const said = saidBy(reply.text.slice(0, 2000), [target.token])
        const words = `HTTP ${reply.status}${said ? `: ${said}` : ''}`
        if (needs.note && (reply.status < 200 || reply.status > 299)) throw new Unreached('answer', words)
        return [reply, words]
      })
      if (status >= 200 && status <= 299) {
        seen = needs.clock()
        zips = unzips
        return { ok: true, status, bytes: body.length }
      }
      if (status === 415 && zipped) {
        zips = false
        return await send(messages)
      }
      const said = saidBy(text.slice(0, 2000), [target.token])
      const moved = status >= 300 && status <= 399 ? ' (redirects are not followed)' : ''
      return {
        ok: false,
        about: aboutEvents.has(status) ? 'events' : 'target',
        status,
        words: `HTTP ${status}${moved}${said ? `: ${said}` : ''}`,
        retryAfter: retryAfterOf(retryAfter, Date.now()),
        bytes: body.length,
      }
    } catch (error) {
      seen = null
      // Whoever wants to hear of the steps hears which one it was.
      if (!(error instanceof Unreached) || needs.note) throw error
      return failure(error.step === 'answer' ? error.message : `${error.step}: ${error.message}`, body.length)
    }
  }
  return {
    isOpen: () => seen !== null && needs.clock() - seen < times.fresh,
    brokenAt: () => null,
    async open() {
      const socket = await openSocket(target, needs)
      socket.on('error', () => {}).destroy()
      seen = needs.clock()
    },
    send,
    async end() {
      agent.destroy()
      return true
    },
    destroy() {
      abort.abort()
      agent.destroy()
    },
  }
}
export const createLine = (target: Target, needs: LineNeeds): Line =>
  ({ udp: datagramLine, stream: streamLine, http: httpLine })[target.way](target, needs)

/**
 * Sends one message over a connection of its own and waits for what the other side makes of it.
 * @throws Unreached with the step that failed
 */
export const tryOnce = async (target: Target, message: string, needs: LineNeeds): Promise<void> => {
  const line = createLine(target, needs)
  try {
    if (target.way !== 'http') await line.open()
    const sent = await line.send([message])
    if (!sent.ok) throw new Unreached(target.way === 'http' ? 'answer' : 'write', sent.words)
    if (target.way === 'http') return
    await step(needs, 'answer', null, async () => {
      // Who refuses closes, or a router says that nobody is there.
      for (let waited = 0; waited < 300; waited += 25) {
        await new Promise(resolve => setTimeout(resolve, 25))
        if (target.way === 'stream' && !line.isOpen()) {
          const { words } = (await line.send([])) as { words?: string }
          throw new Error(`it closed the connection after the message (${words ?? 'no reason given'})`)
        }
      }
      if (target.way === 'stream') return [null, 'the connection stays open; receivers of syslog do not answer']
      // An empty datagram would be a message; a failure that was heard of stands in the next send of nothing.
      const heard = await line.send([])
      if (!heard.ok) throw new Error(heard.words)
      return [null, 'nothing came back, as it should be; UDP tells no more']
    })
  } finally {
    await line.end()
  }
}
