import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, agents } from '@stockade/contract'
import { tame } from '../../core/text.ts'
import type { FleetHostRow } from './fleet.store.ts'
import type { HostSets } from './host-sets.ts'

type Applied = BodyOf<typeof agents.acknowledgeState>['shield']
type Said = Omit<FleetHostRow, 'wanted'>

export interface FleetAck {
  readonly serverNo: number
  readonly shield: Applied
  readonly at: number
}

const tooOld = 'The agent of this server is too old for fleet bans.'
const unknownVersion = 'The host confirmed a version that it was never given.'
const otherSet = 'The host does not hold what it was given.'

/** What a host says, judged by what it should hold. Null: it says nothing new. */
export const judgeAck = (
  sets: Pick<HostSets, 'version' | 'digestWithout'>,
  before: FleetHostRow | undefined,
  { serverNo, shield, at }: FleetAck,
): Said | null => {
  const wanted = sets.version(serverNo)
  const nothing = { server_no: serverNo, version: null, acked_at: at, held: null, refused: null, problem: null }
  if (!shield) return wanted === 0 ? null : { ...nothing, not_covered: tooOld }
  const { version, held, digest, refused, not_covered = null } = shield.bans
  // The host is on its way to a newer one, and says so then.
  if (version < wanted && not_covered === null) return null
  const rows = refused.map(({ id, reason }) => [id, tame(reason, bounds.reason * 4)] as const)
  const said = { ...nothing, held, refused: rows.length === 0 ? null : JSON.stringify(rows) }
  if (not_covered !== null) return { ...said, not_covered: tame(not_covered, bounds.reason * 4) }
  const isProved = version === wanted && digest === sets.digestWithout(serverNo, new Set(refused.map(({ id }) => id)))
  if (isProved) return { ...said, version, not_covered: null }
  const problem = version > wanted ? unknownVersion : otherSet
  return { ...said, held: version > wanted ? (before?.held ?? null) : held, problem, not_covered: null }
}

/** Whether anything but the time differs. */
export const isNews = (before: FleetHostRow | undefined, said: Said): boolean =>
  before === undefined ||
  before.version !== said.version ||
  before.held !== said.held ||
  before.refused !== said.refused ||
  before.problem !== said.problem ||
  before.not_covered !== said.not_covered
