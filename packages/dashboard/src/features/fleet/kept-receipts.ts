import { useSyncExternalStore } from 'react'
import { recordOf } from '@stockade/contract/untrusted.ts'
import type { ReceiptOf } from '../../kit/toasts.ts'
import { readStored } from '../../lib/stored.ts'

/* Receipts that were not settled when the page was left: the next load of this tab shows them again. */

export interface KeptReceipt {
  readonly of: ReceiptOf
  /** What its toast says while it runs. */
  readonly text: string
  readonly askedAt: number
}
const place = 'stockade-receipts'
/** Milliseconds for which a receipt is shown again. Older commands are in the list of commands. */
const lasting = 10 * 60_000
const most = 10

const isKept = (value: unknown): value is KeptReceipt => {
  const { of, text, askedAt } = recordOf(value)
  if (typeof text !== 'string' || typeof askedAt !== 'number') return false
  const { batchId, commandId, fleetBanId, whitelistSince } = recordOf(of)
  return [batchId, commandId].some(id => typeof id === 'string') || [fleetBanId, whitelistSince].some(Number.isFinite)
}
/** What is kept and not older than ten minutes; anything that is not of this form is ignored. */
export const keptReceipts = (now: number): readonly KeptReceipt[] => {
  const storedText = readStored('sessionStorage', place)
  return Array.isArray(storedText) ? storedText.filter(isKept).filter(({ askedAt }) => now - askedAt < lasting) : []
}
/** The whitelist is one thing: a later change of it takes the place of an earlier one. */
const keyOf = (of: ReceiptOf) => ('whitelistSince' in of ? 'whitelist' : JSON.stringify(of))
let open: readonly KeptReceipt[] | null = null
const watchers = new Set<() => void>()
const write = (kept: readonly KeptReceipt[]) => {
  open = kept.slice(-most)
  for (const tell of watchers) tell()
  try {
    globalThis.sessionStorage.setItem(place, JSON.stringify(open))
  } catch {
    // Then a reload shows them in the activity only.
  }
}
const watch = (tell: () => void) => {
  watchers.add(tell)
  return () => watchers.delete(tell)
}
/** What was asked in this tab and has not settled, the newest last. */
export const useOpenReceipts = (): readonly KeptReceipt[] =>
  useSyncExternalStore(watch, () => (open ??= keptReceipts(Date.now())))
export const keepReceipt = (of: ReceiptOf, text: string): void => {
  const now = Date.now()
  write([...keptReceipts(now).filter(kept => keyOf(kept.of) !== keyOf(of)), { of, text, askedAt: now }])
}
export const dropReceipt = (of: ReceiptOf): void => {
  const storedReceipts = keptReceipts(Date.now())
  if (storedReceipts.some(one => keyOf(one.of) === keyOf(of)))
    write(storedReceipts.filter(one => keyOf(one.of) !== keyOf(of)))
}
