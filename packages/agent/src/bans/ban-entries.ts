import { bounds } from '@stockade/contract/limits.ts'
import { banEventId, unbanEventId } from '../event-id.ts'
import { canonicalIp } from '../ip.ts'
import type { Entry } from '../outbox.ts'
import { cleanText, lastBytes } from '../text.ts'
import type { Intent } from './memory.ts'
import type { ActiveBan } from './remembered-bans.ts'
import { stampOf } from './rounds.ts'
import type { BanRow } from './table.ts'

const maxLogBytes = 4 * 1024
/** The length of a ban of which only fail2ban knows the end; -1 is a permanent one. */
export const unknownLength = -2

/** The id under which a ban that is in force was reported last. */
export const activeEventId = (serverId: string, ban: ActiveBan): string =>
  banEventId(serverId, ban.jail, ban.ip, stampOf(ban))

/** The API accepts 1 s to a year of fail2ban's. Longer bans go without a duration, and their end is reported when it happens. */
const durationOf = (bantime: number): number | null =>
  bantime === unknownLength ? null : bantime < 0 ? -1 : bantime > bounds.seconds ? null : Math.max(1, bantime)

/** Builds the outbox entries that report bans to the server. */
export const createBanEntries = (needs: {
  serverId: string
  clockOffset: () => number | null
  /** Whether the server may see the lines that this jail found. */
  tellsLines: (jail: string) => boolean
}) => {
  const banEntry = (row: BanRow, ip: string, eventId: string, intent: Intent | null): Entry => ({
    kind: 'ban',
    at: row.time * 1000,
    offset: needs.clockOffset(),
    ban: {
      event_id: eventId,
      ip,
      jail: cleanText(row.jail),
      log_lines: needs.tellsLines(row.jail) ? lastBytes(cleanText(row.logLines), maxLogBytes) : '',
      ban_duration: durationOf(intent?.duration ?? row.bantime),
      ...(intent?.commandId ? { command_id: intent.commandId } : {}),
      ...(row.failures === 0 ? { source: 'manual' as const } : {}),
    },
  })

  const unbanEntry = (ban: ActiveBan, at: number): Entry => ({
    kind: 'unban',
    at: Math.round(Math.max(at, ban.time * 1000)),
    offset: needs.clockOffset(),
    unban: {
      event_id: unbanEventId(needs.serverId, ban.jail, ban.ip, stampOf(ban)),
      ip: canonicalIp(ban.ip) ?? ban.ip,
      jail: cleanText(ban.jail),
    },
  })

  const adoptEntry = (ban: ActiveBan, at: number, length: number): Entry[] => {
    const ip = canonicalIp(ban.ip)
    if (ip === null) return []
    const adopt = {
      event_id: activeEventId(needs.serverId, ban),
      jail: cleanText(ban.jail),
      ip,
      ban_duration: durationOf(length),
    }
    return [{ kind: 'adopt', at, offset: needs.clockOffset(), adopt }]
  }

  return { banEntry, unbanEntry, adoptEntry }
}
