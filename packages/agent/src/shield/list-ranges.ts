import { translatedNetworks, widest } from '@stockade/contract/reach.ts'
import { unapprovedBan } from '@stockade/contract/seal.ts'
import { networkOf, spansOfNetworks, touches } from '@stockade/contract/spans.ts'
import { readOr } from '@stockade/contract/untrusted.ts'
import { fromKey } from '../ip.ts'
import type { PolicyOfHost } from '../policy/policy.ts'
import type { Approvals } from '../seal/approvals.ts'
import { bitsOf, sizeOf, toEntry } from './entry.ts'
import { keyBytes } from './listed.ts'
import type { ListedSet } from './listed.ts'

/** What this host takes of a list. */
export interface Taken {
  readonly sets: readonly ListedSet[]
  /** The wide ranges among them that an operator approved. */
  readonly approved: readonly string[]
  /** What is left out and why; null: nothing is. */
  readonly leftOut: string | null
}

/** Ranges that operators approved on this host; null where it asks for no approval. */
export type ApprovedRanges = ReadonlySet<string> | null

/** The wide ranges that lists may hold on this host. */
export const approvedInLists = (
  policy: Pick<PolicyOfHost, 'blocklistLimits'>,
  approvals: Pick<Approvals, 'approvedBans'> | null,
): ApprovedRanges =>
  readOr(null, policy.blocklistLimits)?.allowsUnapproved === true ? null : (approvals?.approvedBans() ?? null)

type Verdict = 'taken' | 'wide' | 'translated'

/**
 * A list without the wide ranges that nobody approved, and without ranges that stand for IPv4. The rest of the list is taken: it protects from
 * everything else that the list names.
 */
export const takenOf = (sets: readonly ListedSet[], approved: ApprovedRanges): Taken => {
  const isWide = ({ family, length }: ListedSet): boolean => approved !== null && length < widest.unproved[family]
  const out: Readonly<Record<'wide' | 'translated', { count: number; first: string }>> = {
    wide: { count: 0, first: '' },
    translated: { count: 0, first: '' },
  }
  const takenSets = sets.flatMap(set => {
    if (!isWide(set) && !mayBeTranslated(set)) return [set]
    const approvedKeys = isWide(set) ? keysOf(approved ?? new Set(), set) : null
    const takenKeys = keysIn(set).filter(key => {
      const verdict = verdictOf(set, key, approvedKeys)
      if (verdict === 'taken') return true
      if (++out[verdict].count === 1) out[verdict].first = rangeOf(set, key)
      return false
    })
    return takenKeys.length === 0 ? [] : [{ ...set, keys: Buffer.concat(takenKeys) }]
  })
  const { wide, translated } = out
  const reasons = [
    ...(wide.count > 0
      ? [`the host leaves out wide ranges of the list (${wide.count}): ${unapprovedBan(wide.first)}`]
      : []),
    ...(translated.count > 0
      ? [`the host leaves out ranges that stand for IPv4 addresses (${translated.count}), such as ${translated.first}`]
      : []),
  ]
  return {
    sets: takenSets,
    approved: takenSets.filter(isWide).flatMap(set => keysIn(set).map(key => rangeOf(set, key))),
    leftOut: reasons.length > 0 ? reasons.join('; ') : null,
  }
}

export const rangeOf = ({ family, length }: ListedSet, key: Buffer): string =>
  `${fromKey(key)}${length === bitsOf(family) ? '' : `/${length}`}`

/** Views of the keys of a set, without copies. */
const keysIn = ({ family, keys }: ListedSet): Buffer[] => {
  const bytes = keyBytes(family)
  return Array.from({ length: keys.length / bytes }, (_, n) => keys.subarray(n * bytes, (n + 1) * bytes))
}
/** Keys of the ranges that have the family and the prefix length of this set. */
const keysOf = (ranges: ReadonlySet<string>, { family, length }: ListedSet): ReadonlySet<string> =>
  new Set(
    [...ranges]
      .filter(range => {
        const size = sizeOf(range)
        return size.family === family && size.length === length
      })
      .map(range => toEntry(range).key.toString('latin1')),
  )

const verdictOf = (set: ListedSet, key: Buffer, approved: ReadonlySet<string> | null): Verdict => {
  if (mayBeTranslated(set) && isTranslated(set, key)) return 'translated'
  return approved === null || approved.has(key.toString('latin1')) ? 'taken' : 'wide'
}

const translatedSpans = spansOfNetworks(translatedNetworks.map(networkOf))
const mayBeTranslated = ({ family, length }: ListedSet): boolean => family === 6 && length < bitsOf(family)
/** By the first bytes, which all translated networks have: the comparison of whole addresses takes a second for a long list. */
const isTranslated = ({ length }: ListedSet, key: Buffer): boolean => {
  const first = key.readUInt16BE(0)
  return (first === 0 || first === 0x64) && touches(translatedSpans, { bytes: key, prefix: length })
}
