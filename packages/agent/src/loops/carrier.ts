import type { Cargo, RowResult } from '../wire.ts'

/** What became of a part of the cargo: the server's word on each result, or why the server may not have got it. */
export type Settle = (outcome: { readonly results: readonly RowResult[] } | { readonly error: unknown }) => void

/**
 * Lets the next poll take along what the answer to the last one led to, so that a change is one request. The server takes it in before it
 * holds the poll, and confirms it with the answer. While no poll is about to leave, everything goes by a request of its own.
 */
export interface Carrier {
  /** A poll is about to leave, to a server that takes something along with it. */
  open(): void
  /** False: no poll is about to leave. A later part replaces an earlier one of the same kind, whose `settle` is not called. */
  load(cargo: Cargo, settle: Settle): boolean
  /** Lets the poll leave; null where it has nothing to take along. */
  leave(): { readonly cargo: Cargo; readonly settle: Settle } | null
}

export const createCarrier = (): Carrier => {
  let isOpen = false
  let loaded = new Map<string, { readonly cargo: Cargo; readonly settle: Settle }>()
  return {
    open() {
      isOpen = true
    },
    load(cargo, settle) {
      if (isOpen) loaded.set(Object.keys(cargo).join(), { cargo, settle })
      return isOpen
    },
    leave() {
      isOpen = false
      const parts = [...loaded.values()]
      loaded = new Map()
      if (parts.length === 0) return null
      const cargo = Object.assign({}, ...parts.map(part => part.cargo)) as Cargo
      return {
        cargo,
        settle(outcome) {
          for (const part of parts) part.settle(outcome)
        },
      }
    },
  }
}
