import * as fs from 'node:fs'
import type { EngineConfig } from '../../engine/config.ts'
import type { Engine } from '../../engine/engine.ts'
import { asFields } from '../../json.ts'
import type { Interpreter } from '../../python/interpreter.ts'
import { bad, ok, unknown } from '../model.ts'
import type { Finding } from '../model.ts'
import { askJournald, hasUnit, journalMark } from './journald.ts'

/** fail2ban notes every few seconds how far it has read. */
const unreadFor = 12_000
/** Seconds by which times of the same entry may differ. */
const tolerance = 1

/** The newest entry that concerns a jail, and the last one it has read; times in seconds. */
interface Reading {
  readonly newest: number | null
  readonly position: number | null
  readonly error: string | null
}

interface JournalJail {
  readonly name: string
  readonly matches: readonly (readonly string[])[]
  readonly options: Readonly<Record<string, string>>
}

export interface JournalJails {
  /** Whether these jails get what is written to the journal. `matchesOf`: what each wants of it. */
  look(matchesOf: ReadonlyMap<string, readonly (readonly string[])[]>): Promise<Finding[]>
}

export const createJournalJails = (needs: {
  engine: Pick<Engine, 'databaseFile' | 'connectedFor' | 'version'>
  config: Pick<EngineConfig, 'jails'>
  python: Interpreter
  program: string
  now: () => number
}): JournalJails => {
  const { engine, now } = needs
  /** Jail -> when it was seen first with this fail2ban. At its start, a jail passes over entries that are too old. */
  const since = new Map<string, number>()
  /** Jail -> an entry that it had not read, and when that was noticed. */
  const unread = new Map<string, { readonly entryAt: number; readonly noticedAt: number }>()
  let last: { readonly mark: string; readonly readings: ReadonlyMap<string, Reading> } | null = null

  const read = async (jails: readonly JournalJail[]): Promise<ReadonlyMap<string, Reading>> => {
    const db = await engine.databaseFile()
    const mark = markOf(db, jails)
    if (last?.mark === mark) return last.readings
    const reply = asFields(JSON.parse(await needs.python.run(needs.program, { db, jails })))
    const readings = new Map(jails.map(({ name }) => [name, readingOf(reply[name])]))
    last = { mark, readings }
    return readings
  }

  const isStuck = (jail: string, { newest, position }: Reading): boolean => {
    const startedAt = since.get(jail) ?? now()
    const unreadState = unread.get(jail)
    if (unreadState && (position ?? 0) + tolerance < unreadState.entryAt)
      return now() - unreadState.noticedAt >= unreadFor
    unread.delete(jail)
    const isUnread = newest !== null && newest * 1000 > startedAt && newest > (position ?? 0) + tolerance
    // fail2ban before 1.0 does not note how far it has read.
    if (isUnread && (position !== null || Number.parseInt(engine.version() ?? '0', 10) >= 1))
      unread.set(jail, { entryAt: newest, noticedAt: now() })
    return false
  }

  const judge = async (jail: JournalJail, reading: Reading): Promise<Finding> => {
    const { name } = jail
    const namespace = jail.options['namespace'] ?? null
    if (!readsFiles(jail)) {
      const state = await askJournald(namespace)
      if (state === 'down')
        return bad(name, `jail ${name} reads the journal, but journald does not run: nothing new is found`)
      if (state === 'hung')
        return bad(name, `jail ${name} reads the journal, but journald does not answer: nothing new is found`)
      if (journalMark(namespace) === null)
        return bad(name, `jail ${name} reads the journal, but this server keeps none: nothing is found`)
    }
    if (reading.error !== null) return unknown(name, `the journal cannot be read for jail ${name}: ${reading.error}`)
    const missing = reading.newest === null ? missingUnits(jail.matches) : null
    if (missing !== null)
      return bad(name, `jail ${name} reads the messages of ${missing} in the journal, but this server has no such unit`)
    if (isStuck(name, reading))
      return bad(name, `jail ${name} does not read the journal: messages that concern it are unread`)
    return ok(name)
  }

  return {
    async look(matchesOf) {
      for (const jail of since.keys()) if (!matchesOf.has(jail)) since.delete(jail)
      if (matchesOf.size === 0) return []
      const connectedAt = now() - (engine.connectedFor() ?? 0)
      const backends = new Map((await needs.config.jails().catch(() => [])).map(({ name, backend }) => [name, backend]))
      const jails: JournalJail[] = []
      for (const [name, matches] of matchesOf) {
        const knownSince = since.get(name)
        if (knownSince === undefined || knownSince < connectedAt) since.set(name, now())
        jails.push({ name, matches, options: optionsOf(backends.get(name) ?? '') })
      }
      const readings = await read(jails)
      const findings: Finding[] = []
      for (const jail of jails) findings.push(await judge(jail, readings.get(jail.name) ?? noReading))
      return findings
    },
  }
}

const noReading: Reading = { newest: null, position: null, error: null }

const readsFiles = ({ options }: JournalJail): boolean => 'journalpath' in options || 'journalfiles' in options

/** Changes when a jail, the journal or fail2ban's positions change. The files of a journal elsewhere are not known: always another. */
const markOf = (db: string | null, jails: readonly JournalJail[]): string => {
  if (jails.some(readsFiles)) return `${Math.random()}`
  const database = db === null ? '' : `${fs.statSync(db, { throwIfNoEntry: false })?.mtimeMs ?? 0}`
  const namespaces = new Set(jails.map(({ options }) => options['namespace'] ?? null))
  return JSON.stringify([jails, database, [...namespaces].map(journalMark)])
}

/** The options of a backend such as `systemd[namespace=web, journalflags=1]`. */
const optionsOf = (backend: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...backend.matchAll(/(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^,\]]*))/g)].map(([, name = '', ...values]) => [
      name,
      values.find(value => value !== undefined)?.trim() ?? '',
    ]),
  )

/** The units whose messages a jail wants, if it wants no others and this host has none of them. */
export const missingUnits = (
  matches: readonly (readonly string[])[],
  isThere: (unit: string) => boolean = hasUnit,
): string | null => {
  const units = matches.map(match => match.find(element => element.startsWith('_SYSTEMD_UNIT='))?.slice(14) ?? null)
  if (units.length === 0 || units.some(unit => unit === null || isThere(unit))) return null
  return [...new Set(units)].join(', ')
}

const readingOf = (value: unknown): Reading => {
  const fields = asFields(value)
  const number = (name: string): number | null => (typeof fields[name] === 'number' ? fields[name] : null)
  return {
    newest: number('newest'),
    position: number('position'),
    error: typeof fields['error'] === 'string' ? fields['error'] : null,
  }
}
