import type { Kysely } from 'kysely'
import type { QueryNode } from '@stockade/contract'
import { lastOf } from '@stockade/contract/spans.ts'
import type { Schema } from '../../db/schema.ts'
import type { ColumnPart, ColumnTree } from './columns/mask.ts'
import { partsOf } from './search-parts.store.ts'
import type { SearchNames, SearchPart } from './search-parts.store.ts'

const columnPartOf = async (sql: Kysely<Schema>, part: SearchPart): Promise<ColumnPart> => {
  switch (part.kind) {
    case 'numbers':
      return part
    case 'named': {
      const { rows } = await part.ids.execute(sql)
      return { kind: 'numbers', column: part.column, numbers: rows.map(({ id }) => id) }
    }
    case 'range': {
      const { range } = part
      return { kind: 'range', first: range.bytes, last: range.prefix === null ? range.bytes : lastOf(range) }
    }
    case 'city':
      return { kind: 'city', text: part.value.text, quoted: part.value.quoted }
  }
}

/** A search in numbers, as the columns can answer it; null where one of its terms asks for what they do not hold. */
export const columnTreeOf = async (
  sql: Kysely<Schema>,
  tree: QueryNode,
  names: SearchNames,
): Promise<ColumnTree | null> => {
  if (tree.kind === 'term') {
    const parts = partsOf(tree, names)
    return parts && { kind: 'term', parts: await Promise.all(parts.map(part => columnPartOf(sql, part))) }
  }
  if (tree.kind === 'not') {
    const item = await columnTreeOf(sql, tree.item, names)
    return item && { kind: 'not', item }
  }
  const items: ColumnTree[] = []
  for (const node of tree.items) {
    const item = await columnTreeOf(sql, node, names)
    if (item === null) return null
    items.push(item)
  }
  return { kind: tree.kind, items }
}
