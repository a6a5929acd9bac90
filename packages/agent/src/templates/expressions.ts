/**
 * Whether an expression repeats without end something that itself repeats without end: one line of thirty letters can
 * keep fail2ban, and with it every jail, busy for minutes.
 */
export function repeatsRepeats(expression: string): boolean {
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

function classEnd(expression: string, start: number): number {
  let at = start + 1
  if (expression[at] === '^') at += 1
  if (expression[at] === ']') at += 1
  for (; at < expression.length && expression[at] !== ']'; at += 1) if (expression[at] === '\\') at += 1
  return at
}
