import { basePath } from '../lib/place.ts'
import { readLease, renewEvery, turnOf } from './lease.ts'
import type { Happening } from './live-state.ts'

/* The tabs of one browser: one of them leads and has the connection, the others hear from it. */

export type News =
  /** As it came over the connection. */
  | { readonly kind: 'message'; readonly text: string }
  /** Of the connection; for one tab only where `to` is given. */
  | { readonly kind: 'happened'; readonly what: Happening; readonly to?: string }
  /** A tab that follows asks how things are. */
  | { readonly kind: 'joined'; readonly tab: string }
  /** Someone wants the next try now. */
  | { readonly kind: 'retry' }
  /** The leading tab is gone. */
  | { readonly kind: 'left' }
  /** The session has ended. */
  | { readonly kind: 'ended' }

export interface Tabs {
  leads(): boolean
  tell(news: News): void
  leave(): void
}

// Several instances may share one host, each under a path of its own.
const name = `stockade-live ${basePath}`
/** Two tabs may claim at the same moment: the one whose claim stands after this time leads. In milliseconds. */
const settling = 100

const read = () => readLease(localStorage.getItem(name))
/** Without storage, or without a way to speak to the others, each tab is on its own. */
const open = (): BroadcastChannel | null => {
  try {
    localStorage.getItem(name)
    return new BroadcastChannel(name)
  } catch {
    return null
  }
}

/** Joins the other tabs. One of `lead` and `follow` is called at once or soon, and again whenever that changes. */
export const joinTabs = (on: { lead(): void; follow(): void; hear(news: News): void }): Tabs => {
  // Not randomUUID, which plain http does not have.
  const tab = [...crypto.getRandomValues(new Uint32Array(3))].map(part => part.toString(36)).join('')
  const channel = open()
  if (!channel) {
    on.lead()
    return { leads: () => true, tell() {}, leave() {} }
  }
  let leading: boolean | null = null
  let settle: ReturnType<typeof setTimeout> | undefined
  const tell = (news: News) => channel.postMessage(news)
  const become = (lead: boolean) => {
    if (leading === lead) return
    leading = lead
    if (lead) return on.lead()
    on.follow()
    tell({ kind: 'joined', tab })
  }
  const write = () => localStorage.setItem(name, JSON.stringify({ tab, at: Date.now() }))
  const turn = () => {
    switch (turnOf(read(), tab, Date.now(), document.visibilityState === 'visible')) {
      case 'renew':
        write()
        return become(true)
      case 'claim':
        write()
        clearTimeout(settle)
        settle = setTimeout(() => {
          if (read()?.tab === tab) become(true)
        }, settling)
        return
      case 'follow':
        return become(false)
    }
  }
  const leave = () => {
    // A claim is dropped too: otherwise no other tab could lead until it expires.
    clearTimeout(settle)
    const isHolder = read()?.tab === tab
    if (isHolder) localStorage.removeItem(name)
    if (isHolder || leading) tell({ kind: 'left' })
    leading = null
  }
  channel.onmessage = ({ data }: MessageEvent<News>) => {
    if (data.kind === 'left') return turn()
    if (data.kind === 'happened' && data.to !== undefined && data.to !== tab) return
    on.hear(data)
  }
  const timer = setInterval(turn, renewEvery)
  document.addEventListener('visibilitychange', turn)
  addEventListener('pagehide', leave)
  turn()
  return {
    leads: () => leading === true,
    tell,
    leave() {
      clearInterval(timer)
      clearTimeout(settle)
      document.removeEventListener('visibilitychange', turn)
      removeEventListener('pagehide', leave)
      leave()
      channel.close()
    },
  }
}

/** Tells the other tabs that their session is over, too. */
export const tellEnded = (): void => {
  const channel = open()
  channel?.postMessage({ kind: 'ended' } satisfies News)
  channel?.close()
}
