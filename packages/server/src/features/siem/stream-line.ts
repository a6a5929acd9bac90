import type { Socket } from 'node:net'
import { errorText } from '@stockade/contract/error-code.ts'
import { second } from '../../core/clock.ts'
import { messageOf, openSocket, step, within } from './connection.ts'
import { framed } from './formats/formats.ts'
import { failure, lineTimes } from './line.ts'
import type { Line, LineNeeds, Target } from './line.ts'

/** Messages over TCP (RFC 6587) or TLS (RFC 5425). */
export const streamLine = (target: Target, needs: LineNeeds): Line => {
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
      const bytes = framed(messages, target.framing)
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
        return failure(errorText(error), bytes.length)
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
