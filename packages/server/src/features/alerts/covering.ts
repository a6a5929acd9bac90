import { coveredBy } from './kinds.ts'
import type { AlertState } from './state.ts'

/* One fault is often two alerts: a server without fail2ban is unprotected too. The graver one is told and listed, with the other one as its cause. */

type Known = Pick<
  AlertState,
  'rule' | 'kind' | 'server_no' | 'state' | 'since' | 'absent_since' | 'fired_at' | 'resolved_at'
>

/** Both end a look or two apart, so what is about to be over is judged like what is over: by the time that it held. */
const isEnding = ({ state, absent_since }: Known): boolean => state === 'resolved' || absent_since !== null
const isAtOnce = (one: Known, other: Known): boolean =>
  other.fired_at !== null &&
  other.since <= (one.resolved_at ?? Infinity) &&
  (other.resolved_at ?? Infinity) >= one.since

/** The graver alert of the same server that says the same. One that fires is covered only by one that fires. */
export const coverOf = <Row extends Known>(row: Known, rows: readonly Row[]): Row | undefined => {
  const by = coveredBy[row.kind]
  if (by === undefined || row.server_no === null) return undefined
  const other = rows.find(({ rule, server_no }) => rule === by && server_no === row.server_no)
  if (!other || other.state === 'calm') return undefined
  const isCovering = isEnding(row)
    ? isAtOnce(row, other)
    : other.state === 'firing' || (other.state === 'pending' && row.state === 'pending')
  return isCovering ? other : undefined
}
