import { isIP } from 'node:net'

/** Null for what a strict relay refuses: a name needs a dot, letters, digits and hyphens, and a last part that is no number (RFC 1123). */
const fullName = (text: string): string | null => {
  const name = text.toLowerCase().replace(/\.$/, '')
  const isFull = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$/.test(name)
  return isFull ? name : null
}

/** An address literal as SMTP writes it (RFC 5321, section 4.1.3); null for what is no address. */
const literalOf = (text: string): string | null => {
  const address = text.replace(/^\[(?:IPv6:)?|\]$/gi, '')
  const family = isIP(address)
  return family === 4 ? `[${address}]` : family === 6 ? `[IPv6:${address}]` : null
}

/** A name or an address, as EHLO takes it; null for anything else. */
export const mailNameOf = (text: string): string | null => literalOf(text) ?? fullName(text)

/**
 * The name that this server calls itself by to a mail server (EHLO). Many relays refuse a bare address and a name without a dot,
 * such as `localhost`.
 */
export const ownMailName = (own: {
  /** The administrator's choice. */
  readonly configured: string | null
  /** Host of the base URL, an IPv6 address in brackets. */
  readonly site: string
  readonly machine: string
  /** Domain of the sender's address; null where none is set. */
  readonly sender: string | null
}): string =>
  own.configured ??
  mailNameOf(own.site) ??
  fullName(own.machine) ??
  (own.sender === null ? null : mailNameOf(own.sender)) ??
  // Whoever has no name gives an address (RFC 5321, section 4.1.4).
  '[127.0.0.1]'
