/**
 * What a host should hold, as one opaque text: the version of each part, in a fixed order. A host gets it whole and gives
 * it back whole; only this file knows the parts. Port knocking's will be the third one.
 */
export interface Parts {
  readonly whitelist: string
  /** Rises when the host is asked to apply everything again. */
  readonly nonce: number
}

export const versionOf = ({ whitelist, nonce }: Parts): string => `${whitelist}.${nonce}`
/** Null for a text that was never given out. */
export const partsOf = (version: string): Parts | null => {
  const found = /^(w\d+-[0-9a-f]+)\.(\d{1,15})$/.exec(version)
  return found ? { whitelist: found[1] ?? '', nonce: Number(found[2]) } : null
}
