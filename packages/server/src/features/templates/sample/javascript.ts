import type { Expression } from '../validator/regex.ts'
import type { Node } from '../validator/regex-tree.ts'

/*
 * Writes an expression that was read as Python's for JavaScript, so that it finds the same. Where the two languages
 * differ in what they find and there is no other way to write it, it says so.
 */

export interface Script {
  readonly source: string
  readonly flags: string
}
/** What can not be tried here; the message is a sentence that says why. */
export class Untriable extends Error {}

const untriable = (message: string): never => {
  throw new Untriable(message)
}

const address4 = '(?:\\p{Nd}{1,3}\\.){3}\\p{Nd}{1,3}'
const ip4 = `(?:::f{4,6}:)?(?<ip4>${address4})`
const ip6 = '(?<ip6>(?:[0-9a-fA-F]{1,4}::?|::){1,7}(?:[0-9a-fA-F]{1,4}|(?<=:):))'
const hostname = '(?<dns>[\\p{L}\\p{N}_\\-.\\^]*[\\p{L}\\p{N}_])'
const prefixLength = '(?<cidr>\\p{Nd}+)'
const address = `\\[?(?:${ip4}|${ip6})\\]?`
/** What a tag of the engine finds, with its groups in the order in which the reader counted them. */
const tagScripts: Readonly<Record<string, string>> = {
  HOST: `(?:${address}|${hostname})`,
  ADDR: address,
  IP4: ip4,
  IP6: ip6,
  DNS: hostname,
  CIDR: prefixLength,
  SUBNET: `\\[?(?:${ip4}|${ip6})(?:/${prefixLength})?\\]?`,
  'ID/': '(?<fid>[^\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+)',
  'PORT/': '(?<fport>[\\p{L}\\p{N}_]+)',
}
/** `<F-ADDR/>` is another way to write `<ADDR>`. */
const tagScript = (tag: string): string =>
  tagScripts[tag] ??
  tagScripts[tag.replace(/^F-/, '')] ??
  tagScripts[tag.replace(/^F-|\/$/g, '')] ??
  untriable(`<${tag}> reaches over several lines, and here each line is tried by itself.`)

/** Groups whose content decides what becomes of a match; what else is kept is only for reports. */
const decisive = /^(?:ip4|ip6|dns|fid|cidr|content)$/

interface Scope {
  readonly folds: boolean
  /** Groups that count: something refers to them, or they decide. */
  readonly kept: ReadonlySet<number>
  /** Of those, the ones that have taken part for certain when this place is reached. */
  readonly sure: Set<number>
}

/** @throws Untriable */
export const toJavaScript = (expression: Expression): Script => {
  if (expression.conditional) untriable('A condition, (?(group)...), can not be tried here.')
  const keptNumbers = new Set<number>()
  for (const node of nodesOf(expression.node)) {
    if (node.kind === 'back') keptNumbers.add(node.number)
    if (node.kind === 'group' && node.number !== null && decisive.test(node.name ?? '')) keptNumbers.add(node.number)
    if (node.kind === 'tag' && node.tag !== 'F-PORT/') for (const number of node.numbers) keptNumbers.add(number)
  }
  const source = write(expression.node, { folds: expression.folds, kept: keptNumbers, sure: new Set() })
  return { source, flags: expression.folds ? 'iv' : 'v' }
}

const nodesOf = (root: Node): Node[] => {
  const groupNodes: Node[] = []
  const work = [root]
  for (let node = work.pop(); node; node = work.pop()) {
    groupNodes.push(node)
    if ('body' in node) work.push(node.body)
    else if (node.kind === 'sequence') work.push(...node.items)
    else if (node.kind === 'either') work.push(...node.branches)
  }
  return groupNodes
}

// oxlint-disable-next-line complexity -- one case for each kind of node
const write = (node: Node, scope: Scope): string => {
  switch (node.kind) {
    case 'empty':
      return ''
    case 'at':
      return node.script
    case 'set':
      return inCase(node.script, node.folds, scope)
    case 'tag':
      if (!/HOST|ADDR|SUBNET/.test(node.tag)) for (const number of node.numbers) scope.sure.add(number)
      return inCase(`(?:${tagScript(node.tag)})`, node.folds, scope)
    case 'sequence':
      return node.items.map(item => write(item, scope)).join('')
    case 'either': {
      const sures: Set<number>[] = []
      const branches = node.branches.map(branch => {
        const sure = new Set(scope.sure)
        sures.push(sure)
        return write(branch, { ...scope, sure })
      })
      for (const number of sures[0] ?? []) if (sures.every(sure => sure.has(number))) scope.sure.add(number)
      return `(?:${branches.join('|')})`
    }
    case 'group': {
      const body = write(node.body, scope)
      if (node.number === null) return `(?:${body})`
      if (scope.kept.has(node.number)) scope.sure.add(node.number)
      return node.name === null ? `(${body})` : `(?<${node.name}>${body})`
    }
    case 'back':
      // Python fails where the group took no part; JavaScript goes on.
      if (!scope.sure.has(node.number)) untriable('It refers to a group that need not have taken part.')
      return inCase(`(?:\\${node.number})`, node.folds, scope)
    case 'look': {
      const sure = new Set(scope.sure)
      const body = write(node.body, { ...scope, sure })
      if ((node.behind || node.not) && matters(node.body, scope, new Set()))
        untriable('A group within (?!...) or (?<...) can not be tried here.')
      if (!node.not) for (const number of sure) scope.sure.add(number)
      return `(?${node.behind ? '<' : ''}${node.not ? '!' : '='}${body})`
    }
    case 'repeat': {
      const sure = new Set(scope.sure)
      const body = write(node.body, { ...scope, sure })
      // What one turn found is kept by Python when the next one finds nothing, and forgotten by JavaScript.
      if (node.most > 1 && matters(node.body, scope, sure))
        untriable('A group that takes part in some turns of a repetition only can not be tried here.')
      if (node.least > 0) for (const number of sure) scope.sure.add(number)
      const most = node.most === Infinity ? '' : node.most
      return `(?:${body}){${node.least},${most}}${node.lazy ? '?' : ''}`
    }
  }
}

const inCase = (script: string, folds: boolean, scope: Scope): string =>
  folds === scope.folds ? script : `(?${folds ? '' : '-'}i:${script})`

/** Whether a group within it counts, but for those that are sure to take part. */
const matters = (body: Node, { kept }: Scope, sure: ReadonlySet<number>): boolean =>
  kept.size > 0 &&
  nodesOf(body).some(node => {
    const numbers = node.kind === 'tag' ? node.numbers : node.kind === 'group' ? [node.number ?? 0] : []
    return numbers.some(number => kept.has(number) && !sure.has(number))
  })

/** The same for texts of ASCII only: without the sets of all scripts it is ready much sooner. */
export const plainer = <T extends Script>(script: T): T => ({
  ...script,
  source: script.source
    .replaceAll('\\p{L}\\p{N}_', 'A-Za-z0-9_')
    .replaceAll('\\p{Nd}', '[0-9]')
    .replaceAll('\\P{Nd}', '[^0-9]'),
})
