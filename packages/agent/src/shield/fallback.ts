import { fromKey } from '../ip.ts'
import type { Placed } from './kernel.ts'
import { shieldTable, tableText } from './rules.ts'
import type { Shape } from './rules.ts'

/* The table as a script for nft: the unit of the shield loads it at a start of the host at which Node.js is missing. */

/** The nft program needs a quarter of a second for these, and 20 MB. */
const maxElements = 20_000

export const fallbackText = (
  shape: Shape,
  { bans, kept, now }: { bans: readonly Placed[]; kept: Iterable<Placed>; now: number },
): string => {
  const keptLines: string[] = []
  for (const { set, entry } of kept) {
    if (keptLines.length > maxElements) break
    keptLines.push(elementLine(set, fromKey(entry.key)))
  }
  const areAllKept = keptLines.length <= maxElements
  // Without the whole whitelist, a range could hold an address that must not be dropped.
  const fitting = areAllKept ? bans : bans.filter(({ set }) => /^ban_/.test(set))
  const room = areAllKept ? maxElements - keptLines.length : maxElements
  const banLines = fitting.slice(0, room).map(({ set, entry, timeout }) => {
    const address = fromKey(entry.key)
    if (timeout === null) return elementLine(set, address)
    const seconds = Math.max(1, Math.ceil(timeout / 1000))
    return `${elementLine(set, `${address} timeout ${seconds}s`)} # ends ${Math.ceil(now / 1000) + seconds}`
  })
  const lines = [
    `# saved ${Math.ceil(now / 1000)}`,
    tableText({ ...shape, lists: [] }, shieldTable, true).trimEnd(),
    ...(areAllKept ? keptLines : []),
    ...banLines,
  ]
  return `${lines.join('\n')}\n`
}

const elementLine = (set: string, element: string): string => `add element inet ${shieldTable} ${set} { ${element} }`
