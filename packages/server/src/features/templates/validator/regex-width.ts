import type { Node } from './regex-tree.ts'

const widths = new WeakMap<Node, readonly [number, number]>()
/** The fewest and the most characters that it matches. */
export const widthOf = (node: Node): readonly [number, number] => {
  const knownWidth = widths.get(node)
  if (knownWidth) return knownWidth
  const width = measure(node)
  widths.set(node, width)
  return width
}
const measure = (node: Node): readonly [number, number] => {
  switch (node.kind) {
    case 'empty':
    case 'at':
    case 'look':
      return [0, 0]
    case 'set':
      return [1, 1]
    case 'tag':
      return [node.least, Infinity]
    case 'back':
      return [node.least, node.most]
    case 'group':
      return widthOf(node.body)
    case 'sequence':
      return node.items.reduce<readonly [number, number]>(
        ([least, most], item) => {
          const [itemLeast, itemMost] = widthOf(item)
          return [least + itemLeast, most + itemMost]
        },
        [0, 0],
      )
    case 'either': {
      const all = node.branches.map(widthOf)
      return [
        all.reduce((least, [each]) => Math.min(least, each), Infinity),
        all.reduce((most, [, each]) => Math.max(most, each), 0),
      ]
    }
    case 'repeat': {
      const [least, most] = widthOf(node.body)
      return [least * node.least, most === 0 ? 0 : most * node.most]
    }
  }
}

export const bodyOf = (node: Node): Node => (node.kind === 'group' ? bodyOf(node.body) : node)

/** Whether it can match only at the beginning of a line: else text that an attacker writes into a log can match. */
export const anchored = (node: Node): boolean => {
  const body = bodyOf(node)
  switch (body.kind) {
    case 'at':
      return body.what === '^'
    case 'either':
      return body.branches.every(anchored)
    case 'sequence': {
      for (const item of body.items) {
        if (anchored(item)) return true
        if (bodyOf(item).kind !== 'empty' && widthOf(item)[1] > 0) return false
        if (bodyOf(item).kind === 'look') continue
      }
      return false
    }
    case 'repeat':
      return body.least > 0 && anchored(body.body)
    default:
      return false
  }
}
