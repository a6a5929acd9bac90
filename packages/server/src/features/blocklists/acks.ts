import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, agents } from '@stockade/contract'
import { tame } from '../../core/text.ts'
import type { BlocklistHostRow } from './blocklists.store.ts'
import type { GivenList } from './host-lists.ts'

type Applied = BodyOf<typeof agents.acknowledgeState>['shield']
export interface BlocklistAck {
  readonly serverNo: number
  readonly shield: Applied
  readonly at: number
}
type Said = Omit<BlocklistHostRow, 'packets'>

const tooOld = 'The agent of this server is too old for blocklists.'
const otherContent = 'The server does not hold what it was given.'

/** Why the host can hold no lists; null when it can. */
export const notCoveredBy = ({ shield }: BlocklistAck): string | null => {
  // fail2ban takes over fleet bans, and no lists.
  const reason = shield?.bans.not_covered ?? shield?.bans.fallback ?? null
  if (reason !== null) return tame(reason, bounds.reason * 4)
  return shield?.lists === undefined ? tooOld : null
}

/**
 * What a host says of its lists, judged by what it should hold. A version proves nothing without its digest.
 *
 * @param proved the version of a list that the host was proved to hold until now
 */
export const judgeLists = (
  given: readonly GivenList[],
  { serverNo, shield, at }: BlocklistAck,
  proved: (listId: number) => number | null,
): Said[] =>
  given.flatMap(({ id, version, mode, digest }) => {
    const reportedList = shield?.lists?.find(list => list.id === id)
    if (!reportedList) return []
    const row: Said = {
      server_no: serverNo,
      list_id: id,
      version: null,
      mode: null,
      held: reportedList.held,
      acked_at: at,
      error: null,
    }
    // The host is on its way to a newer one and says so then; or it has lost what it held.
    if (reportedList.version < version) return (proved(id) ?? 0) < version ? [] : [row]
    if (reportedList.error) return [{ ...row, error: tame(reportedList.error, bounds.reason * 4) }]
    if (reportedList.mode !== mode) return []
    const isProved = reportedList.version === version && reportedList.digest === digest
    return [isProved ? { ...row, version, mode } : { ...row, error: otherContent }]
  })
