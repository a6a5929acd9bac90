import type { SiemType } from '@stockade/contract'

/** What is forwarded, whatever the format. The same event has the same id at every try and replay. */
export interface SiemEvent {
  /** A UUID. */
  readonly id: string
  readonly type: SiemType | 'test'
  /** 0 to 10, higher is more severe. */
  readonly severity: number
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string
  readonly message: string
  readonly server: { readonly id: string; readonly hostname: string } | null
  readonly actor: { readonly username: string; readonly ip: string | null } | null
  readonly data: Readonly<Record<string, unknown>>
}

/** Names that stay the same for all events of a type, and what was done, in a word. */
export const typeNames: Readonly<Record<SiemEvent['type'], { readonly name: string; readonly act: string }>> = {
  ban: { name: 'IP banned', act: 'ban' },
  unban: { name: 'IP unbanned', act: 'unban' },
  server_offline: { name: 'Server offline', act: 'offline' },
  login_success: { name: 'Dashboard login', act: 'login' },
  login_failed: { name: 'Dashboard login failed', act: 'refused' },
  whitelist_add: { name: 'IP added to whitelist', act: 'add' },
  whitelist_remove: { name: 'IP removed from whitelist', act: 'remove' },
  settings_change: { name: 'Settings changed', act: 'change' },
  protection: { name: 'Protection changed', act: 'protection' },
  audit: { name: 'Audit entry', act: 'record' },
  test: { name: 'Test event', act: 'test' },
}

/** What the formats with flat fields show; null where it does not apply. */
export interface Fields {
  readonly ip: string | null
  readonly jail: string | null
  readonly server: string | null
  readonly user: string | null
  /** Seconds; -1 for good. */
  readonly banDuration: number | null
}
const textOrNull = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)

/** The address is what the event is about, and where that is nothing, whence its author came. */
export const fieldsOf = ({ data, server, actor }: SiemEvent): Fields => ({
  ip: textOrNull(data.ip) ?? actor?.ip ?? null,
  jail: textOrNull(data.jail),
  server: server?.hostname ?? null,
  user: actor?.username ?? null,
  banDuration: typeof data.ban_duration === 'number' ? data.ban_duration : null,
})
