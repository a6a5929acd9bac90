/** Text of strangers, fit to be stored and shown: no control characters but newline and tab, at most `bytes` of UTF-8. */
export const tame = (text: string, bytes: number): string => {
  // eslint-disable-next-line no-control-regex
  const clean = text
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd')
    .replace(/\p{Surrogate}/gu, '\ufffd')
  if (clean.length * 3 <= bytes || Buffer.byteLength(clean) <= bytes) return clean
  const mark = '\n[cut]'
  const cut = Buffer.from(clean)
    .subarray(0, bytes - mark.length)
    .toString('utf8')
  return cut.replace(/\ufffd+$/, '') + mark
}
