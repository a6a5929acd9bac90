/**
 * What a host should hold, as one opaque text: the version of each part, in a fixed order. A host gets it whole and gives
 * it back whole; only this file knows the parts.
 */
export interface Parts {
  readonly whitelist: string
  /** Rises when the host is asked to apply everything again. */
  readonly nonce: number
  /** Revision of the host's port-knocking state. */
  readonly knock: number
  /** The version of the fleet bans that concern the host. */
  readonly fleet: number
  /** Names the blocklists of the host; empty for none. */
  readonly lists: string
  /** Revision of the order to use another address; 0 for none. */
  readonly move: number
}

export const versionOf = ({ whitelist, nonce, knock, fleet, lists, move }: Parts): string =>
  `${whitelist}.${nonce}.k${knock}${fleet === 0 ? '' : `.f${fleet}`}${lists === '' ? '' : `.l${lists}`}${move === 0 ? '' : `.m${move}`}`
/** Null for a text that was never given out. Hosts may still hold one from before there was port knocking, or from before the first fleet ban. */
export const partsOf = (version: string): Parts | null => {
  const match =
    /^(w\d+-[0-9a-f]+)\.(\d{1,15})(?:\.k(\d{1,15}))?(?:\.f(\d{1,15}))?(?:\.l([0-9a-f]{1,64}))?(?:\.m(\d{1,15}))?$/.exec(
      version,
    )
  if (!match) return null
  const [, whitelist = '', nonce, knock = 0, fleet = 0, lists = '', move = 0] = match
  return { whitelist, nonce: Number(nonce), knock: Number(knock), fleet: Number(fleet), lists, move: Number(move) }
}
