/** A ban on its way to the table: plain data, since it crosses to the writer thread. */
export interface NewBan {
  readonly kind: 'ban'
  readonly serverNo: number
  readonly jail: string
  readonly country: string | null
  readonly ip: Uint8Array
  readonly prefix: number | null
  readonly bannedAt: number
  readonly duration: number | null
  readonly asn: number | null
  readonly asnOrg: string | null
  readonly city: string | null
  readonly latitude: number | null
  readonly longitude: number | null
  readonly logLines: string
  readonly bannedBy: string | null
  readonly eventId: Uint8Array
  /**
   * The host holds it. Where Stockade had not heard of it, it is no news, so no event is recorded; where it is listed as active, its
   * length is taken.
   */
  readonly isAdopted?: boolean
}
/** The end of a ban, as its host saw it. `jail` null: in every jail. */
export interface BanEnd {
  readonly kind: 'end'
  readonly serverNo: number
  readonly jail: string | null
  readonly ip: Uint8Array
  readonly prefix: number | null
  readonly at: number
}
export type Append = NewBan | BanEnd

/** A ban whose report comes so many milliseconds after it, by the clock of its host, is late: when it arrived is kept beside it. */
export const lateAfter = 15 * 60_000

/** What became of an item, in the order of the items. */
export interface Appended {
  /** The ban's row: the new one, the first one of the same event, or the one that ended. */
  readonly id: number | null
  /** True where the row is new, or ended or got another length by this. */
  readonly changed: boolean
  readonly bannedAt: number
  /** The event that was recorded. */
  readonly eventId: number | null
}
export interface AppendInput {
  readonly items: readonly Append[]
  readonly now: number
}

/** When a ban ends: null for never or unknown. */
export const expiryOf = (ban: Pick<NewBan, 'bannedAt' | 'duration'>): number | null =>
  ban.duration === null || ban.duration < 0 ? null : ban.bannedAt + ban.duration * 1000
