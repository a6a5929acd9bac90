import type { Shield } from './model.ts'

/** How many packets the kernel dropped that came from a banned entry. */
export interface Drop {
  readonly entry: string
  readonly packets: number
}

/** Counts of dropped packets that the server has not been told. */
export interface Drops {
  /** Reads counters in the kernel if any packet was dropped since the last time. */
  look(): Promise<void>
  /** A part of what has changed. */
  changed(): readonly Drop[]
  /** The server has stored these counts. */
  told(drops: readonly Drop[]): void
}

/** Single reads take 0.05 ms each. The next look goes on where this one ended. */
const readAtOnce = 500
/** As the interface bounds it. */
const toldAtOnce = 200

/** At rest a look reads one number, that of all dropped packets. The counters of bans are read only after it has risen. */
export const createDrops = (shield: {
  allDropped: Shield['allDropped']
  droppedFrom: Shield['droppedFrom']
  bans(): readonly { readonly entry: string }[]
}): Drops => {
  let seenOfAll = 0
  let unread: string[] = []
  const lastRead = new Map<string, number>()
  const changed = new Map<string, number>()

  const startRound = (): void => {
    const ofAll = shield.allDropped()
    if (ofAll === null || ofAll === seenOfAll) return
    seenOfAll = ofAll
    unread = shield.bans().map(({ entry }) => entry)
    const banned = new Set(unread)
    for (const counts of [lastRead, changed])
      for (const entry of counts.keys()) if (!banned.has(entry)) counts.delete(entry)
  }

  return {
    async look() {
      if (unread.length === 0) startRound()
      for (const entry of unread.splice(0, readAtOnce)) {
        const packets = await shield.droppedFrom(entry)
        if (packets === null || packets === 0 || packets === lastRead.get(entry)) continue
        lastRead.set(entry, packets)
        changed.set(entry, packets)
      }
    },
    changed: () => [...changed].slice(0, toldAtOnce).map(([entry, packets]) => ({ entry, packets })),
    told(drops) {
      for (const { entry, packets } of drops) if (changed.get(entry) === packets) changed.delete(entry)
    },
  }
}
