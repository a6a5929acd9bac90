import ts from 'typescript'
import type { Source } from './unused.ts'

/* Tests that judge a clock, a share of a core or memory, and waits with a limit of their own. */

const advice = {
  elapsed:
    'a test judges a clock. Count what the claim is about (requests, rows, reads), assert what came before what, use a clock of the test’s own, or print the figure in bench/ beside its goal.',
  process:
    'a test judges memory or processor time. Bound what the process has (its heap, what it is sent), or print the figure in bench/ beside its goal.',
  deadline: 'a loop has a deadline of its own. Wait with until(), eventually() or within() of testing/waiting.ts.',
  limit: 'a wait has a limit of its own. Leave it out, or take conditionMs or testMs of testing/waiting.ts.',
  waitFor: 'vi.waitFor() gives up after a second. Wait with eventually() of testing/waiting.ts, or with expect.poll().',
  bare: 'a wait for an event has no limit. Wrap it: within(promise, "what must come") of testing/waiting.ts.',
} as const

const clock = /\b(Date\.now|performance\.now|process\.hrtime(\.bigint)?)\(\)/
const figureOfProcess = /VmRSS|VmHWM|\/smaps|\bPss\b|\b(memoryUsage|cpuUsage|resourceUsage)\(|\/proc\/\S*\/stat\b/
const upperBounds = new Set(['toBeLessThan', 'toBeLessThanOrEqual'])
const bounds = new Set([...upperBounds, 'toBeGreaterThan', 'toBeGreaterThanOrEqual'])
const ordered = new Set([
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
])
const tests = /^(it|test|testAlone|describe|beforeAll|afterAll|beforeEach|afterEach)\b/
const waits = /(^|\.)(poll|click|fill|goto|reload|press|launch|waitFor\w*|it|test)$/
const ownLimits = /\b(conditionMs|testMs)\b/
const events = /\.(once|on)\(\s*['"](exit|close|open|data|connect|ready|end)['"]/

const hasOwnNumber = (node: ts.Node, file: ts.SourceFile): boolean => {
  const text = node.getText(file)
  return /\d/.test(text) && !ownLimits.test(text)
}
/** A time that went by: a clock minus something, or how far from now something is. */
const isElapsed = (node: ts.Node, file: ts.SourceFile): boolean => {
  let found = false
  const visit = (at: ts.Node): void => {
    if (ts.isBinaryExpression(at) && at.operatorToken.kind === ts.SyntaxKind.MinusToken)
      // Less a number it is another moment.
      found ||= clock.test(at.left.getText(file)) && !/[\d*]/.test(at.right.getText(file))
    if (ts.isCallExpression(at) && at.expression.getText(file) === 'Math.abs') found ||= clock.test(at.getText(file))
    if (!found) ts.forEachChild(at, visit)
  }
  visit(node)
  return found
}
const namesIn = (node: ts.Node, names: ReadonlySet<string>): boolean => {
  let found = false
  const visit = (at: ts.Node): void => {
    found ||= ts.isIdentifier(at) && names.has(at.text)
    if (!found) ts.forEachChild(at, visit)
  }
  visit(node)
  return found
}

/** Characters of a function with a block that is no more than a value. */
const longestValue = 250

/** Names of a file whose values are times that went by, or figures of a process, also by way of other names. */
const tainted = (file: ts.SourceFile, isTainted: (value: ts.Node) => boolean): ReadonlySet<string> => {
  const names = new Set<string>()
  const isOne = (value: ts.Node) => isTainted(value) || namesIn(value, names)
  const declared = (at: ts.Node): readonly [ts.Node, ts.Node] | null => {
    if ((ts.isVariableDeclaration(at) || ts.isPropertyAssignment(at)) && at.initializer)
      return [at.name, at.initializer]
    if (ts.isFunctionDeclaration(at) && at.name && at.body) return [at.name, at.body]
    // delays.push(Date.now() - began)
    if (ts.isCallExpression(at) && ts.isPropertyAccessExpression(at.expression) && at.expression.name.text === 'push')
      return [at.expression.expression, at]
    if (ts.isBinaryExpression(at) && at.operatorToken.kind === ts.SyntaxKind.EqualsToken) return [at.left, at.right]
    return null
  }
  const visit = (at: ts.Node): void => {
    const pair = declared(at)
    if (pair) {
      const [name, value] = pair
      const hasBlock = ts.isArrowFunction(value) && ts.isBlock(value.body)
      // A block does many things; only a short function is its value.
      const body = hasBlock && value.getText(file).length > longestValue ? null : value
      const given: (readonly [ts.Node, ts.Node | null])[] = ts.isArrayBindingPattern(name)
        ? name.elements.map((each, index) => [
            each,
            ts.isArrayLiteralExpression(value) ? (value.elements[index] ?? null) : value,
          ])
        : [[name, body]]
      for (const [each, part] of given) if (part && isOne(part)) names.add(each.getText(file))
    }
    ts.forEachChild(at, visit)
  }
  // What is declared below its use is met the second time.
  visit(file)
  visit(file)
  return names
}

/** The matcher of an expectation and what it is about: expect(actual).matcher(…), expect.poll(actual).matcher(…). */
const expectation = (at: ts.CallExpression): { readonly matcher: string; readonly actual: ts.Node } | null => {
  if (!ts.isPropertyAccessExpression(at.expression)) return null
  const matcher = at.expression.name.text
  let inner: ts.Expression = at.expression.expression
  while (ts.isPropertyAccessExpression(inner)) inner = inner.expression
  if (!ts.isCallExpression(inner)) return null
  const [actual] = inner.arguments
  return actual && /^expect(\.\w+)?$/.test(inner.expression.getText()) ? { matcher, actual } : null
}

const isBareEvent = (value: ts.Node, file: ts.SourceFile, pending: ReadonlySet<string>): boolean => {
  if (ts.isCallExpression(value) && value.expression.getText(file) === 'once')
    // What listens on this machine does so at once.
    return value.arguments[1]?.getText(file) !== "'listening'"
  if (ts.isNewExpression(value) && value.expression.getText(file) === 'Promise') return events.test(value.getText(file))
  return (ts.isIdentifier(value) || ts.isPropertyAccessExpression(value)) && pending.has(value.getText(file))
}
/** Whether something is the condition of a loop that does more than keep the processor busy, or of a branch. */
const isCondition = (at: ts.Node): boolean => {
  for (let child = at, around = at.parent; around; child = around, around = around.parent) {
    if (ts.isWhileStatement(around) || ts.isDoStatement(around))
      return child === around.expression && !ts.isEmptyStatement(around.statement)
    if (ts.isForStatement(around)) return child === around.condition && !ts.isEmptyStatement(around.statement)
    if (ts.isIfStatement(around)) return child === around.expression
    if (ts.isFunctionLike(around)) return false
  }
  return false
}
/** Names of promises that an event of a process or a socket settles, or that a test settles by hand. */
const pendingNames = (file: ts.SourceFile): ReadonlySet<string> => {
  const names = new Set<string>()
  const visit = (at: ts.Node): void => {
    if (ts.isVariableDeclaration(at) && at.initializer) {
      if (at.initializer.getText(file).startsWith('Promise.withResolvers'))
        names.add(`${at.name.getText(file)}.promise`)
      if (ts.isArrayBindingPattern(at.name) && at.initializer.getText(file).startsWith('[Promise.withResolvers'))
        for (const each of at.name.elements) names.add(`${each.getText(file)}.promise`)
      if (isBareEvent(at.initializer, file, new Set())) names.add(at.name.getText(file))
    }
    ts.forEachChild(at, visit)
  }
  visit(file)
  return names
}

/** Nothing is found in a text without any of these, which most files have not. */
const isWorthReading =
  /\bnow\(\)|hrtime|Vm(RSS|HWM)|smaps|Pss|Usage\(|\/stat\b|timeout:|vi\.wait|\bonce\(|\.on\(|withResolvers|\},\s*[\w.(]*\d[^}]*\)$/m

/** A line for each place of a file of tests that judges time or memory, or waits in its own way, with what to do instead. */
export const clockJudgements = ({ path, text }: Source): string[] => {
  if (!isWorthReading.test(text)) return []
  // The clock is the test's own.
  const hasOwnClock = text.includes('useFakeTimers()')
  const file = ts.createSourceFile(
    path,
    text,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith('x') ? ts.ScriptKind.TSX : undefined,
  )
  const found = new Set<string>()
  const tell = (at: ts.Node, why: keyof typeof advice) =>
    found.add(`${path}:${file.getLineAndCharacterOfPosition(at.getStart(file)).line + 1}: ${advice[why]}`)
  const elapsed = clock.test(text) && !hasOwnClock ? tainted(file, value => isElapsed(value, file)) : new Set<string>()
  const figures = figureOfProcess.test(text)
    ? tainted(file, value => figureOfProcess.test(value.getText(file)))
    : new Set<string>()
  const pending = pendingNames(file)

  const judge = (at: ts.CallExpression) => {
    const claim = expectation(at)
    if (claim && bounds.has(claim.matcher)) {
      const isTime = (!hasOwnClock && isElapsed(claim.actual, file)) || namesIn(claim.actual, elapsed)
      if (isTime && upperBounds.has(claim.matcher)) tell(at, 'elapsed')
      if (figureOfProcess.test(claim.actual.getText(file)) || namesIn(claim.actual, figures)) tell(at, 'process')
    }
    const callee = at.expression.getText(file)
    if (/^vi\.wait(For|Until)$/.test(callee)) tell(at, 'waitFor')
    const last = at.arguments.at(-1)
    const isLimited = at.arguments.length > 1 && at.arguments.slice(0, -1).some(ts.isFunctionLike)
    if (last && isLimited && tests.test(callee) && !ts.isFunctionLike(last) && hasOwnNumber(last, file))
      tell(last, 'limit')
    if (!waits.test(callee)) return
    for (const option of at.arguments.flatMap(each => (ts.isObjectLiteralExpression(each) ? [...each.properties] : [])))
      if (
        ts.isPropertyAssignment(option) &&
        option.name.getText(file) === 'timeout' &&
        hasOwnNumber(option.initializer, file)
      )
        tell(option, 'limit')
  }
  const visit = (at: ts.Node): void => {
    if (ts.isCallExpression(at)) judge(at)
    if (ts.isBinaryExpression(at) && ordered.has(at.operatorToken.kind) && !hasOwnClock) {
      if (clock.test(at.getText(file)) && isCondition(at)) tell(at, 'deadline')
      const isBounded = at.operatorToken.getText(file).startsWith('<')
      if (isBounded && !isCondition(at) && isElapsed(at.left, file)) tell(at, 'elapsed')
    }
    if (ts.isAwaitExpression(at) && isBareEvent(at.expression, file, pending)) tell(at, 'bare')
    ts.forEachChild(at, visit)
  }
  visit(file)
  return [...found]
}
