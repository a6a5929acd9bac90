import type { LiveMessage } from '@stockade/contract'
import { readMessage } from './live-message.ts'
import { ownAddress } from '../lib/place.ts'
import { createShared } from '../lib/shared.ts'
import { backOff, next, starting } from './live-state.ts'
import type { Happening, LiveState } from './live-state.ts'
import { patch } from './patch.ts'
import { optionsQuery, queries } from './queries.ts'
import { quiet } from './quiet.ts'
import { pacedReads } from './read-again.ts'
import { feed } from './feed.ts'
import { joinTabs } from './tabs.ts'
import type { News, Tabs } from './tabs.ts'

/*
 * The one live connection of a browser: the tab that leads has it, the others hear from that one. Messages patch what was
 * read, and an outage is noticed within ten seconds.
 */

/** With the time that an answer may take, an outage is seen within nine seconds. */
const quietAtMost = 5000
const probeLasts = 3000
/** The leading tab asks first, and the others hear of the answer. */
const behind = 700
const pollEvery = 15_000
/** From the first answer after an outage until the feed is open again, where it gets through. */
const feedOpensWithin = 1500

let state = starting(Date.now())
let socket: WebSocket | null = null
let attempt = 0
let heard = 0
let probed = 0
let reconnect: ReturnType<typeof setTimeout> | undefined
let running: { stop(): void } | null = null
let tabs: Tabs | null = null
/** The state of the connection, and whether the user wants to read in peace: then what is shown stays as it is. */
export interface Live extends LiveState {
  readonly paused: boolean
}
const shared = createShared<Live>({ ...state, paused: false })
const readers = new Set<(message: LiveMessage) => void>()

const show = () => shared.set({ ...state, paused: quiet.isPaused() })

const happened = (what: Happening) => {
  const before = state
  state = next(state, what, Date.now())
  if (state === before) return
  show()
  if (state.phase === 'catching-up') void catchUp()
  // Back, but without the feed: what was missed is fetched the plain way. A feed that opens at once has it read by itself.
  if (before.phase === 'offline' && state.phase === 'polling')
    setTimeout(() => {
      if (state.phase === 'polling') void readShown()
    }, feedOpensWithin)
}

/** What the tab that leads, or whichever asked, has learned of the connection: all tabs take it the same way. */
const learned = (what: Happening) => {
  tabs?.tell({ kind: 'happened', what })
  happened(what)
}

/** All that is on screen but what stays the same for as long as the page is loaded. */
const readShown = (): Promise<void> =>
  queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== optionsQuery.queryKey[0] })

/** Reads again all that is on screen: what was missed while away is in none of the messages to come. */
const catchUp = async () => {
  // A paused feed catches up when it resumes.
  if (!quiet.isPaused()) await readShown().catch(() => {})
  happened('caught up')
}

const readAgain = pacedReads(key => void queries.invalidateQueries({ queryKey: [...key] }))

/** In a storm so long between two looks at what has come: each look renders what it changed once. In milliseconds. */
const breath = 100
let arrived: string[] = []
let looking: ReturnType<typeof setTimeout> | undefined
let looked = 0
/** The first message at once; those that follow closely go together. */
const take = (text: string) => {
  heard = Date.now()
  arrived.push(text)
  if (looking !== undefined) return
  const rest = looked + breath - heard
  // The clock may have been set back.
  if (rest <= 0 || rest > breath) return look()
  looking = setTimeout(look, rest)
}
const look = () => {
  clearTimeout(looking)
  looking = undefined
  looked = Date.now()
  const texts = arrived
  arrived = []
  for (const text of texts)
    try {
      takeOne(text)
    } catch (error) {
      // What one message breaks is no reason to lose the others.
      reportError(error)
    }
}
const takeOne = (text: string) => {
  const message = readMessage(text)
  if (!message) return
  if (message.type === 'pulse') return
  if (message.type === 'resync') return happened('fell behind')
  // How far one's own orders are is waited for, also by those who read in peace.
  if (quiet.isPaused() && message.type !== 'command') return
  patch(queries, message, readAgain)
  for (const tell of readers) tell(message)
}

/** What a tab has to hear of to be where this one is. */
const broughtUp = { live: 'opened', 'catching-up': 'opened', polling: 'answered', offline: 'no answer' } as const

// oxlint-disable-next-line complexity -- one case for each kind of news
const hear = (news: News) => {
  switch (news.kind) {
    case 'message':
      return take(news.text)
    case 'happened':
      if (news.what === 'answered' || news.what === 'no answer') probed = Date.now()
      if (news.what === 'no answer') dropDead()
      if (news.what === 'answered') wake()
      return happened(news.what)
    case 'joined':
      if (tabs?.leads() && state.phase !== 'starting')
        tabs.tell({ kind: 'happened', what: broughtUp[state.phase], to: news.tab })
      return
    case 'retry':
      if (tabs?.leads()) live.retry()
      return
    case 'ended':
      return void queries.invalidateQueries({ queryKey: ['me'] })
    case 'left':
      return
  }
}

