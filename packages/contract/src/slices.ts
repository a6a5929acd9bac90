/*
 * Slices of a host's bans, as plain values, so that the agent's bundle can use them too. A host with very many bans compares them with the
 * server slice by slice; both must put an address into the same one.
 */

/** The slice of an address or range in canonical text: FNV-1a with 32 bits, modulo the number of slices. */
export const sliceOf = (ip: string, slices: number): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < ip.length; at++) hash = Math.imul(hash ^ ip.charCodeAt(at), 0x01000193) >>> 0
  return hash % slices
}
