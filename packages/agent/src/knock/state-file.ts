import { join } from 'node:path'
import { readJson, readText, removeDurably, writeDurably } from '../files.ts'
import { asFields, asList, asText } from '../json.ts'
import { errorText } from '../text.ts'
import { parseKnock } from './model.ts'
import type { Sequence } from './model.ts'
import type { ListName } from './rules.ts'

/** What port knocking remembers across a restart. */
export interface SavedKnock {
  /** The version of the last state of the server; "" before the first. */
  readonly version: string
  /** That state as it came. `parseKnock` judges it again when it is read. */
  readonly wanted: unknown
  /** The sequences that were in force while the server answered. */
  readonly proved: readonly Sequence[]
  readonly lists: Readonly<Record<ListName, unknown>>
  /** The clock of the ends in `lists`, for `KnockTime.shiftSince`. */
  readonly clock: unknown
  /** What the watch has reported already; undefined when no run has saved it. */
  readonly seen: unknown
}

export interface KnockStateFile {
  read(): SavedKnock
  /** Answers whether the state is safely on the disk. */
  write(saved: SavedKnock): boolean
  /** The rules that the host's next start loads before the agent runs; null: none. */
  writeRules(text: string | null): void
}

export const createStateFile = (directory: string, warn: (text: string) => void): KnockStateFile => {
  const stateFile = join(directory, 'knock.json')
  const rulesFile = join(directory, 'knock.nft')

  return {
    read() {
      const { version, wanted, proved, open, block, kill, clock, seen } = asFields(readJson(stateFile))
      return {
        version: asText(version),
        wanted,
        proved: parseKnock({ sequences: asList(proved) }).sequences,
        lists: { open, block, kill },
        clock,
        seen,
      }
    },
    write({ version, wanted, proved, lists, clock, seen }) {
      try {
        const text = JSON.stringify({ v: 1, version, wanted, proved: proved.map(wireForm), ...lists, clock, seen })
        writeDurably(stateFile, text)
        return true
      } catch (error) {
        warn(`port knocking: cannot save its state: ${errorText(error)}`)
        return false
      }
    },
    // A full disk must not stop a change of the rules, so this never throws.
    writeRules(text) {
      try {
        if (readText(rulesFile) === text) return
        if (text === null) removeDurably(rulesFile)
        else writeDurably(rulesFile, text)
      } catch (error) {
        warn(`port knocking: cannot save its rules for the next start of the host: ${errorText(error)}`)
      }
    },
  }
}

/** While knocks come in, the state is written to the disk at most this often, milliseconds. */
const saveEvery = 2000

/** Decides when there is something to save, and when it is time for it. */
export interface Saver {
  /** There is something to save. */
  mark(): void
  save(): void
  saveIfChanged(): void
  saveIfDue(isUrgent: boolean): void
}

/** `write` answers whether the state is safely on the disk. */
export const createSaver = (now: () => number, write: () => boolean): Saver => {
  let isUnsaved = false
  let savedAt = -Infinity
  const save = (): void => {
    if (write()) isUnsaved = false
    savedAt = now()
  }
  return {
    mark() {
      isUnsaved = true
    },
    save,
    saveIfChanged() {
      if (isUnsaved) save()
    },
    saveIfDue(isUrgent) {
      if (isUnsaved && (isUrgent || now() - savedAt > saveEvery)) save()
    },
  }
}

/** The server's own form of a sequence, so that `parseKnock` reads saved sequences too. */
const wireForm = (sequence: Sequence): Record<string, unknown> => ({
  id: sequence.id,
  revision: sequence.revision,
  protected_port: sequence.protectedPort,
  knock_ports: sequence.knockPorts,
  protocol: sequence.protocol,
  timeout: sequence.timeout,
  knock_timeout: sequence.knockTimeout,
  max_attempts: sequence.maxAttempts,
  block_duration: sequence.blockDuration,
})
