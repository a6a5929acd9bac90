import * as fs from 'node:fs'
import { uptime } from 'node:os'
import { bootOfHost, steadyNow as defaultSteadyNow } from '../../clock.ts'
import { readJson, removeDurably, writeDurably } from '../../files.ts'
import { asFields, asInteger, asList, asText } from '../../json.ts'
import { errorText } from '../../text.ts'
import type { Logins } from '../logins/logins.ts'

/* The day in which no jail of SSH counted anything, and how it survives a restart of the agent. */

/** Addresses that one source remembers for a window; failures of others are not counted. */
const mostAddresses = 5000
/** An agent that was away for longer, milliseconds, may have missed that somebody signed in: the day begins again. */
const longestAway = 900_000

/** What one source told since a window began. */
export class Tally {
  readonly #failures: Map<string, number>
  readonly #accepted: Set<string>

  constructor(failures: Iterable<readonly [string, number]> = [], accepted: Iterable<string> = []) {
    this.#failures = new Map(failures)
    this.#accepted = new Set(accepted)
  }
  add({ failed, accepted }: Logins, isIgnored: (address: string) => boolean): void {
    for (const address of failed) {
      const before = this.#failures.get(address) ?? 0
      if (before === 0 && (this.#failures.size >= mostAddresses || isIgnored(address))) continue
      this.#failures.set(address, before + 1)
    }
    for (const address of accepted) if (this.#accepted.size < mostAddresses) this.#accepted.add(address)
  }
  /** Failures of addresses from which nobody signed in. */
  get failures(): number {
    let sum = 0
    for (const [address, count] of this.#failures) if (!this.#accepted.has(address)) sum += count
    return sum
  }
  toJSON(): unknown {
    return { failures: [...this.#failures], accepted: [...this.#accepted] }
  }
}

/** The time in which no jail counted anything. */
export interface Window {
  /** Of a clock that nobody sets, milliseconds. */
  readonly since: number
  /** Since when this process watches the connection to fail2ban, by the same clock. */
  readonly watchedSince: number
  /** What each jail had counted. */
  readonly totals: ReadonlyMap<string, number>
  readonly tallies: readonly Tally[]
}

export interface WindowFile {
  /** The window that an agent before this one left; null: none that goes on. */
  read(): Window | null
  /** Keeps it for the next agent. A window without failures is not worth a file. Never throws. */
  write(window: Window | null): void
}

/**
 * @param needs.path the file
 * @param needs.socketPath of fail2ban: each start of it makes another socket
 * @param needs.boot changes with each start of the host
 * @param needs.booted milliseconds since then
 */
export const createWindowFile = (needs: {
  path: string
  socketPath: string
  warn: (text: string) => void
  steadyNow?: () => number
  boot?: string
  booted?: () => number
}): WindowFile => {
  const { path, socketPath } = needs
  const steadyNow = needs.steadyNow ?? defaultSteadyNow
  const boot = needs.boot ?? bootOfHost()
  const booted = needs.booted ?? (() => uptime() * 1000)
  /** null: fail2ban cannot be told from another one. */
  const engineMark = (): string | null => {
    const stat = fs.statSync(socketPath, { throwIfNoEntry: false })
    return stat === undefined || boot === '' ? null : `${boot} ${stat.dev}:${stat.ino}:${stat.ctimeMs}`
  }

  return {
    read() {
      const { engine, at, lasted, totals, tallies } = asFields(readJson(path))
      const mark = engineMark()
      const away = booted() - asInteger(at, -Infinity)
      if (mark === null || engine !== mark || away < 0 || away > longestAway) return null
      const now = steadyNow()
      return {
        since: now - away - asInteger(lasted, 0),
        watchedSince: now,
        totals: new Map(countsOf(totals)),
        tallies: asList(tallies).map(tally => {
          const { failures, accepted } = asFields(tally)
          return new Tally(countsOf(failures), asList(accepted).map(asText))
        }),
      }
    },
    write(window) {
      try {
        const engine = engineMark()
        if (window !== null && engine !== null && window.tallies.some(({ failures }) => failures > 0)) {
          const lasted = Math.round(steadyNow() - window.since)
          const { totals, tallies } = window
          const at = Math.round(booted())
          writeDurably(path, JSON.stringify({ v: 1, engine, at, lasted, totals: [...totals], tallies }))
        } else if (fs.existsSync(path)) removeDurably(path)
      } catch (error) {
        needs.warn(`the failed logins that were seen cannot be saved: ${errorText(error)}`)
      }
    },
  }
}

const countsOf = (list: unknown): (readonly [string, number])[] =>
  asList(list).map(pair => {
    const [name, count] = asList(pair)
    return [asText(name), asInteger(count, 0)]
  })
