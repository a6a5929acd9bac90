import websocket from '@fastify/websocket'
import { recordOf } from '@stockade/contract/untrusted.ts'
import type { FastifyRequest } from 'fastify'
import { eventKinds, liveProtocol } from '@stockade/contract'
import { refusal } from '../../core/access.ts'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { second } from '../../core/clock.ts'
import { unauthorized, unavailable } from '../../core/problem.ts'
import { shareRuns } from '../../core/serial.ts'
import type { Events, StockadeEvent } from '../../events/events.ts'
import type { Http } from '../../http/http.ts'
import type { BansService } from '../bans/bans.service.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { FleetBans } from '../fleet/fleet.service.ts'
import type { Registry } from '../servers/registry.ts'
import type { Targeting } from '../servers/targets.ts'
import { createLiveMessages } from './messages.ts'
import type { Told } from './messages.ts'
import type { Numbered, RecentEvents } from './recent.ts'
import { createReview } from './review.ts'
import type { Listening } from './review.ts'

interface Client extends Listening {
  alive: boolean
  /** It fell behind: until its buffer is empty it hears nothing, then that it has to fetch again. */
  behind: boolean
  /** What it missed before it connected; null where it got that, or did not ask for it. */
  missed: readonly Numbered[] | null
  /** The number of the last event that is among those. */
  readonly after: number
  readonly wantsPulse: boolean
}
/** Milliseconds between two signs of life: a browser does not see pings. */
const pulseEvery = 4 * second
/** What a slow reader may have waiting, in bytes. */
const buffer = 1024 * 1024
const most = 5000
/** Sockets that one user, or one key without a user, may have open. */
const mostOfOne = 10
/** Changes after which callers may see other servers than before. */
const changesAccess: ReadonlySet<string> = new Set(['server.tags', 'user.server_access'])

