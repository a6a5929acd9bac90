/** Groups that fail2ban takes for the address, merges into it, or keeps as a field of the ban. */
const forbiddenGroupPattern =
  /^(?:f?id|ip|ip4|ip6|addr|subnet|dns|host|cidr|ip-?host|ip-?rev|family|failures|matches|users|time|bantime|bancount|restored|raw-ticket|(?:ip)?(?:jail)?(?:matches|failures)|mlf.*|alt_.*|tuple_.*)$/i

/**
 * The first tag or named group whose text fail2ban would use as the address or give to an action, as it is written; null
 * when there is none. What variables spell only together is found after fail2ban's own expansion, by the checker.
 */
export const forbiddenGroup = (expression: string): string | null => {
  // One by one: in `(?P<F-ID>` fail2ban sees the tag.
  for (const form of [/<F-([\w-]+)\/?>/gi, /\(\?P?<([\w-]+)>/g])
    for (const [written, name = ''] of expression.matchAll(form)) if (forbiddenGroupPattern.test(name)) return written
  return null
}

/**
 * Whether an expression repeats without end something that itself repeats without end: one line of thirty letters can
 * keep fail2ban, and with it every jail, busy for minutes.
 */
export const repeatsRepeats = (expression: string): boolean => {
  const open: boolean[] = [false]
  for (let at = 0; at < expression.length; at += 1) {
    const char = expression[at]
    if (char === '(') {
      open.push(false)
      continue
    }
    let inner = false
    if (char === '\\') at += 1
    else if (char === '[') at = classEnd(expression, at)
    else if (char === ')' && open.length > 1) inner = open.pop() ?? false
    const repeat = /^(?:[*+]|\{\d*,\})/.exec(expression.slice(at + 1, at + 12))
    if (repeat && inner) return true
    if (repeat || inner) open[open.length - 1] = true
    if (repeat) at += repeat[0].length
  }
  return false
}

const classEnd = (expression: string, start: number): number => {
  let at = start + 1
  if (expression[at] === '^') at += 1
  if (expression[at] === ']') at += 1
  for (; at < expression.length && expression[at] !== ']'; at += 1) if (expression[at] === '\\') at += 1
  return at
}
