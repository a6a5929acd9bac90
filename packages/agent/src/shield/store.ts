import { join } from 'node:path'
import { readJson, writeDurably } from '../files.ts'
import { canonicalIp } from '../ip.ts'
import { asFields, asInteger, asList } from '../json.ts'

/** A ban of the shield. */
export interface ShieldBan {
  /** A canonical address or range. */
  readonly entry: string
  /** When it ends, in the server's time (epoch milliseconds); null: never. */
  readonly until: number | null
  /** When it was made, in the host's time (epoch seconds). It is part of the id of the report. */
  readonly bannedAt: number
  /** Seconds as ordered, -1: permanent. */
  readonly duration: number
  readonly commandId: string | null
  /** The ban is too wide to stay without a confirmation, and has none yet. */
  readonly isOnTrial: boolean
  /** Connections that were open before the ban end with it. */
  readonly isCut: boolean
}

export interface SavedShield {
  /** The server's time when the file was written. */
  readonly savedAt: number
  /** The server's clock minus the host's at that time, milliseconds. */
  readonly offset: number
  /** Until when the shield is off, in the host's time; null: until it is switched on; undefined: it is on. */
  readonly offUntil: number | null | undefined
  readonly bans: readonly ShieldBan[]
  /** Whether the bans of fail2ban's jail were taken over. */
  readonly hasMoved: boolean
}

export const shieldFile = (stateDirectory: string): string => join(stateDirectory, 'shield.json')

/** Absent or unreadable: an empty shield. */
export const readShieldFile = (path: string): SavedShield => {
  const fields = asFields(readJson(path))
  const off = fields['offUntil']
  return {
    savedAt: asInteger(fields['savedAt'], 0),
    offset: asInteger(fields['offset'], 0),
    offUntil: off === null ? null : typeof off === 'number' ? off : undefined,
    bans: asList(fields['bans']).flatMap(readBan),
    hasMoved: fields['hasMoved'] === true,
  }
}

export const writeShieldFile = (path: string, { savedAt, offset, offUntil, bans, hasMoved }: SavedShield): void =>
  writeDurably(
    path,
    JSON.stringify({
      v: 1,
      savedAt,
      offset,
      offUntil,
      hasMoved,
      bans: bans.map(ban => [
        ban.entry,
        ban.until,
        ban.bannedAt,
        ban.duration,
        ban.commandId,
        ban.isOnTrial,
        ban.isCut,
      ]),
    }),
  )

/** A row of the file; a row that is not understood is left out. */
const readBan = (row: unknown): ShieldBan[] => {
  const [text, until, bannedAt, duration, commandId, isOnTrial, isCut] = asList(row)
  const entry = typeof text === 'string' ? canonicalIp(text) : null
  if (entry === null || (until !== null && typeof until !== 'number')) return []
  return [
    {
      entry,
      until,
      bannedAt: asInteger(bannedAt, 0),
      duration: asInteger(duration, -1),
      commandId: typeof commandId === 'string' ? commandId : null,
      isOnTrial: isOnTrial === true,
      isCut: isCut === true,
    },
  ]
}