const disconnect = () => {
  clearTimeout(reconnect)
  const open = socket
  socket = null
  open?.close()
}

const connect = () => {
  clearTimeout(reconnect)
  if (!tabs?.leads()) return
  socket?.close()
  const url = new URL(`${ownAddress}/api/v1/ws`)
  url.protocol = url.protocol.replace('http', 'ws')
  url.searchParams.set('pulse', 'true')
  const resumes = feed.position
  if (resumes !== null) url.searchParams.set('after', resumes)
  const opened = new WebSocket(url, 'stockade.v1')
  socket = opened
  opened.onopen = () => {
    attempt = 0
    heard = Date.now()
    feed.position = null
    learned(resumes === null ? 'opened' : 'resumed')
  }
  opened.onmessage = event => {
    const text = String(event.data)
    tabs?.tell({ kind: 'message', text })
    take(text)
  }
  opened.onclose = event => {
    if (socket !== opened) return
    socket = null
    learned('closed')
    // The session ended: asking who I am leads to the sign-in page.
    if (event.code === 4401) {
      tabs?.tell({ kind: 'ended' })
      void queries.invalidateQueries({ queryKey: ['me'] })
    }
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
    // A 429 proves that the server is reachable.
    reply => reply.ok || reply.status === 429,
    () => false,
  )
  if (!running) return
  if (answered) {
    wake()
    return learned('answered')
  }
  dropDead()
  learned('no answer')
}
/** The server is there again: the next turn need not be waited for. */
const wake = () => {
  if (state.phase === 'offline' && !socket) connect()
}
/** Without an answer the connection may be dead without knowing it; a new one shows. */
const dropDead = () => {
  if (socket?.readyState !== WebSocket.OPEN) return
  const dead = socket
  socket = null
  dead.close()
  reconnect = setTimeout(connect, backOff(attempt++, Math.random()))
}

/** Those who ask at intervals look at once whether they still should. */
const rethink = () => {
  for (const query of queries.getQueryCache().getAll())
    for (const observer of query.observers) observer.setOptions(observer.options)
}

export const live = {
  /** Connects, or follows the tab that is connected; until `stop`, which the sign-out calls. */
  start(): void {
    if (running) return
    // The page itself has just come.
    heard = Date.now()
    const probing = setInterval(() => {
      const quiet = Date.now() - Math.max(heard, probed)
      // Polling is a proof of its own, and enough requests.
      const most = (state.phase === 'polling' ? pollEvery : quietAtMost) + (tabs?.leads() ? 0 : behind)
      if (document.visibilityState === 'visible' && quiet > most) void probe()
    }, 1000)
    const polling = setInterval(() => {
      if (state.phase !== 'polling' || document.visibilityState !== 'visible' || quiet.is()) return
      void readShown()
    }, pollEvery)
    // The browser may say so a moment before it is so.
    const lost = () => {
      void probe()
      setTimeout(() => void probe(), 1000)
    }
    const back = () => live.retry()
    const onVisible = () => {
      if (document.visibilityState === 'visible' && state.phase !== 'live') live.retry()
    }
    addEventListener('offline', lost)
    addEventListener('online', back)
    document.addEventListener('visibilitychange', onVisible)
    feed.isRunning = true
    running = {
      stop() {
        clearInterval(probing)
        clearInterval(polling)
        clearTimeout(reconnect)
        removeEventListener('offline', lost)
        removeEventListener('online', back)
        document.removeEventListener('visibilitychange', onVisible)
      },
    }
    tabs = joinTabs({ lead: () => setTimeout(connect), follow: disconnect, hear })
  },
  stop(): void {
    running?.stop()
    running = null
    feed.isRunning = false
    clearTimeout(looking)
    looking = undefined
    arrived = []
    disconnect()
    tabs?.leave()
    tabs = null
    quiet.setPaused(false)
    feed.position = null
    state = starting(Date.now())
    show()
  },
  /** Leaves all that is shown as it is, until it is called again. */
  pause(paused: boolean): void {
    quiet.setPaused(paused)
    show()
    rethink()
    if (paused) return
    if (state.phase === 'live') happened('fell behind')
    else void readShown()
  },
  /** Tries at once instead of at the next turn. */
  retry(): void {
    if (!running) return
    attempt = 0
    void probe()
    if (!tabs?.leads()) return tabs?.tell({ kind: 'retry' })
    if (socket?.readyState !== WebSocket.OPEN) connect()
  },
  /** Hears every message after it was patched in; returns what ends it. */
  listen(tell: (message: LiveMessage) => void): () => void {
    readers.add(tell)
    return () => readers.delete(tell)
  },
}

export const useLive = shared.use
feed.stop = () => live.stop()
