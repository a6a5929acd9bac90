import type { Socket } from 'node:net'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { codeOf, errorText } from '@stockade/contract/error-code.ts'
import { second } from '../../core/clock.ts'
import { saidBy } from '../../core/text.ts'
import type { Reached } from '../../outgoing/outgoing.ts'
import { Unreached, lineTimes } from './line.ts'
import type { LineNeeds, Step, Target } from './line.ts'

export const within = <T>(ms: number, work: Promise<T>, words: string): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(words)), ms)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
export const messageOf = (error: unknown, token: string | null): string => {
  const sentenceByCode: Record<string, string> = {
    ECONNREFUSED: 'nothing listens there (connection refused)',
    ECONNRESET: 'the other side broke the connection (reset)',
    EPIPE: 'the other side has closed the connection',
    ETIMEDOUT: 'no answer from that address',
    EHOSTUNREACH: 'no route to that address',
    ENETUNREACH: 'no route to that network',
  }
  return sentenceByCode[codeOf(error) ?? ''] ?? saidBy(errorText(error), [token])
}

/** One step of the connection, timed and reported; an error names its step. */
export const step = async <T>(
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
    // The inner step has reported its own failure.
    if (!(error instanceof Unreached) || error.step === name) needs.note?.({ name, ok: false, ms: ms(), detail })
    throw error instanceof Unreached ? error : new Unreached(name, detail)
  }
}
export const resolveTarget = (target: Target, needs: LineNeeds): Promise<Reached> =>
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
      // A second error of the same socket has no listener.
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
export const openSocket = async (target: Target, needs: LineNeeds): Promise<Socket> => {
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
  // TLS emits errors; without a listener they would end the process.
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
