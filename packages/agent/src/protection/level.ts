import { severity } from './model.ts'
import type { Entry, ProtectionLevel } from './model.ts'

export interface Judgement {
  readonly level: ProtectionLevel
  /** The reason for the level, in one sentence. */
  readonly summary: string
}

/** What follows from the checks. A host with a dead fail2ban has one problem: the others are its consequences. */
export const judge = (all: readonly Entry[]): Judgement => {
  const entries = reportable(all)
  const bads = entries.filter(({ state }) => state === 'bad')
  const disarming = disarmingEntry(entries)
  if (disarming) return { level: 'unprotected', summary: `${disarming.detail}${shieldNote(entries)}` }
  const [first, ...others] = [...bads, ...entries.filter(({ isFailure }) => isFailure)]
  if (first) return { level: 'degraded', summary: `${first.detail}${moreNote(others.length)}` }
  const count = (state: Entry['state']): number => entries.filter(each => each.state === state).length
  const [warnings, unseen] = [count('warning'), count('unknown')]
  const note = warnings === 0 ? '' : `, with ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
  const limit = unseen === 0 ? '' : `, as far as the agent can tell: it cannot look at ${unseen} of its checks`
  return { level: 'protected', summary: `What is banned on this server does not get through${note}${limit}` }
}

/** Worst first. While fail2ban is down, what depends on it is left out. */
export const reportable = (all: readonly Entry[]): Entry[] => {
  const isEngineDown = all.some(({ id, state }) => id === 'engine' && state === 'bad')
  return all
    .filter(({ needsEngine }) => !(isEngineDown && needsEngine))
    .sort((a, b) => severity[a.state] - severity[b.state] || a.since - b.since)
}

/** The problem that alone leaves the host unprotected. */
const disarmingEntry = (entries: readonly Entry[]): Entry | undefined => {
  const isBad = ({ state }: Entry): boolean => state === 'bad'
  const enforced = entries.filter(({ id }) => id === 'enforced')
  return (
    entries.find(entry => entry.id === 'engine' && isBad(entry)) ??
    entries.find(entry => entry.id === 'jail' && entry.subject === null && isBad(entry)) ??
    (enforced.some(({ state }) => state === 'ok') ? undefined : enforced.find(isBad))
  )
}

const shieldNote = (entries: readonly Entry[]): string =>
  entries.some(({ id, state }) => id === 'shield' && state === 'ok') ? '; bans by command still hold' : ''

const moreNote = (count: number): string =>
  count === 0 ? '' : `; and ${count} more ${count === 1 ? 'problem' : 'problems'}`
