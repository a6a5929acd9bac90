import { readJson, writeDurably } from '../files.ts'
import { asFields, asInteger, asList, asText } from '../json.ts'
import type { Fields } from '../json.ts'
import { tableStart } from './table.ts'
import type { BanKey, Cursor } from './table.ts'

/** A reported ban that has not ended. */
export interface ActiveBan {
  readonly jail: string
  readonly ip: string
  readonly time: number
  readonly bantime: number
  readonly eventId: string
  /** How often it was reported before: a ban returns when its jail is disabled and enabled again. */
  readonly round: number
}

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
export interface Memory {
  started: boolean
  cursor: Cursor
  spool: { inode: number; offset: number }
  /** jail|ip|time -> time. Longer than the table keeps its rows. */
  readonly seen: Map<string, number>
  /** jail|ip -> the ban. */
  readonly active: Map<string, ActiveBan>
  /** jail|ip -> a ban reported as ended because its jail was stopped. It may return with the jail. */
  readonly paused: Map<string, ActiveBan>
  readonly overrides: Map<string, Override>
  readonly intents: Map<string, Intent>
}

const keepSeenFor = 9 * 24 * 3600

export const seenKey = ([jail, ip, time]: BanKey): string => `${jail}|${ip}|${time}`

export const placeKey = (jail: string, ip: string): string => `${jail}|${ip}`

/** Saves at most once a second; `save` refuses while `ready` says that the outbox is not on the disk. */
export const openMemory = (
  path: string,
  options: { ready: () => boolean; now: () => number; warn: (text: string) => void },
) => {
  const memory = restore(readJson(path))
  let timer: NodeJS.Timeout | null = null
  let savedAt = 0

  const save = (): void => {
    if (timer) clearTimeout(timer)
    timer = null
    if (!options.ready()) return later(5000)
    try {
      forget(memory.seen, options.now() / 1000 - keepSeenFor)
      writeDurably(path, serialise(memory))
      savedAt = options.now()
    } catch (error) {
      options.warn(`the state cannot be written: ${(error as Error).message}`)
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

const forget = (seen: Map<string, number>, before: number): void => {
  for (const [key, time] of seen) if (time < before) seen.delete(key)
}

const serialise = (memory: Memory): string =>
  JSON.stringify({
    v: 1,
    started: memory.started,
    cursor: memory.cursor,
    spool: memory.spool,
    seen: Object.fromEntries(memory.seen),
    active: [...memory.active.values()],
    paused: [...memory.paused.values()],
    overrides: [...memory.overrides.values()],
    intents: [...memory.intents.values()],
  })

const restore = (value: unknown): Memory => {
  const file = asFields(value)
  const cursor = asFields(file['cursor'])
  const key = asList(cursor['key'])
  const spool = asFields(file['spool'])
  const placed = <T extends { jail: string; ip: string }>(list: unknown, read: (fields: Fields) => T): Map<string, T> =>
    new Map(
      asList(list)
        .map(item => read(asFields(item)))
        .map(item => [placeKey(item.jail, item.ip), item]),
    )
  const place = (fields: Fields): { jail: string; ip: string } => ({
    jail: asText(fields['jail']),
    ip: asText(fields['ip']),
  })
  const banOf = (fields: Fields): ActiveBan => ({
    ...place(fields),
    time: asInteger(fields['time'], 0),
    bantime: asInteger(fields['bantime'], -1),
    eventId: asText(fields['eventId']),
    round: asInteger(fields['round'], 0),
  })
  return {
    started: file['started'] === true,
    cursor:
      key.length === 3
        ? { last: asInteger(cursor['last'], 0), key: [asText(key[0]), asText(key[1]), asInteger(key[2], 0)] }
        : tableStart,
    spool: { inode: asInteger(spool['inode'], 0), offset: asInteger(spool['offset'], 0) },
    seen: new Map(Object.entries(asFields(file['seen'])).map(([name, time]) => [name, asInteger(time, 0)])),
    active: placed(file['active'], banOf),
    paused: placed(file['paused'], banOf),
    overrides: placed(file['overrides'], fields => ({
      ...place(fields),
      until: typeof fields['until'] === 'number' ? fields['until'] : null,
    })),
    intents: placed(file['intents'], fields => ({
      ...place(fields),
      since: asInteger(fields['since'], 0),
      commandId: typeof fields['commandId'] === 'string' ? fields['commandId'] : null,
      duration: typeof fields['duration'] === 'number' ? fields['duration'] : null,
    })),
  }
}
