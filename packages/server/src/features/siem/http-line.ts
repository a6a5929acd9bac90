import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { errorOf } from '@stockade/contract/error-code.ts'
import { readOr, recordOf } from '@stockade/contract/untrusted.ts'
import { saidBy } from '../../core/text.ts'
import { minute, second } from '../../core/clock.ts'
import { openSocket, step } from './connection.ts'
import { bodyOf } from './formats/formats.ts'
import { Unreached, failure, lineTimes } from './line.ts'
import type { Line, LineNeeds, Outcome, Target } from './line.ts'

const mostReply = 64 * 1024
const mostRetryAfter = 60 * minute

/** Refusals that are about what was sent; all others are about the target. */
const aboutEvents = new Set([400, 413, 415, 422])
/**
 * Of a 400 of the event collector the codes that are about what was sent: no data, invalid format, event missing, event blank, indexed
 * fields. The others are about the target: its index (7), channel (10, 11), acknowledgement (14), token.
 */
const eventCodes = new Set([5, 6, 12, 13, 15])
const isAboutEvents = ({ format }: Target, { status, text }: Reply): boolean => {
  if (!aboutEvents.has(status)) return false
  if (format !== 'collector' || status !== 400) return true
  const { code } = recordOf(readOr(null, (): unknown => JSON.parse(text)))
  return code === undefined || eventCodes.has(Number(code))
}
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
export const httpLine = (target: Target, needs: LineNeeds): Line => {
  const times = { ...lineTimes, ...needs.times }
  let lastStatus: number | null = null
  let zips = false
  const abort = new AbortController()
  const agent = Object.assign(new Agent({ keepAlive: true, maxSockets: 1 }), {
    createConnection: (_: unknown, done: (error: Error | null, socket?: Socket) => void) => {
      openSocket(target, needs).then(
        socket => done(null, socket),
        (error: unknown) => done(errorOf(error)),
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
      const reply = await step(needs, 'answer', target.token, async () => {
        const got = await post(body, zipped ? { 'content-encoding': 'gzip' } : {})
        const answerText = saidBy(got.text.slice(0, 2000), [target.token])
        const words = `HTTP ${got.status}${answerText ? `: ${answerText}` : ''}`
        if (needs.note && (got.status < 200 || got.status > 299)) throw new Unreached('answer', words)
        return [got, words]
      })
      const { status, text, retryAfter, unzips } = reply
      if (status >= 200 && status <= 299) {
        lastStatus = needs.clock()
        zips = unzips
        return { ok: true, status, bytes: body.length }
      }
      if (status === 415 && zipped) {
        zips = false
        return await send(messages)
      }
      const replyText = saidBy(text.slice(0, 2000), [target.token])
      const moved = status >= 300 && status <= 399 ? ' (redirects are not followed)' : ''
      return {
        ok: false,
        about: isAboutEvents(target, reply) ? 'events' : 'target',
        status,
        words: `HTTP ${status}${moved}${replyText ? `: ${replyText}` : ''}`,
        retryAfter: retryAfterOf(retryAfter, Date.now()),
        bytes: body.length,
      }
    } catch (error) {
      lastStatus = null
      // The listener learns which step failed.
      if (!(error instanceof Unreached) || needs.note) throw error
      return failure(error.step === 'answer' ? error.message : `${error.step}: ${error.message}`, body.length)
    }
  }
  return {
    isOpen: () => lastStatus !== null && needs.clock() - lastStatus < times.fresh,
    brokenAt: () => null,
    async open() {
      const socket = await openSocket(target, needs)
      socket.on('error', () => {}).destroy()
      lastStatus = needs.clock()
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
