import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { minute } from '../core/clock.ts'

/** Files that connections leave to everything else: the database, parts of the program that are loaded later, mail, peers. */
const filesForOthers = 256

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
 * Refuses connections before they take the last file of the process: whoever opens many of them, and says nothing on them, must not keep the
 * server from its own work. The silent ones are closed by the time limit for the head of a request.
 */
export const boundConnections = (server: Server, log: Pick<FastifyBaseLogger, 'warn'>, files = fileLimit()): void => {
  if (files === Infinity) return
  server.maxConnections = files - Math.min(filesForOthers, Math.ceil(files / 2))
  let refused = 0
  let saidAt = -Infinity
  server.on('drop', () => {
    refused += 1
    if (performance.now() - saidAt < minute) return
    log.warn(
      { refused, connections: server.maxConnections, files },
      'New connections are refused: as many are open as the limit of files allows (LimitNOFILE, ulimit -n)',
    )
    saidAt = performance.now()
    refused = 0
  })
}
