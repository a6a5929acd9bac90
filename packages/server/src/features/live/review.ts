import type { FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { Principal, ServerScope } from '../../core/actor.ts'
import { second } from '../../core/clock.ts'

/** A socket with who listens. */
export interface Listening {
  readonly socket: WebSocket
  actor: Principal
  readonly request: FastifyRequest
  /** What it was opened with: clients that share one are looked at together. */
  readonly credential: string
}

/** Each credential is looked at again once a second, a tenth of them at a time. */
const slices = 10

/** Ends what may no longer listen, and keeps up to date what the others see. */
export const createReview = (needs: {
  clients: ReadonlySet<Listening>
  /** The same caller as it is now, or null when its credential is gone. */
  renew: (request: FastifyRequest) => Promise<Principal | null>
  log: (error: unknown) => void
}): { restricted(): Promise<void>; close(): void } => {
  const { clients, renew, log } = needs

  const look = async (wanted: (client: Listening) => boolean) => {
    const groups = new Map<string, Listening[]>()
    for (const client of clients) {
      if (!wanted(client)) continue
      const group = groups.get(client.credential)
      if (group) group.push(client)
      else groups.set(client.credential, [client])
    }
    await Promise.all(
      [...groups.values()].map(async group => {
        const [first] = group
        const actor = first ? await renew(first.request) : null
        for (const client of group) take(client, actor)
      }),
    )
  }
  /** Within a second of a logout or a revoked key. */
  let slice = 0
  const timer = setInterval(() => {
    slice = (slice + 1) % slices
    look(({ credential }) => sliceOf(credential) === slice).catch(log)
  }, second / slices)
  return {
    /** Now, all who see some servers only: which ones may have changed. */
    restricted: () => look(({ actor }) => actor.servers !== 'all').catch(log),
    close: () => clearInterval(timer),
  }
}

const take = (client: Listening, actor: Principal | null): void => {
  if (!actor) return client.socket.close(4401, 'signed out')
  const before = client.actor.servers
  client.actor = { ...actor, ip: client.actor.ip }
  // No message reports servers that the caller gained or lost access to.
  if (!isSame(before, actor.servers)) client.socket.send('{"type":"resync"}')
}

const isSame = (a: ServerScope, b: ServerScope): boolean => {
  if (a === 'all' || b === 'all') return a === b
  if (a.size !== b.size) return false
  for (const no of a) if (!b.has(no)) return false
  return true
}

const sliceOf = (credential: string): number => {
  let sum = 0
  for (let at = 0; at < credential.length; at++) sum = (sum * 31 + credential.charCodeAt(at)) >>> 0
  return sum % slices
}
