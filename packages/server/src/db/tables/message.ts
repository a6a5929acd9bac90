/* Messages as they are stored until they are sent. */

/** Kinds of the toggles, and other messages. `alert`: of the alert rules. `rest`: a message that some recipients have not received yet. */
export type Category = 'bans' | 'syncs' | 'errors' | 'summary' | 'test' | 'rest' | 'alert'
export type Level = 'info' | 'warning' | 'error'

export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** How many rows there are in all; the ones beyond `rows` are only counted. */
  readonly total: number
}
/** One message, before it takes the form of a chat or of a mail. Its texts may come from strangers: they are never markup. */
export interface Message {
  readonly category: Category
  readonly level: Level
  readonly title: string
  readonly text: string
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  readonly tables: readonly Table[]
  /** The page that it is about, below the base URL. */
  readonly path: string
  readonly label: string
  /** Epoch milliseconds. */
  readonly at: number
  readonly alert?: AlertHead
  /** Its own form as a mail, where the general one does not do. */
  readonly mail?: { readonly text: string; readonly html: string }
}
/** The part of a message that services with alerts of their own need. */
export interface AlertHead {
  readonly status: 'firing' | 'resolved'
  readonly severity: 'info' | 'warning' | 'critical'
  readonly rule: string
  /** The same for an alert and its recovery, so that a service joins them. */
  readonly key: string
}
/** A message of one event, and its line in the table of many. */
export interface Notice extends Message {
  readonly row: readonly string[]
}

/** What was told lately of a category, so that bursts are seen. */
export interface RecentlyTold {
  /** When single messages were sent. */
  readonly singles: readonly number[]
  /** When a digest was last sent. */
  readonly digest: number
}
