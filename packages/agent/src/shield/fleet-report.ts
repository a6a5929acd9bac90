/** What the kernel holds of what the host was given. */
export interface FleetReport {
  readonly version: number
  readonly held: number
  readonly digest: string
  readonly refused: readonly { readonly id: number; readonly reason: string }[]
  readonly notCovered: string | null
}
