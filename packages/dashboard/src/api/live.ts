import { useSyncExternalStore } from 'react'
import type { LiveMessage } from '@stockade/contract'
import { ownAddress } from '../place.ts'
import { backOff, next, starting } from './live-state.ts'
import type { Happening, LiveState } from './live-state.ts'
import { patch } from './patch.ts'
import { queries } from './queries.ts'

/* The one live connection of the page: messages patch what was read, and an outage is noticed within ten seconds. */

/** With the time that an answer may take, an outage is seen within nine seconds. */
const quietAtMost = 5000
const probeLasts = 3000
const pollEvery = 15_000

let state = starting(Date.now())
let socket: WebSocket | null = null
let attempt = 0
let heard = 0
let probed = 0
let reconnect: ReturnType<typeof setTimeout> | undefined
let running: { stop(): void } | null = null

const watchers = new Set<() => void>()
const readers = new Set<(message: LiveMessage) => void>()

const happened = (what: Happening) => {
  const before = state
  state = next(state, what, Date.now())
  if (state === before) return
  for (const tell of watchers) tell()
  if (state.phase === 'catching-up') void catchUp()
  // Back, but without the feed: what was missed is fetched the plain way.
  if (before.phase === 'offline' && state.phase === 'polling') void queries.invalidateQueries()
}

/** Reads again all that is on screen: what was missed while away is in none of the messages to come. */
const catchUp = async () => {
  await queries.invalidateQueries().catch(() => {})
  happened('caught up')
}

const lately = new Map<string, { again: boolean }>()
/** At once the first time, then at most once a pause: a storm of bans must not become a storm of requests. */
const readAgain = (key: readonly string[], pause: number) => {
  const name = key.join(' ')
  const last = lately.get(name)
  if (last) {
    last.again = true
    return
  }
  const entry = { again: false }
  lately.set(name, entry)
  void queries.invalidateQueries({ queryKey: key })
  setTimeout(() => {
    lately.delete(name)
    if (entry.again) readAgain(key, pause)
  }, pause)
}

const read = (data: unknown): LiveMessage | null => {
  try {
    const message = JSON.parse(String(data)) as LiveMessage
    return typeof message.type === 'string' ? message : null
  } catch {
    return null
  }
}

const connect = () => {
  clearTimeout(reconnect)
  socket?.close()
  const url = new URL(`${ownAddress}/api/v1/ws`)
  url.protocol = url.protocol.replace('http', 'ws')
  const opened = new WebSocket(url, 'stockade.v1')
  socket = opened
  opened.onopen = () => {
    attempt = 0
    heard = Date.now()
    happened('opened')
  }
  opened.onmessage = event => {
    heard = Date.now()
    const message = read(event.data)
    if (!message) return
    if (message.type === 'resync') return happened('fell behind')
    patch(queries, message, readAgain)
    for (const tell of readers) tell(message)
  }
  opened.onclose = event => {
    if (socket !== opened) return
    socket = null
    happened('closed')
    // The session ended: asking who I am leads to the sign-in page.
    if (event.code === 4401) void queries.invalidateQueries({ queryKey: ['me'] })
    if (!running) return
    void probe()
    reconnect = setTimeout(connect, backOff(attempt++, Math.random()))
  }
}

/** A silent cut leaves a socket that looks open: only an answer proves the connection. */
const probe = async () => {
  probed = Date.now()
  const answered = await fetch(`${ownAddress}/api/v1/health`, {
    cache: 'no-store',
    signal: AbortSignal.timeout(probeLasts),
  }).then(
    reply => reply.ok,
    () => false,
  )
  if (!running) return
  if (answered) {
    if (state.phase === 'offline' && !socket) connect()
    return happened('answered')
  }
  happened('no answer')
  if (socket?.readyState === WebSocket.OPEN) {
    // It may be dead without knowing it; a new one shows.
    const dead = socket
    socket = null
    dead.close()
    reconnect = setTimeout(connect, backOff(attempt++, Math.random()))
  }
}

export const live = {
  /** Connects; until `stop`, which the sign-out calls. */
  start(): void {
    if (running) return
    const probing = setInterval(() => {
      const quiet = Date.now() - Math.max(heard, probed)
      // Polling is a proof of its own, and enough requests.
      const most = state.phase === 'polling' ? pollEvery : quietAtMost
      if (document.visibilityState === 'visible' && quiet > most) void probe()
    }, 1000)
    const polling = setInterval(() => {
      if (state.phase === 'polling' && document.visibilityState === 'visible') void queries.invalidateQueries()
    }, pollEvery)
    // The browser may say so a moment before it is so.
    const lost = () => {
      void probe()
      setTimeout(() => void probe(), 1000)
    }
    const back = () => live.retry()
    const seen = () => {
      if (document.visibilityState === 'visible' && state.phase !== 'live') live.retry()
    }
    addEventListener('offline', lost)
    addEventListener('online', back)
    document.addEventListener('visibilitychange', seen)
    running = {
      stop() {
        clearInterval(probing)
        clearInterval(polling)
        clearTimeout(reconnect)
        removeEventListener('offline', lost)
        removeEventListener('online', back)
        document.removeEventListener('visibilitychange', seen)
      },
    }
    connect()
  },
  stop(): void {
    running?.stop()
    running = null
    const open = socket
    socket = null
    open?.close()
    state = starting(Date.now())
  },
  /** Tries at once instead of at the next turn. */
  retry(): void {
    if (!running) return
    attempt = 0
    void probe()
    if (socket?.readyState !== WebSocket.OPEN) connect()
  },
  /** Hears every message after it was patched in; returns what ends it. */
  listen(tell: (message: LiveMessage) => void): () => void {
    readers.add(tell)
    return () => readers.delete(tell)
  },
}

const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}
export const useLive = (): LiveState => useSyncExternalStore(watch, () => state)
