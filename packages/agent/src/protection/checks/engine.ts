import { createEngineSocket, EngineDown, EngineHung } from '../../engine/socket.ts'
import { bad, ok } from '../model.ts'
import type { Check } from '../model.ts'

const deadline = 2000

/** Whether fail2ban answers, asked over a connection of its own: the agent's other requests may take long. */
export const engineCheck = (needs: { socketPath: string }): Check => ({
  id: 'engine',
  every: 5000,
  // A restart takes 2 to 3 s.
  badAfter: 15_000,
  looks: 3,
  needsEngine: false,
  async look() {
    const socket = createEngineSocket({ path: needs.socketPath, onLost: () => undefined })
    try {
      await socket.call(['ping'], deadline)
      return [ok(null)]
    } catch (error) {
      if (error instanceof EngineHung)
        return [bad(null, `fail2ban does not answer (it is stopped or stuck): nothing new is banned`)]
      if (error instanceof EngineDown) return [bad(null, 'fail2ban is not running: nothing is banned')]
      throw error
    } finally {
      socket.close()
    }
  },
})
