import { parseRange } from '../../core/ip.ts'
import type { IpRange } from '../../core/ip.ts'
import type { ProtectedKind } from '../reach/cut.ts'
import type { Protection } from '../reach/protected.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { overlaps } from './conditions.ts'

/** Why an entry must not be banned by a rule; null: it may. */
export type EntryRefusal = (entry: string, excluded: readonly IpRange[]) => string | null

const words: Readonly<Record<Exclude<ProtectedKind, 'whitelisted'>, string>> = {
  private: 'a private or reserved address',
  own: 'an address of the Stockade server',
  managed: 'the address of a managed server',
  people: 'people work from there',
}

/** A look at what is never banned, as it is now. Rules ban single addresses and /64 networks only. */
export const lookAtGuard = async (needs: {
  readonly protection: Pick<Protection, 'now'>
  readonly mirror: Pick<Mirror, 'touches'>
}): Promise<EntryRefusal> => {
  const { hit } = await needs.protection.now()
  return (entry, excluded) => {
    const range = parseRange(entry)
    if (!range) return 'no address'
    const kind = hit(range)
    if (kind === 'whitelisted') return `whitelisted: ${needs.mirror.touches(range)?.text ?? range.text}`
    if (kind !== null) return words[kind]
    return excluded.some(other => overlaps(other, range)) ? 'excluded from this rule' : null
  }
}
