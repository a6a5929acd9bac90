/** C0 but tab and newline, DEL and C1; marks that turn the direction of text, and what takes no room. */
const controls = /(?![\t\n])\p{Cc}|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu

/** What most log lines are: nothing to clean, a byte a character. */
const plain = /^[\t\n\x20-\x7e]*$/

/** Text of strangers, fit to be stored and shown: no control characters but newline and tab, at most `bytes` of UTF-8. */
export const tame = (text: string, bytes: number): string => {
  if (text.length <= bytes && plain.test(text)) return text
  const clean = text.replace(controls, '\ufffd').replace(/\p{Surrogate}/gu, '\ufffd')
  if (clean.length * 3 <= bytes || Buffer.byteLength(clean) <= bytes) return clean
  const mark = '\n[cut]'
  const cut = Buffer.from(clean)
    .subarray(0, bytes - mark.length)
    .toString('utf8')
  return cut.replace(/\ufffd+$/, '') + mark
}

/** NUL cannot be stored as text everywhere: it becomes the replacement character. */
export const withoutNul = (json: string) =>
  json.includes('\\u0000') ? json.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\\ufffd') : json

/** A name in one line, such as a host's. */
export const tameLine = (text: string, bytes: number): string => tame(text.replace(/[\t\n\r]+/g, ' '), bytes)

/** The name of a jail, as an engine reports it and as it is stored: at most 255 characters. */
export const jailText = (name: string): string => tame(name, 1024)

/** What a remote party answered, fit to be shown: one short line without secrets. */
export const saidBy = (text: string, secrets: readonly (string | null)[]): string => {
  let line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\s]+/gu, ' ').trim()
  for (const secret of secrets) if (secret) line = line.replaceAll(secret, '***')
  return line.slice(0, 300)
}
