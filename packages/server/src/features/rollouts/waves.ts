import type { StateCount } from './rollouts.store.ts'

/** A wave may lose one server, or this share, before the rollout pauses. */
const mostFailures = 1
const largestShare = 0.02
/** The share of the upgraded servers that must report. */
const reportingShare = 0.95

export const usualShares: readonly number[] = [5, 25, 100]

/**
 * Sorts servers into waves: one first, then the shares of the rest. Every wave but the last holds servers that can be upgraded now,
 * so that each one says something about the release.
 *
 * @param ready servers that are online and take upgrades, in the order in which they go
 * @param later all others; they are in the last wave
 */
export const wavesOf = (
  ready: readonly number[],
  later: readonly number[],
  shares: readonly number[],
): readonly (readonly number[])[] => {
  const [first, ...rest] = ready
  const waves: number[][] = first === undefined ? [] : [[first]]
  let start = 0
  for (const share of shares) {
    const end = share === 100 ? rest.length : Math.max(start, Math.ceil((rest.length * share) / 100))
    if (end > start) waves.push(rest.slice(start, end))
    start = end
  }
  const last = waves.at(-1)
  if (waves.length > 1 && last) last.push(...later)
  else if (later.length > 0) waves.push([...later])
  return waves
}

export type Counts = Readonly<Record<StateCount['state'], number>>
const noCounts: Counts = { waiting: 0, ordered: 0, watched: 0, done: 0, failed: 0, skipped: 0 }
export const countsOf = (rows: readonly StateCount[]): Counts => {
  const counts = { ...noCounts }
  for (const { state, n } of rows) counts[state] += n
  return counts
}

const servers = (count: number): string => (count === 1 ? '1 server' : `${count} servers`)

/** Why a rollout has to pause; null if it goes on. What was accepted at a resumption does not count again. */
export const whyPause = (
  wave: { readonly number: number; readonly counts: Counts; readonly accepted: number },
  upgraded: { readonly count: number; readonly silent: number; readonly accepted: number },
): string | null => {
  const { failed, done, ordered, watched } = wave.counts
  const news = failed - wave.accepted
  const begun = failed + done + ordered + watched
  if (news > 0 && (news > mostFailures || news / begun > largestShare))
    return `${failed} of ${servers(begun)} in wave ${wave.number + 1} failed.`
  const reporting = upgraded.count - upgraded.silent
  if (upgraded.silent > upgraded.accepted && reporting < upgraded.count * reportingShare)
    return `${upgraded.silent} of ${servers(upgraded.count)} that were upgraded no longer report.`
  return null
}
