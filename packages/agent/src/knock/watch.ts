import { asInteger, asList, asText } from '../json.ts'
import type { Seen } from './nft.ts'
import { doneSeconds, toldSeconds } from './rules.ts'
import type { Kind } from './rules.ts'

/** Something that an address did since the last reading. */
export interface News {
  readonly sequence: number
  readonly kind: Kind
  readonly ip: string
  /** On the clock of `KnockTime`, epoch milliseconds; as precise as the readings are frequent. */
  readonly at: number
  /** The source of the event's id: the same after a crash, different for every other event. */
  readonly mark: string
  /** How many occurrences this stands for. */
  readonly times: number
  /** How many more addresses did the same and are not listed. */
  readonly unlisted: number
}

interface Known {
  readonly generation: string
  count: number
  /** When it last happened, on the steady clock. */
  updated: number
  /** When it was last reported, on the steady clock. */
  told: number
}

/** The kernel truncates times to seconds. */
const clockBlur = 1500
/** How often an address that keeps knocking while it is blocked is reported. */
const hitsEvery = 30_000
/** Each failure is one event, up to this many for each address and reading. */
const maxPerAddress = 10
/** Rate limit of events that attackers can cause at will: a burst, then this many a second. */
const eventBurst = 300
const eventsPerSecond = 20

export interface Watch {
  /**
   * What is new in a full reading of the sets. `even`: milliseconds of the steady clock; `since`: when (on the clock
   * of `now`) the sets were read before.
   */
  look(seen: readonly Seen[], even: number, now: number, since: number): News[]
  /** Takes everything in the sets for reported. */
  baseline(seen: readonly Seen[], even: number): void
  /** The sets are new: nothing in them was seen before. */
  forget(): void
  /** The rows to save. Call `kept` once they are safely on the disk; only then may ids use the new round. */
  save(): { rows: unknown[]; kept: () => void }
}

/**
 * Turns the content of the kernel's sets into events, each once: what was seen is remembered, also across a restart. A
 * round is a random word that changes with each `save`. An event that is found again after a crash, because its memory
 * was not saved, gets the same id again.
 */
export const createWatch = (saved: unknown, newRound: () => string): Watch => {
  const openingByKey = new Map<string, Known>()
  const [savedRound, ...rows] = asList(saved)
  let round = asText(savedRound) || newRound()
  for (const row of rows) {
    const [key, generation, count, updated, told] = asList(row)
    if (typeof key !== 'string') continue
    openingByKey.set(key, {
      generation: asText(generation),
      count: asInteger(count, 0),
      updated: asInteger(updated, 0),
      told: asInteger(told, -hitsEvery),
    })
  }
  let allowance = eventBurst
  let allowedAt = 0

  const take = (even: number): boolean => {
    allowance = Math.min(eventBurst, allowance + ((even - allowedAt) / 1000) * eventsPerSecond)
    allowedAt = even
    if (allowance < 1) return false
    allowance -= 1
    return true
  }

  return {
    // oxlint-disable-next-line complexity -- the rules of what one knock is worth share their counters
    look(seen: readonly Seen[], even: number, now: number, since: number): News[] {
      const news: News[] = []
      const present = new Set<string>()
      let unlisted = 0
      // Openings and blocks come first, because the rate limit may drop the rest.
      const sorted = [...seen].sort((a, b) => importance(a.kind) - importance(b.kind))
      for (const { sequence, kind, ip, count, expires } of sorted) {
        const key = `${kind}|${sequence}|${ip}`
        present.add(key)
        const lives = (kind === 'success' ? doneSeconds : toldSeconds) * 1000
        const updated = even - lives + expires * 1000 + 500
        let before = openingByKey.get(key)
        if (before && (count < before.count || (count === before.count && updated > before.updated + 2 * clockBlur)))
          before = undefined
        const entry = before ?? { generation: round, count: 0, updated, told: -hitsEvery + even - 1 }
        openingByKey.set(key, entry)
        const more = count - entry.count
        if (more <= 0) continue
        if (kind === 'hit' && even - entry.told < hitsEvery) continue
        const from = entry.count
        Object.assign(entry, { count, updated, told: even })
        const at = Math.min(now, Math.max(since, now - (even - updated)))
        const single = kind === 'wrong' || kind === 'late' ? Math.min(more, maxPerAddress) : 1
        for (let i = 1; i <= single; i += 1) {
          if (kind !== 'success' && kind !== 'block' && !take(even)) {
            unlisted += 1
            break
          }
          const times = i === single ? more - single + 1 : 1
          news.push({ sequence, kind, ip, at, mark: `${entry.generation}|${key}|${from + i}`, times, unlisted: 0 })
        }
      }
      for (const key of openingByKey.keys()) if (!present.has(key)) openingByKey.delete(key)
      const last = news.at(-1)
      if (unlisted > 0 && last) news[news.length - 1] = { ...last, unlisted }
      return news
    },
    baseline(seen: readonly Seen[], even: number): void {
      for (const { sequence, kind, ip, count } of seen)
        openingByKey.set(`${kind}|${sequence}|${ip}`, { generation: round, count, updated: even, told: even })
    },
    forget(): void {
      openingByKey.clear()
    },
    save(): { rows: unknown[]; kept: () => void } {
      const next = newRound()
      const rows = [
        next,
        ...[...openingByKey].map(([key, { generation, count, updated, told }]) => [
          key,
          generation,
          count,
          Math.round(updated),
          Math.round(told),
        ]),
      ]
      return { rows, kept: () => void (round = next) }
    },
  }
}

const importance = (kind: Kind): number => (kind === 'success' ? 0 : kind === 'block' ? 2 : kind === 'hit' ? 3 : 1)
