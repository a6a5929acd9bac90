/** Attackers write text of logs, fail2ban and child processes, so it is cleaned and shortened here. */

// oxlint-disable-next-line no-control-regex -- removing control characters is the purpose
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Without control characters except newline and tab, and always valid Unicode. */
export const cleanText = (text: string): string => text.replace(controlCharacters, '').replace(loneSurrogate, '\ufffd')

/** The last `maxBytes` of UTF-8, because the newest log lines matter most. */
export const lastBytes = (text: string, maxBytes: number): string => {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= maxBytes) return text
  let start = bytes.length - maxBytes
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return bytes.toString('utf8', start)
}

/** The first `maxBytes` of UTF-8, with a mark where something was cut. */
export const firstBytes = (text: string, maxBytes: number): string => {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= maxBytes) return text
  const mark = '\n[cut]'
  let end = maxBytes - mark.length
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end) + mark
}

/** The output of a command: cleaned, at most 64 KiB. */
export const commandOutput = (text: string): string => firstBytes(cleanText(text), 64 * 1024)

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))
