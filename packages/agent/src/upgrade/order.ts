import * as fs from 'node:fs'
import { join } from 'node:path'
import { readJson, removeDurably, writeDurably } from '../files.ts'
import { asFields, asInteger, asText } from '../json.ts'

/**
 * What the agent hands to the upgrader, a process outside the agent's unit, because the agent itself may not write its
 * own program. `upgrade-order.json` stands as long as the upgrade is under way; `upgrade.json` is its outcome, until the agent
 * has reported it.
 */
export interface UpgradeOrder {
  /** The command that asked for it, or `byHand`. */
  readonly id: string
  /** The version to install; for a return to the release before, the name of that release. */
  readonly version: string
  /** SHA-256 of the signed manifest, in hex; null where nothing is signed or nothing is fetched. */
  readonly manifest: string | null
  /** SHA-256 of the program, for hosts that accept releases without a signature. */
  readonly program: string | null
  /** Return to the release before, which is still on the host: nothing is fetched. */
  readonly isReturn: boolean
  readonly orderedAt: number
  /** Set before the first change, so that an upgrader that starts again after a crash goes on with the verdict. */
  readonly switching: { readonly from: string; readonly to: string } | null
}

/** The id of an upgrade that somebody typed on the host: it is reported to nobody. */
export const byHand = ''

export interface UpgradeOutcome {
  readonly id: string
  readonly success: boolean
  /** One sentence. */
  readonly text: string
}

const orderFile = (state: string): string => join(state, 'upgrade-order.json')
const outcomeFile = (state: string): string => join(state, 'upgrade.json')

export const writeOrder = (state: string, order: UpgradeOrder): void =>
  writeDurably(orderFile(state), JSON.stringify(order))

export const readOrder = (state: string): UpgradeOrder | null => {
  const fields = asFields(readJson(orderFile(state)))
  const { id, version, manifest, program, isReturn, switching } = fields
  if (typeof id !== 'string' || typeof version !== 'string') return null
  const { from, to } = asFields(switching)
  return {
    id,
    version,
    manifest: typeof manifest === 'string' ? manifest : null,
    program: typeof program === 'string' ? program : null,
    isReturn: isReturn === true,
    orderedAt: asInteger(fields['orderedAt'], 0),
    switching: typeof from === 'string' && typeof to === 'string' ? { from, to } : null,
  }
}

export const readOutcome = (state: string): UpgradeOutcome | null => {
  const fields = asFields(readJson(outcomeFile(state)))
  if (typeof fields['id'] !== 'string') return null
  return { id: fields['id'], success: fields['success'] === true, text: asText(fields['text']) }
}

/** The outcome stands before the order goes, so that a crash between them loses nothing. */
export const writeOutcome = (state: string, outcome: UpgradeOutcome): void => {
  writeDurably(outcomeFile(state), JSON.stringify(outcome))
  dropOrder(state)
}
export const dropOrder = (state: string): void => removeDurably(orderFile(state))

export const forgetOutcome = (state: string): void => fs.rmSync(outcomeFile(state), { force: true })
