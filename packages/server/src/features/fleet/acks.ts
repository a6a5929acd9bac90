import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, agents } from '@stockade/contract'
import { tame } from '../../core/text.ts'
import type { FleetHostRow } from './fleet.store.ts'
import type { HostSets } from './host-sets.ts'
import { jsonText } from '../../core/json-text.ts'

type Applied = NonNullable<BodyOf<typeof agents.acknowledgeState>['shield']>
type Said = Omit<FleetHostRow, 'wanted'>

export interface FleetAck {
  readonly serverNo: number
  readonly shield: Applied | undefined
  readonly at: number
}

const tooOld = 'The agent of this server is too old for fleet bans.'
const unknownVersion = 'The server confirmed a version that it was never given.'
const otherSet = 'The server does not hold what it was given.'

/** What a host says, judged by what it should hold. Null: it says nothing new. */
export const judgeAck = (
  sets: Pick<HostSets, 'version' | 'digestWithout'>,
  before: FleetHostRow | undefined,
  ack: FleetAck,
): Said | null => {
  const { serverNo, shield } = ack
  const desiredVersion = sets.version(serverNo)
  if (!shield) return desiredVersion === 0 ? null : { ...nothingFrom(ack), not_covered: tooOld }
  const report = saidIn(ack, shield.bans)
  const { version, held, digest, refused } = shield.bans
  // The host is on its way to a newer one, and says so then.
  if (version < desiredVersion && report.not_covered === null) return null
  if (report.not_covered !== null) return report
  const isProved =
    version === desiredVersion && digest === sets.digestWithout(serverNo, new Set(refused.map(({ id }) => id)))
  if (isProved) return { ...report, version }
  const problem = version > desiredVersion ? unknownVersion : otherSet
  return { ...report, held: version > desiredVersion ? (before?.held ?? null) : held, problem }
}

const nothingFrom = ({ serverNo, at }: FleetAck) => ({
  server_no: serverNo,
  version: null,
  acked_at: at,
  held: null,
  refused: null,
  problem: null,
  not_covered: null,
  fallback: null,
})

/** The row of what a host says, before anything is proved. */
const saidIn = (ack: FleetAck, { held, refused, not_covered = null, fallback = null }: Applied['bans']): Said => {
  const tamed = (text: string) => tame(text, bounds.reason * 4)
  const clean = (text: string | null) => (text === null ? null : tamed(text))
  const rows = refused.map(({ id, reason }) => [id, tamed(reason)] as const)
  return {
    ...nothingFrom(ack),
    held,
    refused: rows.length === 0 ? null : jsonText(rows),
    not_covered: clean(not_covered),
    fallback: not_covered === null ? clean(fallback) : null,
  }
}

/** Whether anything but the time differs. */
export const isNews = (before: FleetHostRow | undefined, said: Said): boolean =>
  before === undefined ||
  before.version !== said.version ||
  before.held !== said.held ||
  before.refused !== said.refused ||
  before.problem !== said.problem ||
  before.not_covered !== said.not_covered ||
  before.fallback !== said.fallback
