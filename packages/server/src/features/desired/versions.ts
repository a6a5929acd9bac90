/**
 * What a host should hold, as one opaque text: the version of each part, in a fixed order. A host gets it whole and gives
 * it back whole; only this file knows the parts.
 */
export interface Parts {
  readonly whitelist: string
  /** Rises when the host is asked to apply everything again. */
  readonly nonce: number
  /** The revision of what the host is told of port knocking. */
  readonly knock: number
}

export const versionOf = ({ whitelist, nonce, knock }: Parts): string => `${whitelist}.${nonce}.k${knock}`
/** Null for a text that was never given out. Hosts may still hold one from before there was port knocking. */
export const partsOf = (version: string): Parts | null => {
  const found = /^(w\d+-[0-9a-f]+)\.(\d{1,15})(?:\.k(\d{1,15}))?$/.exec(version)
  return found ? { whitelist: found[1] ?? '', nonce: Number(found[2]), knock: Number(found[3] ?? 0) } : null
}
