import { createSocket } from 'node:dgram'
import type { Socket as DatagramSocket } from 'node:dgram'
import { errorText } from '@stockade/contract/error-code.ts'
import { messageOf, resolveTarget, step } from './connection.ts'
import { Unreached, failure } from './line.ts'
import type { Line, LineNeeds, Target } from './line.ts'

/** One datagram a message (RFC 5426). What is lost on the way is not known; that nobody listens often is. */
export const datagramLine = (target: Target, needs: LineNeeds): Line => {
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
      const newSocket = createSocket(to.family === 4 ? 'udp4' : 'udp6')
      newSocket.on('error', error => (heard = messageOf(error, null)))
      await new Promise<void>((resolve, reject) => {
        newSocket.once('error', reject)
        newSocket.connect(to.port, to.address, () => {
          newSocket.off('error', reject)
          resolve()
        })
      }).catch((error: unknown) => {
        newSocket.close()
        throw new Unreached('connect', messageOf(error, null))
      })
      socket = newSocket
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
        return failure(errorText(error), bytes)
      }
    },
    async end() {
      drop()
      return true
    },
    destroy: drop,
  }
}
