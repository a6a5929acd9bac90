import { definition } from './model.ts'
import type { KnockState, Sequence } from './model.ts'

/** Why a sequence is not in force. */
export interface Refusal {
  readonly state: 'unsupported' | 'failed'
  readonly error: string
}

export interface Judgement {
  /** The sequences that this host may enforce together. */
  readonly sequences: readonly Sequence[]
  /** Why the others are refused, by sequence id. */
  readonly refusals: ReadonlyMap<number, Refusal>
}

/** What the judgement depends on besides the sequences. */
export interface JudgedHost {
  /** The ports of a protocol on which a program listens. */
  listening(protocol: 'tcp' | 'udp'): ReadonlySet<number>
  /** Why a port must not be closed, or null. `isClosed`: it is closed already. */
  whyNotClose(port: number, isClosed: boolean): string | null
  isProved(sequence: Sequence): boolean
  /** Why the rules of this sequence were taken back, if they were. */
  whyTakenBack(sequence: Sequence): string | undefined
}

/** Decides which of the wanted sequences this host may enforce. Of two that conflict, the first one wins. */
export const judgeSequences = (wanted: KnockState, host: JudgedHost): Judgement => {
  const sequences: Sequence[] = []
  const refusals = new Map<number, Refusal>()
  const busyPorts = { tcp: host.listening('tcp'), udp: host.listening('udp') }
  const protectedPorts = new Set(wanted.sequences.map(({ protectedPort }) => protectedPort))

  const whyNot = (sequence: Sequence): string | null => {
    const { knockPorts, protocol } = sequence
    const isProved = host.isProved(sequence)
    const reason = host.whyNotClose(sequence.protectedPort, isProved) ?? host.whyTakenBack(sequence) ?? null
    if (reason !== null) return reason
    const closedPort = knockPorts.find(port => protectedPorts.has(port))
    if (closedPort !== undefined) return `its knock port ${closedPort} is the protected port of a sequence`
    const rival = sequences.find(
      other => other.protocol === protocol && other.knockPorts.some(port => knockPorts.includes(port)),
    )
    if (rival) return `it shares a knock port with sequence ${rival.id}`
    const busyPort = knockPorts.find(port => busyPorts[protocol].has(port))
    // A sequence in force stays: a program that starts to listen later must not open the protected port.
    return busyPort === undefined || isProved
      ? null
      : `something on this host listens on its knock port ${protocol} ${busyPort}`
  }

  for (const { id, error } of wanted.faults)
    refusals.set(id, { state: 'failed', error: `the server describes it in a way that makes no sense: ${error}` })
  for (const sequence of wanted.sequences) {
    const error = whyNot(sequence)
    if (error === null) sequences.push(sequence)
    else refusals.set(sequence.id, { state: 'failed', error })
  }
  return { sequences, refusals }
}

/** Whether both stand for the same firewall rules; revisions may differ. */
export const haveSameRules = (one: readonly Sequence[], other: readonly Sequence[]): boolean =>
  one.length === other.length && one.every((sequence, i) => definition(sequence) === definition(other[i] ?? sequence))
