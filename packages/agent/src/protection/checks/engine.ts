import * as fs from 'node:fs'
import { basename, join } from 'node:path'
import { createEngineSocket, EngineDown, EngineHung } from '../../engine/socket.ts'
import { listeningPaths } from '../../engine/whereabouts.ts'
import type { Whereabouts } from '../../engine/whereabouts.ts'
import { readText } from '../../files.ts'
import { bad, ok, warning } from '../model.ts'
import type { Check, Finding } from '../model.ts'

/** Milliseconds for an answer. */
const defaultDeadline = 2000
/** Only every twelfth check searches for a second fail2ban: the kernel lists the sockets and command lines of all programs. */
const looksForOthers = 12
const maxNamed = 5
/**
 * A daemon that took this many questions in a row and answered none is stuck. fail2ban answers nobody while it asks a name server, as it does in a
 * restart: one that is never reached holds it for 20 s and more, and its bans go on. With more questions a stuck one would be told after a minute.
 */
const silencesOfStuck = 3

/** Whether fail2ban answers, asked over a connection of its own: the agent's other requests may take long. And whether there is a second one. */
export const engineCheck = (needs: {
  socketPath: string
  whereabouts?: Pick<Whereabouts, 'listensAs'>
  sockets?: () => string
  deadline?: number
}): Check => {
  const { socketPath, deadline = defaultDeadline } = needs
  const sockets = needs.sockets ?? (() => readText('/proc/net/unix') ?? '')
  /** Stays connected between looks while the same socket file exists. A new daemon has another file and gets a new connection. */
  const socket = createEngineSocket({ path: socketPath, onLost: () => undefined })
  let inode: number | null = null
  let looks = 0
  let others: readonly Finding[] = []
  let pathsSeen = ''
  let silences = 0

  /** Null: it may still answer. */
  const answers = async (): Promise<Finding | null> => {
    const present = fs.statSync(socketPath, { throwIfNoEntry: false })?.ino ?? null
    if (present !== inode) socket.close()
    inode = present
    try {
      await socket.call(['ping'], deadline)
      silences = 0
      return ok(null)
    } catch (error) {
      silences = error instanceof EngineHung ? silences + 1 : 0
      if (error instanceof EngineHung)
        return silences < silencesOfStuck
          ? null
          : bad(null, `fail2ban does not answer (it is stopped or stuck): nothing new is banned`)
      if (error instanceof EngineDown) return bad(null, 'fail2ban is not running: nothing is banned')
      throw error
    }
  }

  const lookForOthers = (): void => {
    const all = sockets()
    const paths = listeningPaths(all).sort().join('\n')
    // Processes are read only when a new socket listens.
    if (paths !== pathsSeen) others = otherEngines(all, needs.whereabouts?.listensAs() ?? socketPath, namedSockets())
    pathsSeen = paths
  }

  return {
    id: 'engine',
    every: 5000,
    // A restart takes 2 to 3 s.
    badAfter: 15_000,
    looks: 3,
    needsEngine: false,
    async look() {
      if (looks % looksForOthers === 0) lookForOthers()
      looks += 1
      const answer = await answers()
      return answer === null ? null : [answer, ...others]
    },
  }
}

/**
 * fail2ban that listens on another path, and one that lost its path to the one of today.
 *
 * @param sockets /proc/net/unix of this network namespace: a fail2ban that bans elsewhere is left out
 * @param named sockets that the command lines of running fail2ban-servers lead to
 */
export const otherEngines = (sockets: string, ours: string, named: ReadonlySet<string> = new Set()): Finding[] => {
  const paths = listeningPaths(sockets).filter(
    path => path === ours || named.has(path) || /fail2ban.*\.sock$/.test(basename(path)),
  )
  const [, ...sameAsOurs] = paths.filter(path => path === ours)
  return [...new Set([...sameAsOurs, ...paths.filter(path => path !== ours)])]
    .slice(0, maxNamed)
    .map(path => warning(path, `a second fail2ban runs on this server (${path}): Stockade does not see what it bans`))
}

/** The sockets that the running fail2ban-servers were told to listen on. */
const namedSockets = (): Set<string> => {
  const sockets = new Set<string>()
  for (const pid of fs.readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const socket = socketOf((readText(`/proc/${pid}/cmdline`) ?? '').split('\0'), readText)
    if (socket !== null) sockets.add(socket)
  }
  return sockets
}

/**
 * The socket of a fail2ban-server, from its command line: fail2ban-client passes it on, a service names a configuration at most. Null: it is
 * another program, or has the usual socket.
 */
export const socketOf = (words: readonly string[], read: (file: string) => string | null): string | null => {
  const program = words.findIndex(word => basename(word) === 'fail2ban-server')
  // Only an interpreter and its options may stand before it.
  const isInterpreted =
    /^python[\d.]*$/.test(basename(words[0] ?? '')) && words.slice(1, program).every(word => word.startsWith('-'))
  if (program < 0 || (program > 0 && !isInterpreted)) return null
  const options = words.slice(program + 1)
  const valueOf = (letter: string, name: string): string | null => {
    for (const [index, word] of options.entries()) {
      if (word === `-${letter}` || word === `--${name}`) return options[index + 1] ?? null
      if (word.startsWith(`--${name}=`)) return word.slice(name.length + 3)
      if (word.startsWith(`-${letter}`) && !word.startsWith('--')) return word.slice(2)
    }
    return null
  }
  const directory = valueOf('c', 'conf')
  const settings = (file: string): string => (directory === null ? '' : (read(join(directory, file)) ?? ''))
  const configured = /^[ \t]*socket[ \t]*[=:][ \t]*(\S+)/m
  return (
    valueOf('s', 'socket') ??
    configured.exec(settings('fail2ban.local'))?.[1] ??
    configured.exec(settings('fail2ban.conf'))?.[1] ??
    null
  )
}
