/* The colours of jail and filter files: sections, keys, plain values and variables. */

export type TokenKind = 'section' | 'key' | 'value' | 'variable' | 'comment' | 'text'
export interface Token {
  readonly kind: TokenKind
  readonly text: string
}

/** `%(name)s` of fail2ban's interpolation, and tags such as `<HOST>`. */
const variable = /(%\([^)\s]+\)s|<\/?[A-Za-z][\w-]*>)/
const plainValue = /^\s*(-?\d+(\.\d+)?\s*[a-z]{0,3}|true|false|yes|no)\s*$/i

const valueTokens = (text: string): readonly Token[] => {
  if (plainValue.test(text)) return [{ kind: 'value', text }]
  return text
    .split(variable)
    .map((part, index): Token => ({ kind: index % 2 === 1 ? 'variable' : 'text', text: part }))
    .filter(token => token.text !== '')
}

/** One line; its tokens together are the line again. */
export const tokensOf = (line: string): readonly Token[] => {
  if (/^\s*[#;]/.test(line)) return [{ kind: 'comment', text: line }]
  if (/^\[[^\]]*\]\s*$/.test(line)) return [{ kind: 'section', text: line }]
  // A line that begins with a blank continues the value before it.
  const pair = /^([\w.-]+)(\s*[=:])(.*)$/.exec(line)
  if (!pair) return valueTokens(line)
  const [, key = '', sign = '', value = ''] = pair
  return [{ kind: 'key', text: key }, { kind: 'text', text: sign }, ...valueTokens(value)]
}
