/** Ranges of one family in sorted typed arrays, `width` words of 32 bits an address: a few megabytes in all. */
export interface Ranges {
  readonly width: number
  readonly count: number
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly owners: Uint32Array
}
/** The networks that own ranges. One buffer holds all names, because separate strings would cost three times as much. */
export interface Owners {
  readonly asns: Uint32Array
  readonly names: Buffer
  readonly nameEnds: Uint32Array
}
export interface NetworkTables {
  readonly ipv4: Ranges
  readonly ipv6: Ranges
  readonly owners: Owners
}
