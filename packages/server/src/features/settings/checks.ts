/** An IANA time zone, such as `Europe/Vienna`. */
export const isTimeZone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** An http or https address without query, fragment, user or trailing slash; null for anything else. */
export const webAddress = (text: string): string | null => {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username
    ? text.replace(/\/+$/, '')
    : null
}
