import type { Attacker } from './attackers-list.ts'

/** Rows stay where they were when the reader asked for them; only what they say is of now. */
export const inOrder = (known: readonly Attacker[], fresh: readonly Attacker[]): readonly Attacker[] => {
  const byAddress = new Map(fresh.map(row => [row.ip, row]))
  return known.map(row => byAddress.get(row.ip) ?? row)
}
