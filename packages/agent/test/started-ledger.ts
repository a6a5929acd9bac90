import { createLedger } from '../src/bans/ledger.ts'
import { createMemory } from '../src/bans/memory.ts'
import type { Entry } from '../src/outbox.ts'

/** A ledger of a host whose agent has read its table once. */
export const startedLedger = (now: () => number, append: (entries: readonly Entry[]) => unknown) => {
  const memory = { ...createMemory(), started: true }
  const ledger = createLedger({
    serverId: 'server',
    memory,
    append: entries => void append(entries),
    changed: () => undefined,
    clockOffset: () => 0,
    tellsLines: () => true,
    now,
    warn: () => undefined,
  })
  return { memory, ledger }
}
