import { createShared } from '../lib/shared.ts'

/** Where a toast leads: a path that begins at the root of the dashboard, such as `/commands/01934f9e-…`. */
export interface ToastLink {
  readonly path: string
  readonly text: string
}
/** What a receipt follows: a batch, a single command, a fleet ban, or the whitelist as it is since a moment, on its way to the servers. */
export type ReceiptOf =
  | { readonly batchId: string }
  | { readonly commandId: string }
  | { readonly fleetBanId: number }
  | { readonly whitelistSince: number }
export interface Told {
  /** One sentence that names the thing. */
  readonly text: string
  readonly link?: ToastLink
  /** Offered for as long as the toast is there; the toast goes when it is taken. */
  readonly undo?: () => void
  /** Followed until it has settled. The toast goes out of the way after its time, and is shown once more with the end. */
  readonly receipt?: ReceiptOf
  /** An error stays until it is closed. */
  readonly error?: boolean
}
export interface Toast extends Told {
  readonly id: number
  /** How long it is there, in milliseconds; null until it is closed. */
  readonly lasts: number | null
}

const most = 3
const lasting = { told: 6000, undo: 8000 } as const

const openToasts = createShared<readonly Toast[]>([])
let last = 0

/** Small news in a corner of the page, three at most: the oldest one makes room. */
export const toasts = {
  /** Shows it; resolves to the number that `close` takes. */
  show(told: Told): number {
    const lasts = told.error ? null : told.undo ? lasting.undo : lasting.told
    openToasts.set([...openToasts.get(), { ...told, id: ++last, lasts }].slice(-most))
    return last
  },
  close(id: number): void {
    openToasts.set(openToasts.get().filter(toast => toast.id !== id))
  },
  /** Takes back what was told last and still can be. */
  undoLast(): void {
    const toast = openToasts.get().findLast(({ undo }) => undo)
    if (!toast) return
    toasts.close(toast.id)
    toast.undo?.()
  },
  clear(): void {
    openToasts.set([])
  },
}

export const useShownToasts = openToasts.use
