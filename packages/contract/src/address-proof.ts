/*
 * How a server proves to a host that it stores this host's key, before the host sends the key (docs/adr/0033-a-new-address-for-hosts.md). Pure,
 * so that server and agent make the same text.
 */

/**
 * Why the server calls an address its own: `configuration` (STOCKADE_BASE_URL), or `settings` (the site URL). Null: it does not.
 */
export type AddressOrigin = 'configuration' | 'settings' | null

export interface AddressClaim {
  /** 32 random bytes of the host, base64url. */
  readonly nonce: string
  readonly serverId: string
  /** The base URL that the host uses. */
  readonly address: string
  readonly knownAs: AddressOrigin
  /** Pin of the TLS key that the server itself serves; null where it serves plain http. */
  readonly tlsKey: string | null
}

/** What is authenticated by HMAC-SHA256 with the SHA-256 of the host's key. No part holds a line break. */
export const addressClaimText = ({ nonce, serverId, address, knownAs, tlsKey }: AddressClaim): string =>
  ['stockade-address-proof/1', nonce, serverId.toLowerCase(), address, knownAs ?? '-', tlsKey ?? '-'].join('\n')
