import type { IncomingMessage } from 'node:http'
import { second } from '../core/clock.ts'

/** What is read of a body that was refused, in bytes and for how long. */
const patience = { bytes: 64 * 1024 * 1024, time: 5 * second }

/**
 * Reads what is left of a body, and drops it. Many clients look for an answer only once they have sent everything: a
 * connection that closes before is all that they would learn. Resolves at the end of the body, of the connection or of
 * our patience.
 */
export const readOut = (request: IncomingMessage): Promise<void> =>
  new Promise(resolve => {
    if (request.complete || request.destroyed) return resolve()
    let left = patience.bytes
    const stop = () => {
      clearTimeout(timer)
      request.off('data', count).off('end', stop).off('close', stop)
      resolve()
    }
    const count = (chunk: Buffer | string) => {
      left -= chunk.length
      if (left < 0) stop()
    }
    const timer = setTimeout(stop, patience.time)
    request.on('data', count).once('end', stop).once('close', stop)
  })
