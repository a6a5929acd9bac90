import { asInteger, asList, asText } from '../json.ts'
import type { Seen } from './nft.ts'
import { doneSeconds, toldSeconds } from './rules.ts'
import type { Kind } from './rules.ts'

/** Something new that addresses did since the last look. */
export interface News {
  readonly sequence: number
  readonly kind: Kind
  readonly ip: string
  /** Of the host's clock, epoch milliseconds; as exact as the looks are frequent. */
  readonly at: number
  /** What the event's id is made of: the same again after a crash, another one for anything else. */
  readonly mark: string
  /** How many times this stands for. */
  readonly times: number
  /** How many further addresses did the like and are not listed. */
  readonly unlisted: number
}

interface Known {
  readonly generation: string
  count: number
  /** When it last happened, on a clock that runs evenly since the host's start. */
  updated: number
  /** When it was last told, on that clock. */
  told: number
}

/** The kernel says seconds, cut off. */
const clockBlur = 1500
/** An address that keeps knocking while it is blocked is told of this often. */
const hitsEvery = 30_000
/** Each failure is an event of its own, up to so many of an address at a look. */
const maxPerAddress = 10
/** Attackers can do a lot in a second: so many events at once, and then so many a second. */
const eventBurst = 300
const eventsPerSecond = 20

export interface Watch {
  /**
   * What is new in a full reading of the sets. `even`: milliseconds of a clock that no one sets; `since`: when (of the
   * host's clock) the sets were read before.
   */
  look(seen: readonly Seen[], even: number, now: number, since: number): News[]
  /** Everything that is there now is old. */
  baseline(seen: readonly Seen[], even: number): void
  /** The sets were made anew: what comes in them has not been seen. */
  forget(): void
  /** For the disk. Only once it is safely there (`kept`) may ids be made with the new word. */
  save(): { rows: unknown[]; kept: () => void }
}

/**
 * Turns what the kernel's sets hold into events, each once: what was seen is remembered, also over a restart. `round` is
 * a word that is new with each `save`; an event that is found again after a crash, before the memory of it was saved,
 * gets the id that it had.
 */
export const createWatch = (saved: unknown, newRound: () => string): Watch => {
  const known = new Map<string, Known>()
  const [savedRound, ...rows] = asList(saved)
  let round = asText(savedRound) || newRound()
  for (const row of rows) {
    const [key, generation, count, updated, told] = asList(row)
    if (typeof key !== 'string') continue
    known.set(key, {
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
    look(seen: readonly Seen[], even: number, now: number, since: number): News[] {
      const news: News[] = []
      const present = new Set<string>()
      let unlisted = 0
      // What opens and blocks comes first: the rest may have to stand back.
      const sorted = [...seen].sort((a, b) => importance(a.kind) - importance(b.kind))
      for (const { sequence, kind, ip, count, expires } of sorted) {
        const key = `${kind}|${sequence}|${ip}`
        present.add(key)
        const lives = (kind === 'success' ? doneSeconds : toldSeconds) * 1000
        const updated = even - lives + expires * 1000 + 500
        let before = known.get(key)
        if (before && (count < before.count || (count === before.count && updated > before.updated + 2 * clockBlur)))
          before = undefined
        const entry = before ?? { generation: round, count: 0, updated, told: -hitsEvery + even - 1 }
        known.set(key, entry)
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
      for (const key of known.keys()) if (!present.has(key)) known.delete(key)
      const last = news.at(-1)
      if (unlisted > 0 && last) news[news.length - 1] = { ...last, unlisted }
      return news
    },
    baseline(seen: readonly Seen[], even: number): void {
      for (const { sequence, kind, ip, count } of seen)
        known.set(`${kind}|${sequence}|${ip}`, { generation: round, count, updated: even, told: even })
    },
    forget(): void {
      known.clear()
    },
    save(): { rows: unknown[]; kept: () => void } {
      const next = newRound()
      const rows = [
        next,
        ...[...known].map(([key, { generation, count, updated, told }]) => [
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
