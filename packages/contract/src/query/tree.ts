export const queryComparisons = ['=', '>', '>=', '<', '<='] as const
export type QueryComparison = (typeof queryComparisons)[number]
/** Positions count UTF-16 units from the start of the text, as `selectionStart` of an input does. */
export interface QueryPlace {
  readonly at: number
  readonly length: number
}
export interface QueryValue extends QueryPlace {
  /** Without quotes and comparison. */
  readonly text: string
  /** Quoted: a `*` in it is a plain character. */
  readonly quoted: boolean
  readonly compare: QueryComparison
}
export interface QueryTerm extends QueryPlace {
  readonly kind: 'term'
  /** Null: free text. */
  readonly field: string | null
  /** Any of them. */
  readonly values: readonly QueryValue[]
}
export type QueryNode =
  | QueryTerm
  | (QueryPlace & { readonly kind: 'not'; readonly item: QueryNode })
  | (QueryPlace & { readonly kind: 'and' | 'or'; readonly items: readonly QueryNode[] })
export interface QueryProblem extends QueryPlace {
  readonly message: string
  /** What was probably meant. */
  readonly nearest?: string
}
/** `tree` is null where nothing is asked. */
export type ParsedQuery =
  | { readonly ok: true; readonly tree: QueryNode | null }
  | { readonly ok: false; readonly problem: QueryProblem }

const quotedText = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
/** `field:value`, in quotes where the value would read otherwise. */
export const queryTerm = (field: string, value: string): string => {
  const plain = value !== '' && !/[\s()",*]/.test(value) && !/^[<>=]/.test(value)
  return `${field}:${plain ? value : quotedText(value)}`
}
const printValue = ({ text, quoted, compare }: QueryValue) =>
  `${compare === '=' ? '' : compare}${quoted ? quotedText(text) : text}`
const printTerm = ({ field, values }: QueryTerm) =>
  `${field === null ? '' : `${field}:`}${values.map(printValue).join(',')}`
/** The text that reads as this tree. */
export const printQuery = (tree: QueryNode | null): string => {
  if (!tree) return ''
  switch (tree.kind) {
    case 'term':
      return printTerm(tree)
    case 'not':
      return tree.item.kind === 'term'
        ? `-${printTerm(tree.item)}`
        : tree.item.kind === 'not'
          ? `NOT ${printQuery(tree.item)}`
          : `-(${printQuery(tree.item)})`
    case 'and':
      return tree.items.map(item => (item.kind === 'or' ? `(${printQuery(item)})` : printQuery(item))).join(' ')
    case 'or':
      return tree.items.map(printQuery).join(' OR ')
  }
}

/** Every term of a tree, from left to right, and whether it is excluded. */
export const termsOf = (
  tree: QueryNode | null,
  excluded = false,
): { readonly term: QueryTerm; readonly excluded: boolean }[] => {
  if (!tree) return []
  if (tree.kind === 'term') return [{ term: tree, excluded }]
  return tree.kind === 'not' ? termsOf(tree.item, !excluded) : tree.items.flatMap(item => termsOf(item, excluded))
}

/** Whether a tree holds, by what holds of each term. */
export const queryHolds = (tree: QueryNode | null, of: (term: QueryTerm) => boolean): boolean => {
  if (!tree) return true
  switch (tree.kind) {
    case 'term':
      return of(tree)
    case 'not':
      return !queryHolds(tree.item, of)
    case 'and':
      return tree.items.every(item => queryHolds(item, of))
    case 'or':
      return tree.items.some(item => queryHolds(item, of))
  }
}
