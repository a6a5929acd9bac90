/** An IANA time zone, such as `Europe/Vienna`. */
export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/**
 * An http or https address with an optional path, as browsers write it: without query, fragment, user or trailing slash, of characters
 * that mean nothing to a shell, a page or a header. Null for anything else.
 */
export const webAddress = (text: string): string | null => {
  if (!/^https?:\/\/[\p{L}\p{N}._~:[\]/-]+$/u.test(text)) return null
  const url = URL.parse(text)
  const plain = url && `${url.origin}${url.pathname}`.replace(/\/+$/, '')
  return plain && /^https?:\/\/[A-Za-z0-9._~:[\]/-]+$/.test(plain) && !/\/\//.test(url.pathname) ? plain : null
}

/** Where a webhook may be: http or https, without a user name, a password or a fragment, in one line of plain characters. */
export const isWebhook = (text: string): boolean => {
  const url = URL.parse(text)
  return (
    url !== null &&
    /^https?:\/\/[\x21-\x7e]+$/i.test(text) &&
    url.hostname !== '' &&
    !url.username &&
    !url.password &&
    !url.hash
  )
}

/** A host name (RFC 1123, underscores allowed) or an address. */
export const isHost = (text: string): boolean =>
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*\.?$/i.test(text) ||
  /^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text)

/** An e-mail address that needs no quoting in a header: no control characters, spaces or brackets. */
export const isMailAddress = (text: string): boolean =>
  text.length <= 254 && /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,188}[a-z0-9])?$/i.test(text)

export const hasControls = (text: string): boolean => /\p{Cc}/u.test(text)
