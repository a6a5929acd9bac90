import { step } from './connection.ts'
import { datagramLine } from './datagram-line.ts'
import { httpLine } from './http-line.ts'
import { Unreached } from './line.ts'
import type { Line, LineNeeds, Target } from './line.ts'
import { streamLine } from './stream-line.ts'

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
      // A peer that refuses closes the connection, or a router reports that the host is unreachable.
      for (let waited = 0; waited < 300; waited += 25) {
        await new Promise(resolve => setTimeout(resolve, 25))
        if (target.way === 'stream' && !line.isOpen()) {
          const outcome = await line.send([])
          throw new Error(
            `it closed the connection after the message (${outcome.ok ? 'no reason given' : outcome.words})`,
          )
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
