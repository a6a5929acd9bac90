import type { bans as contract } from '@stockade/contract'
import { iso } from '../../core/clock.ts'
import { csvRow } from '../../core/csv.ts'

type Pieces = AsyncGenerator<readonly contract.ListedBan[]>

const columns = [
  'id',
  'banned_at',
  'ip',
  'jail',
  'server',
  'state',
  'ban_duration',
  'expires_at',
  'unbanned_at',
  'country',
  'city',
  'asn',
  'asn_org',
  'banned_by',
  'reported',
  'reputation_score',
  'occurrences',
  'log_lines',
] as const
const stateOf = (ban: contract.ListedBan) =>
  ban.active
    ? 'active'
    : ban.unbanned_at !== null && (ban.expires_at === null || ban.unbanned_at < ban.expires_at)
      ? 'unbanned'
      : 'expired'
const csv = (ban: contract.ListedBan) => {
  const cells: Partial<Record<(typeof columns)[number], string | number | null>> = {
    ...ban,
    server: ban.server.hostname,
    state: stateOf(ban),
    reported: ban.reported_to_reputation_db ? 'yes' : 'no',
  }
  return csvRow(columns.map(column => String(cells[column] ?? '')))
}

async function* asJson(pieces: Pieces, now: number) {
  yield `{"exported_at":${JSON.stringify(iso(now))},"bans":[`
  let total = 0
  for await (const bans of pieces) {
    yield (total === 0 ? '' : ',') + bans.map(ban => JSON.stringify(ban)).join(',')
    total += bans.length
  }
  yield `],"total":${total}}`
}
async function* asCsv(pieces: Pieces) {
  yield csvRow(columns)
  for await (const bans of pieces) yield bans.map(csv).join('')
}
async function* asPlain(pieces: Pieces) {
  for await (const bans of pieces) yield bans.map(ban => `${ban.ip}\n`).join('')
}
/** The text of an export, made as it is read. */
export const exportAs = (format: 'json' | 'csv' | 'plain', pieces: Pieces, now: number): AsyncGenerator<string> =>
  format === 'json' ? asJson(pieces, now) : format === 'csv' ? asCsv(pieces) : asPlain(pieces)
