import * as fs from 'node:fs'
import { basename } from 'node:path'
import { createEngineSocket, EngineDown, EngineHung } from '../../engine/socket.ts'
import { readText } from '../../files.ts'
import { bad, ok, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

const deadline = 2000
/** Only every twelfth check searches for a second fail2ban: the kernel lists the sockets of all programs. */
const looksForOthers = 12
const maxNamed = 5

/** Whether fail2ban answers, asked over a connection of its own: the agent's other requests may take long. And whether there is a second one. */
export const engineCheck = (needs: { socketPath: string; sockets?: () => string }): Check => {
  const { socketPath } = needs
  const sockets = needs.sockets ?? (() => readText('/proc/net/unix') ?? '')
  /** Stays connected between looks while the same socket file exists. A new daemon has another file and gets a new connection. */
  const socket = createEngineSocket({ path: socketPath, onLost: () => undefined })
  let inode: number | null = null
  let looks = 0
  let others: readonly Finding[] = []

  const answers = async (): Promise<Finding> => {
    const present = fs.statSync(socketPath, { throwIfNoEntry: false })?.ino ?? null
    if (present !== inode) socket.close()
    inode = present
    try {
      await socket.call(['ping'], deadline)
      return ok(null)
    } catch (error) {
      if (error instanceof EngineHung)
        return bad(null, `fail2ban does not answer (it is stopped or stuck): nothing new is banned`)
      if (error instanceof EngineDown) return bad(null, 'fail2ban is not running: nothing is banned')
      throw error
    }
  }

  return {
    id: 'engine',
    every: 5000,
    // A restart takes 2 to 3 s.
    badAfter: 15_000,
    looks: 3,
    needsEngine: false,
    async look() {
      if (looks % looksForOthers === 0) others = otherEngines(sockets(), socketPath)
      looks += 1
      return [await answers(), ...others]
    },
  }
}

/** A listening socket: the kernel's flag for it. */
const listening = '00010000'

/** fail2ban that listens on another path, and one that lost its path to the one of today. */
export const otherEngines = (sockets: string, ours: string): Finding[] => {
  const paths = sockets
    .split('\n')
    .map(line => line.split(/\s+/))
    .filter(([, , , flags]) => flags === listening)
    .map(fields => fields.slice(7).join(' '))
    .filter(path => path === ours || /fail2ban.*\.sock$/.test(basename(path)))
  const [, ...sameAsOurs] = paths.filter(path => path === ours)
  return [...new Set([...sameAsOurs, ...paths.filter(path => path !== ours)])]
    .slice(0, maxNamed)
    .map(path => warning(path, `a second fail2ban runs on this server (${path}): Stockade does not see what it bans`))
}
