export interface ForgetInput {
  readonly serverNo: number
  /** Bans of this number and later. */
  readonly from: number
  readonly most: number
}
/** A ban on its way out of rows and sums. */
export interface Forgotten {
  readonly id: number
  readonly server_no: number
  readonly jail_id: number
  readonly country_id: number
  readonly ip: Uint8Array
  readonly banned_at: number
}
/** As sums count a ban. */
export const countedOf = ({ server_no, jail_id, country_id, banned_at }: Forgotten) => ({
  serverNo: server_no,
  jailId: jail_id,
  countryId: country_id,
  bannedAt: banned_at,
})
