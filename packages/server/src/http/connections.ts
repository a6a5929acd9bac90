import { readFileSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { agents } from '@stockade/contract'
import type { Endpoint } from '@stockade/contract'
import { minute } from '../core/clock.ts'
import { addressKey } from './rate-limit.ts'

/**
 * New connections that may wait for this process to accept them; the system takes less where `net.core.somaxconn` is lower (4,096 on Linux).
 * A change for a whole fleet has thousands of hosts connect at the same moment. With Node's 511, the system drops the rest, and a host tries
 * again after 1, 3 and 7 s.
 */
export const listenBacklog = 65_535
/** File descriptors reserved for everything but connections: database, modules loaded on demand, mail, peers. */
const filesForOthers = 256
/** Above this share of the limit, the server closes all connections of hosts but the one that heartbeats and polls share. */
const scarce = 0.5
/** Above this share, heartbeats close their connection too: older agents use a separate one for them. */
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

/**
 * Closes a server's connections without a request until it has ended. Node's own `closeIdleConnections` passes over one that was opened and has sent
 * nothing, so that a stranger, or a client that connects ahead, would hold up a restart for a minute.
 */
export const closesIdle = (server: HttpServer): ((ended: Promise<unknown>) => Promise<void>) => {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  const close = () => {
    server.closeIdleConnections()
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
  return async ended => {
    // A connection that was busy when closing began is idle once it is answered.
    const timer = setInterval(close, 50)
    await ended.finally(() => clearInterval(timer))
  }
}

/**
 * Closes an old connection for each that is too many, where `maxConnections` refuses the new one: strangers who open connections and send nothing must not
 * keep others out. The caller with the most connections loses its oldest. Neighbours in a /64 are one caller.
 */
export const keepRoom = (server: Server, bounds: { readonly most: number; readonly ofOne: number }): void => {
  /** The open connections of each caller, the oldest first. */
  const socketsByCaller = new Map<string, Set<Socket>>()
  let open = 0
  const forget = (caller: string, socket: Socket): void => {
    const own = socketsByCaller.get(caller)
    if (own?.delete(socket) !== true) return
    open -= 1
    if (own.size === 0) socketsByCaller.delete(caller)
  }
  const largest = (): string =>
    [...socketsByCaller].reduce((most, some) => (some[1].size > most[1].size ? some : most))[0]
  const closeOldestOf = (caller: string): void => {
    const [oldest] = socketsByCaller.get(caller) ?? []
    if (!oldest) return
    forget(caller, oldest)
    oldest.destroy()
  }
  server.on('connection', socket => {
    const caller = addressKey(socket.remoteAddress ?? '')
    const own = socketsByCaller.get(caller) ?? new Set()
    socketsByCaller.set(caller, own.add(socket))
    open += 1
    socket.once('close', () => forget(caller, socket))
    if (own.size > bounds.ofOne) closeOldestOf(caller)
    else if (open > bounds.most) closeOldestOf(largest())
  })
}

export interface Connections {
  /** Whether the reply to a request of a host should end its connection, because connections are scarce. */
  shouldClose(endpoint: Endpoint | null): boolean
}

/**
 * Limits the number of connections so that they never use up the process's file descriptors: a client that opens many idle connections must
 * not block the server's own work. The header timeout closes idle connections.
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
      endpoint.held !== true &&
      open > most * (endpoint === agents.heartbeat ? nearlyNone : scarce),
  }
}
