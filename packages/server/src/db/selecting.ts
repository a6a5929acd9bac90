import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/*
 * Select statements with typed rows. node:sqlite has no row types, so the caller declares them once for each statement.
 * The cast stands here and nowhere else.
 */

interface Selecting<Row> {
  all(...values: readonly SQLInputValue[]): Row[]
  get(...values: readonly SQLInputValue[]): Row | undefined
  iterate(...values: readonly SQLInputValue[]): Iterable<Row>
}
const typed = <Statement>(statement: StatementSync): Statement => statement as unknown as Statement

/** Rows are objects with the names of the columns. */
export const selecting = <Row extends object>(db: DatabaseSync, sql: string): Selecting<Row> => typed(db.prepare(sql))

/** Rows are arrays in the order of the columns: they cost less than objects. */
export const selectingArrays = <Row extends readonly unknown[]>(db: DatabaseSync, sql: string): Selecting<Row> => {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return typed(statement)
}

/** For what has exactly one row, such as sums without a group. */
export const selectingOne = <Row extends object>(
  db: DatabaseSync,
  sql: string,
): { get(...values: readonly SQLInputValue[]): Row } => typed(db.prepare(sql))
