import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { agents, commands } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { minute } from '../core/clock.ts'

/** Files that connections leave to everything else: the database, parts of the program that are loaded later, mail, peers. */
const filesForOthers = 256
/** From this share of all connections on, hosts are asked to keep only the one that their heartbeats and polls take turns on. */
const scarce = 0.5
/** From this share on, also heartbeats end their connection: older agents keep one for them beside that of the poll. */
const nearlyNone = 0.95

/** How many files this process may open, by proc(5); infinite where nothing says so. */
const fileLimit = (): number => {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
    return Number.isNaN(limit) ? Infinity : limit
  } catch {
    return Infinity
  }
}

export interface Connections {
  /** Whether the reply to a request of a host should end its connection, because connections are scarce. */
  shouldClose(endpoint: Endpoint | null): boolean
}

/**
 * Refuses connections before they take the last file of the process: whoever opens many of them, and says nothing on them, must not keep the
 * server from its own work. The silent ones are closed by the time limit for the head of a request.
 */
export const boundConnections = (
  server: Server,
  log: Pick<FastifyBaseLogger, 'warn'>,
  files = fileLimit(),
): Connections => {
  if (files === Infinity) return { shouldClose: () => false }
  const most = files - Math.min(filesForOthers, Math.ceil(files / 2))
  server.maxConnections = most
  let open = 0
  server.on('connection', socket => {
    open += 1
    socket.once('close', () => (open -= 1))
  })
  let refused = 0
  let saidAt = -Infinity
  server.on('drop', () => {
    refused += 1
    if (performance.now() - saidAt < minute) return
    log.warn(
      { refused, connections: most, files },
      'New connections are refused: as many are open as the limit of files allows (LimitNOFILE, ulimit -n)',
    )
    saidAt = performance.now()
    refused = 0
  })
  return {
    shouldClose: endpoint =>
      endpoint?.access === 'agent' &&
      endpoint !== commands.pendingCommands &&
      open > most * (endpoint === agents.heartbeat ? nearlyNone : scarce),
  }
}