/** The live feed, `GET /api/v1/ws`: one socket a client, filtered by what it may see. */
export const mountLive = async (
  http: Http,
  needs: {
    events: Pick<Events, 'subscribe'>
    registry: Registry
    bans: Pick<BansService, 'viewsOf'>
    commands: Pick<CommandsService, 'viewsOf'>
    fleetBans: Pick<FleetBans, 'live'>
    targeting: Pick<Targeting, 'isVisible'>
    /** The same caller as it is now, or null when its credential is gone. */
    renew: (request: FastifyRequest) => Promise<Principal | null>
    recent: RecentEvents
    log: (error: unknown) => void
  },
): Promise<{ close(): void; count(): number }> => {
  const { events, recent } = needs
  const clients = new Set<Client>()
  let waiting: Numbered[] = []
  /** Who sees what is read again before the next message. */
  let isAccessOld = false
  let isClosed = false
  const messagesOf = createLiveMessages(needs)
  const review = createReview({ ...needs, clients })

  /** Browsers can't set headers on a socket: a token may come as a second subprotocol, `bearer.<token>`. */
  const tokenOf = (request: FastifyRequest) => {
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map(part => part.trim())
    return offered.find(part => part.startsWith('bearer.'))?.slice(7)
  }
  // In a scope of its own: the plugin's hooks would run for every request.
  await http.fastify.register(async scope => {
    await scope.register(websocket, {
      options: { maxPayload: 4096, handleProtocols: protocols => (protocols.has(liveProtocol) ? liveProtocol : false) },
    })
    scope.get(
      '/api/v1/ws',
      {
        websocket: true,
        preValidation: async request => {
          if (isClosed) throw unavailable('The server is shutting down.')
          const token = tokenOf(request)
          if (token) request.headers.authorization = `Bearer ${token}`
          // A page that is left open comes back by itself; only what is asked for keeps a session.
          const actor = await http.identify(request, true)
          if (actor.kind === 'anonymous') throw unauthorized('Sign in, or offer the subprotocol bearer.<token>.')
          if (request.byCookie) http.checkOrigin(request)
          const refused = refusal(actor, {
            access: 'read',
            tag: '',
            forServerKeys: !(actor.kind === 'key' && actor.isOfHost),
          })
          if (refused) throw refused
          request.actor = actor
        },
      },
      (socket, request) => {
        const actor = request.actor
        if (isClosed) return socket.close(1001, 'shutting down')
        if (!actor || actor.kind === 'anonymous' || clients.size >= most) return socket.close(1013)
        const mine = [...clients].filter(client => ownerOf(client.actor) === ownerOf(actor)).length
        if (mine >= mostOfOne) return socket.close(1013, `at most ${mostOfOne} live connections a user`)
        const { after, pulse } = recordOf(request.query)
        const missed = typeof after === 'string' ? recent.after(after) : null
        const client: Client = {
          socket,
          actor,
          request,
          credential: credentialOf(request),
          alive: true,
          behind: false,
          missed,
          after: missed ? recent.last() : 0,
          wantsPulse: pulse === 'true',
        }
        clients.add(client)
        if (missed) sendWaiting().catch(needs.log)
        else if (after !== undefined) socket.send('{"type":"resync"}')
        socket.on('pong', () => (client.alive = true))
        socket.on('error', () => socket.terminate())
        socket.on('close', () => clients.delete(client))
      },
    )
  })

  const send = (client: Client, text: string) => {
    if (client.socket.bufferedAmount > buffer) client.behind = true
    if (client.behind) {
      if (client.socket.bufferedAmount > 0) return
      client.behind = false
      client.socket.send('{"type":"resync"}')
      return
    }
    client.socket.send(text)
  }
  /** Null: not for this caller. */
  const textFor = (actor: Principal, { serverNo, text, fleet }: Told): string | null => {
    if (fleet && actor.servers !== 'all') return needs.targeting.isVisible(actor, fleet.reach) ? fleet.restricted : null
    return serverNo === null || sees(actor, serverNo) ? text : null
  }
  const sendMissed = async (client: Client, missed: readonly Numbered[]) => {
    client.missed = null
    for (const message of await messagesOf(missed)) {
      const text = textFor(client.actor, message)
      if (text !== null) send(client, text)
    }
  }
  const sendWaiting = shareRuns(async () => {
    for (;;) {
      if (isAccessOld) {
        isAccessOld = false
        await review.restricted()
      }
      for (const client of clients) if (client.missed) await sendMissed(client, client.missed)
      if (waiting.length === 0) return
      const batch = waiting.splice(0, 200)
      for (const message of await messagesOf(batch))
        for (const client of clients) {
          const text = message.number > client.after ? textFor(client.actor, message) : null
          if (text !== null) send(client, text)
        }
    }
  })
  const stop = events.subscribe(told => {
    for (const event of told) {
      isAccessOld ||= changesAccess.has(event.name)
      if (!('live' in eventKinds[event.name])) continue
      const numbered = recent.add(event)
      if (clients.size > 0 && !sameListAs(waiting.at(-1)?.event, event)) waiting.push(numbered)
    }
    if (clients.size === 0) return
    if (waiting.length > 20_000) {
      // More than anyone can read: fetching again is cheaper than catching up.
      waiting = []
      for (const client of clients) client.behind = true
    }
    sendWaiting().catch(needs.log)
  })
  const ping = setInterval(() => {
    for (const client of clients) {
      if (!client.alive) client.socket.terminate()
      else {
        client.alive = false
        client.socket.ping()
      }
    }
  }, 25 * second)
  const pulse = setInterval(() => {
    for (const client of clients) if (client.wantsPulse) send(client, '{"type":"pulse"}')
  }, pulseEvery)
  return {
    count: () => clients.size,
    close() {
      isClosed = true
      stop()
      clearInterval(pulse)
      review.close()
      clearInterval(ping)
      for (const client of clients) client.socket.close(1001, 'shutting down')
    },
  }
}

/** Key by which sockets are counted together. */
const ownerOf = (actor: Principal): string =>
  actor.kind === 'key' && actor.userId === null ? `key ${actor.keyId}` : `user ${actor.userId}`
const credentialOf = ({ headers }: FastifyRequest): string => headers.authorization ?? headers.cookie ?? ''
/** A list of thousands is one message for viewers, although each entry has its own event. */
const sameListAs = (before: StockadeEvent | undefined, event: StockadeEvent): boolean =>
  event.name === 'whitelist.add' && before?.name === event.name && before.data.version === event.data.version
