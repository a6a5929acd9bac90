/**
 * Bounds the lines of a function without those of the functions inside it: a factory may hold ten short methods, a method may not be
 * long. The first line of an inner function counts for the outer one.
 */
export const ownLines = {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'object', properties: { max: { type: 'integer', minimum: 1 } }, required: ['max'] }],
    messages: { long: '{{name}} has {{lines}} lines of its own. Maximum allowed is {{max}}.' },
  },
  create(context) {
    const [{ max }] = context.options
    /** For each open function, the lines of the functions inside it. */
    const inner = []
    const enter = () => inner.push(0)
    const leave = node => {
      const lines = node.loc.end.line - node.loc.start.line + 1
      const own = lines - (inner.pop() ?? 0)
      if (inner.length > 0) inner[inner.length - 1] += lines - 1
      if (own > max) context.report({ node, messageId: 'long', data: { name: nameOf(node), lines: String(own), max } })
    }
    const kinds = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
    return Object.fromEntries(
      kinds.flatMap(kind => [
        [kind, enter],
        [`${kind}:exit`, leave],
      ]),
    )
  },
}

const nameOf = ({ id, parent }) => {
  const name = id?.name ?? parent?.id?.name ?? parent?.key?.name
  return name ? `Function ${name}` : 'A function'
}
