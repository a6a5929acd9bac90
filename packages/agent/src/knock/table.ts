import type { Addresses } from '../whitelist/addresses.ts'
import type { Sequence } from './model.ts'
import { NftRefused } from './nft.ts'
import type { Nft, Seen } from './nft.ts'
import { allowScript, namesIn, script } from './rules.ts'

/** One reading of the event sets. */
export interface Reading {
  readonly seen: readonly Seen[]
  /** What somebody else did to the table, or null. */
  readonly damage: 'is gone' | 'was changed by somebody' | null
  /** Whether rules were loaded since the reading began: it may then mix the old sets and the new ones. */
  isStale(): boolean
}

/** The agent's table in nftables: which sequences it enforces, and which allow list it holds. */
export interface KnockTable {
  /** The sequences in force, proved or on trial. */
  loaded(): readonly Sequence[]
  isLoaded(id: number): boolean
  /** Replaces the rules in one transaction. @throws NftRefused */
  load(sequences: readonly Sequence[]): Promise<void>
  /** The sequences in force got new revisions; their rules stay as they are. */
  relabel(sequences: readonly Sequence[]): void
  /** Loads again what was in force, after somebody changed or deleted the table. */
  restore(): Promise<void>
  /** Null while nothing is in force. `compare`: also check that nobody changed the chain that all packets pass. */
  read(compare: boolean): Promise<Reading | null>
  /** Whether the allow list in the kernel is the wanted one. */
  hasAllowed(): boolean
  /** Loads the allow list alone. @throws NftRefused */
  loadAllowed(): Promise<void>
  /** The rules of these sequences for an empty firewall. */
  text(sequences: readonly Sequence[]): string
}

export const createTable = (needs: {
  nft: Nft
  /** Addresses that are never locked out; null before the first whitelist. */
  allowed: () => Addresses | null
  /** The nft commands that fill the new sets with the current openings, blocks and cuts. */
  refill: (sequences: readonly Sequence[]) => readonly string[]
  /** After each load. `isEmptied`: the event sets are new or gone, so none of their content was seen before. */
  onLoaded: (isEmptied: boolean) => void
}): KnockTable => {
  const { nft } = needs
  let loaded: readonly Sequence[] = []
  let loadedAllow: Addresses | null | undefined
  /** Chains and sets in the kernel; null: unknown. */
  let names: readonly string[] | null = null
  let entrance = ''
  let supportsReset = true
  let generation = 0

  const load = async (sequences: readonly Sequence[]): Promise<void> => {
    // Raised before and after, so that every reading that overlaps the load is stale.
    generation += 1
    try {
      await (sequences.length === 0 ? remove() : replace(sequences))
    } finally {
      generation += 1
    }
  }

  const remove = async (): Promise<void> => {
    await nft.remove()
    loaded = []
    names = null
    loadedAllow = undefined
    needs.onLoaded(true)
  }

  /** Older kernels cannot reset connections, and a table of another version may not be changeable: each way is tried. */
  const replace = async (sequences: readonly Sequence[]): Promise<void> => {
    const present = names ?? (await nft.present())
    const allow = needs.allowed()
    let failure: unknown = null
    for (const way of [
      { reset: supportsReset, fresh: false },
      { reset: false, fresh: false },
      { reset: supportsReset, fresh: true },
      { reset: false, fresh: true },
    ]) {
      try {
        const isEmptied = present === null || way.fresh
        const allowList = isEmptied || allow !== loadedAllow ? entriesOf(allow) : null
        const rules = script(sequences, allowList, { ...way, present: present ?? [] })
        await nft.load(isEmptied ? [rules, ...needs.refill(sequences).map(line => `${line}\n`)].join('') : rules)
        supportsReset = way.reset
        loaded = sequences
        loadedAllow = allow
        names = namesIn(rules)
        entrance = (await nft.entrance()) ?? ''
        needs.onLoaded(isEmptied)
        return
      } catch (error) {
        failure = error
        if (error instanceof NftRefused && error.hopeless) break
      }
    }
    throw failure
  }

  return {
    loaded: () => loaded,
    isLoaded: id => loaded.some(sequence => sequence.id === id),
    load,
    relabel(sequences) {
      loaded = sequences
    },
    restore() {
      names = null
      loadedAllow = undefined
      return load(loaded)
    },
    async read(compare) {
      if (loaded.length === 0) return null
      const before = generation
      const expected = entrance
      const state = await nft.seen()
      const foundEntrance = state !== null && compare ? await nft.entrance() : expected
      const isGone = state === null || foundEntrance === null
      return {
        seen: state ?? [],
        damage: isGone ? 'is gone' : foundEntrance === expected ? null : 'was changed by somebody',
        isStale: () => generation !== before,
      }
    },
    hasAllowed: () => loaded.length === 0 || needs.allowed() === loadedAllow,
    async loadAllowed() {
      const allow = needs.allowed()
      await nft.load(`${allowScript(entriesOf(allow)).join('\n')}\n`)
      loadedAllow = allow
    },
    text: sequences =>
      script(sequences, entriesOf(needs.allowed()), { reset: supportsReset, fresh: false, present: [] }),
  }
}

const entriesOf = (addresses: Addresses | null): readonly string[] =>
  addresses === null ? [] : [...addresses.singles, ...addresses.ranges]
