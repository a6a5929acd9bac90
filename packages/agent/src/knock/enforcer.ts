import type { Log } from '../log.ts'
import { errorText } from '../text.ts'
import type { KnockAcknowledgement } from '../wire.ts'
import { haveSameRules, judgeSequences } from './judge.ts'
import type { JudgedHost, Judgement, Refusal } from './judge.ts'
import { listChanges } from './members.ts'
import type { Lists } from './members.ts'
import { definition } from './model.ts'
import type { KnockState, Listed } from './model.ts'
import { NftRefused } from './nft.ts'
import type { Nft } from './nft.ts'
import type { KnockTable } from './table.ts'
import type { KnockTime } from './time.ts'
import type { Trial } from './trial.ts'

/** What was refused may have become possible: a program ended, nftables was installed. */
const retryEvery = 60_000

/** Brings rules and lists in line with the state that the server wants. All but `report` and `retryAt` run in turn. */
export interface Enforcer {
  rules(): Promise<void>
  /** Openings, blocks and cuts. The state was requested at `askedAt`, on the steady clock. */
  lists(askedAt: number): Promise<void>
  /** Loads everything again, after somebody damaged the table. */
  restore(damage: string): Promise<void>
  /** Decides again which sequences this host may enforce, and changes nothing. */
  judge(): void
  /** When to try again what was refused; Infinity: nothing was. */
  retryAt(): number
  /** What became of the wanted state. */
  report(): KnockAcknowledgement
}

export const createEnforcer = (needs: {
  wanted: () => KnockState
  table: KnockTable
  trial: Trial
  lists: Lists
  nft: Pick<Nft, 'load' | 'entrance'>
  host: Pick<JudgedHost, 'listening' | 'whyNotClose'>
  /** Until the first load, a table of an earlier run may be in the kernel. */
  isStarted: () => boolean
  /** The lists in the kernel changed: there is something to save. */
  markUnsaved: () => void
  time: Pick<KnockTime, 'now' | 'ofServer'>
  log: Log
}): Enforcer => {
  const { table, trial, lists, nft, log } = needs
  const { now, ofServer } = needs.time
  let judgement: Judgement = { sequences: [], refusals: new Map() }
  /** Why the last load of rules failed; null when it did not. */
  let loadRefusal: Refusal | null = null
  let retryAt = Infinity

  const judge = (): void => {
    const { isProved, whyTakenBack } = trial
    judgement = judgeSequences(needs.wanted(), { ...needs.host, isProved, whyTakenBack })
  }

  const enforceRules = async (): Promise<void> => {
    judge()
    const { sequences, refusals } = judgement
    retryAt = refusals.size > 0 ? now() + retryEvery : Infinity
    if (haveSameRules(sequences, table.loaded()) && (sequences.length > 0 || needs.isStarted())) {
      loadRefusal = null
      table.relabel(sequences)
      trial.relabel()
      return
    }
    try {
      await table.load(sequences)
      loadRefusal = null
      trial.begin()
    } catch (error) {
      const isUnable = error instanceof NftRefused && error.unable
      loadRefusal = { state: isUnable ? 'unsupported' : 'failed', error: errorText(error) }
      if (sequences.length === 0) return
      retryAt = now() + retryEvery
      log.warn(`port knocking: ${errorText(error)}`)
    }
  }

  const enforceLists = async (askedAt: number): Promise<void> => {
    const enforceable = (listed: readonly Listed[]): Listed[] =>
      listed.filter(({ sequence }) => table.isLoaded(sequence)).map(each => ({ ...each, until: ofServer(each.until) }))
    const desired = needs.wanted()
    const open = enforceable(desired.openings)
    const isOpened = (cut: Listed): boolean =>
      open.some(({ sequence, ip }) => sequence === cut.sequence && ip === cut.ip)
    // An address that was let in again must not be cut off.
    const kill = enforceable(desired.cuts).filter(cut => !isOpened(cut))
    const { lines, commit } = listChanges(lists, { kill, open, block: enforceable(desired.blocked) }, now(), askedAt)
    if (lines.length === 0) return
    try {
      await nft.load(`${lines.join('\n')}\n`)
      commit()
    } catch (error) {
      if ((await nft.entrance().catch(() => '')) === null) {
        commit()
        await restore('is gone')
      } else log.warn(`port knocking: openings and blocks were not changed: ${errorText(error)}`)
    }
  }

  const restore = async (damage: string): Promise<void> => {
    log.warn(`port knocking: the table of its rules ${damage}; the agent restores it`)
    await table.restore()
    needs.markUnsaved()
  }

  const report = (): KnockAcknowledgement => {
    const desired = needs.wanted()
    const outcome = ({ id, revision }: { id: number; revision: number }): KnockAcknowledgement['sequences'] => {
      const sequence = desired.sequences.find(each => each.id === id)
      const refusal = judgement.refusals.get(id) ?? loadRefusal
      if (sequence && table.loaded().some(each => definition(each) === definition(sequence)))
        return trial.isProved(sequence) ? [{ id, revision, state: 'enforced', error: null }] : []
      return refusal ? [{ id, revision, ...refusal }] : []
    }
    const isOpen = ({ sequence, ip }: Listed): boolean =>
      table.isLoaded(sequence) && (lists.open.get(sequence, ip)?.until ?? 0) > now()
    return {
      sequences: [...desired.sequences, ...desired.faults].flatMap(outcome),
      openings: desired.openings.filter(isOpen).map(({ id }) => id),
    }
  }

  return { rules: enforceRules, lists: enforceLists, restore, judge, retryAt: () => retryAt, report }
}
