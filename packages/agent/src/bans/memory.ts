import { dirname, join } from 'node:path'
import { readJson, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import type { Fields } from '../json.ts'
import { openBanJournal } from './ban-journal.ts'
import { createPlaces } from './places.ts'
import type { RememberedBans } from './remembered-bans.ts'
import { createSeen } from './seen.ts'
import { tableStart } from './table.ts'
import type { Cursor } from './table.ts'
import { errorText } from '../text.ts'

/** A ban by command whose end differs from the one that fail2ban knows. `until` in epoch milliseconds, null for permanent. */
export interface Override {
  readonly jail: string
  readonly ip: string
  readonly until: number | null
}

/** A ban that the agent is about to make. The row that appears for it is the agent's. */
export interface Intent {
  readonly jail: string
  readonly ip: string
  readonly since: number
  /** Null: the renewal of a ban by command, which the server knows already. */
  readonly commandId: string | null
  /** Seconds, -1 permanent, null: as long as the jail says. */
  readonly duration: number | null
}

/**
 * What must survive a restart of the agent. It is written after the outbox, so that a crash between the two repeats
 * events (their ids are the same) and never loses one.
 */
export interface Memory extends RememberedBans {
  started: boolean
  cursor: Cursor
  spool: { inode: number; offset: number }
  /** Longer than the table keeps its rows. */
  readonly seen: RememberedBans['seen']
  readonly active: RememberedBans['active']
  /** Bans reported as ended because their jail was stopped. They may return with the jail. */
  readonly paused: RememberedBans['paused']
  /** jail|ip -> the end of a ban by command. */
  readonly overrides: Map<string, Override>
  readonly intents: Map<string, Intent>
}

const keepSeenFor = 9 * 24 * 3600
const forgetEvery = 3_600_000

export const placeKey = (jail: string, ip: string): string => `${jail}|${ip}`

/** Saves at most once a second; `save` refuses while `ready` says that the outbox is not on the disk. */
export const openMemory = (
  path: string,
  options: { ready: () => boolean; now: () => number; warn: (text: string) => void },
) => {
  const { memory, isTrusted } = restore(readJson(path))
  const journal = openBanJournal(join(dirname(path), 'bans.jsonl'), memory, { isTrusted })
  let forgotAt = -Infinity
  let timer: NodeJS.Timeout | null = null
  let savedAt = 0

  const save = (): void => {
    if (timer) clearTimeout(timer)
    timer = null
    if (!options.ready()) return later(5000)
    try {
      if (options.now() - forgotAt > forgetEvery) {
        memory.seen.forget(options.now() / 1000 - keepSeenFor)
        forgotAt = options.now()
      }
      journal.save()
      writeDurably(path, serialise(memory))
      savedAt = options.now()
    } catch (error) {
      options.warn(`the state cannot be written: ${errorText(error)}`)
      later(5000)
    }
  }

  const later = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = null
      save()
    }, ms)
  }

  return {
    memory,
    /** Something changed that a restart could recover: saved soon. */
    changed: (): void => later(Math.max(0, Math.min(1000, savedAt + 1000 - options.now()))),
    /** Something changed that a restart must know: saved now. */
    save,
  }
}

const serialise = (memory: Memory): string =>
  JSON.stringify({
    v: 2,
    started: memory.started,
    cursor: memory.cursor,
    spool: memory.spool,
    overrides: [...memory.overrides.values()],
    intents: [...memory.intents.values()],
  })

/** What the agent knows before its first run. */
export const createMemory = (): Memory => ({
  started: false,
  cursor: tableStart,
  spool: { inode: 0, offset: 0 },
  seen: createSeen(),
  active: createPlaces(),
  paused: createPlaces(),
  overrides: new Map(),
  intents: new Map(),
})

/** `isTrusted`: the bans are in their journal; false: version 1, which had them in the same file. */
const restore = (value: unknown): { memory: Memory; isTrusted: boolean } => {
  const file = asFields(value)
  const memory = createMemory()
  const cursor = asFields(file['cursor'])
  const key = asList(cursor['key'])
  const spool = asFields(file['spool'])
  memory.started = file['started'] === true
  if (key.length === 3)
    memory.cursor = { last: asInteger(cursor['last'], 0), key: [asText(key[0]), asText(key[1]), asInteger(key[2], 0)] }
  memory.spool = { inode: asInteger(spool['inode'], 0), offset: asInteger(spool['offset'], 0) }
  for (const fields of asList(file['overrides']).map(asFields)) {
    const until = typeof fields['until'] === 'number' ? fields['until'] : null
    memory.overrides.set(placeKey(...placeOf(fields)), { ...placed(fields), until })
  }
  for (const fields of asList(file['intents']).map(asFields))
    memory.intents.set(placeKey(...placeOf(fields)), {
      ...placed(fields),
      since: asInteger(fields['since'], 0),
      commandId: typeof fields['commandId'] === 'string' ? fields['commandId'] : null,
      duration: typeof fields['duration'] === 'number' ? fields['duration'] : null,
    })
  const isTrusted = file['v'] !== 1
  if (!isTrusted) restoreFirstVersion(file, memory)
  return { memory, isTrusted }
}

const restoreFirstVersion = (file: Fields, memory: Memory): void => {
  for (const name of Object.keys(asFields(file['seen']))) {
    const [, jail = '', ip = '', time = ''] = /^([^|]*)\|(.*)\|(\d+)$/s.exec(name) ?? []
    if (time !== '') memory.seen.add([jail, ip, Number(time)])
  }
  for (const part of ['active', 'paused'] as const)
    for (const fields of asList(file[part]).map(asFields))
      memory[part].set({
        ...placed(fields),
        time: asInteger(fields['time'], 0),
        bantime: asInteger(fields['bantime'], -1),
        round: asInteger(fields['round'], 0),
      })
}

const placeOf = (fields: Fields): [jail: string, ip: string] => [asText(fields['jail']), asText(fields['ip'])]

const placed = (fields: Fields): { jail: string; ip: string } => {
  const [jail, ip] = placeOf(fields)
  return { jail, ip }
}
