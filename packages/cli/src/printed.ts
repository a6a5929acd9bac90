import { writeFileSync } from 'node:fs'
import { codeOf } from '@stockade/contract/error-code.ts'
import { Failure } from './failure.ts'
import { print, printFields, printTable } from './print.ts'
import type { Cell } from './print.ts'

/* Answers of the API that need no table of their own: fields first, then what is a list. */

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const cellOf = (value: unknown): Cell => {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' || typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(each => cellOf(each) ?? '-').join(', ')
  // What has a name is known by it.
  const { hostname, name } = value as { readonly hostname?: unknown; readonly name?: unknown }
  return typeof hostname === 'string' ? hostname : typeof name === 'string' ? name : JSON.stringify(value)
}
const titleOf = (name: string) => name.replaceAll('_', ' ')

const fieldsOf = (value: Readonly<Record<string, unknown>>, above = ''): (readonly [string, Cell])[] =>
  Object.entries(value).flatMap(([name, each]) => {
    if (isObject(each)) return fieldsOf(each, `${above}${name}.`)
    return Array.isArray(each) && each.some(isObject) ? [] : [[`${above}${name}`, cellOf(each)] as const]
  })
const listsOf = (value: Readonly<Record<string, unknown>>): (readonly [string, readonly object[]])[] =>
  Object.entries(value).flatMap(([name, each]) => {
    if (isObject(each)) return listsOf(each)
    return Array.isArray(each) && each.length > 0 && each.every(isObject) ? [[name, each] as const] : []
  })

/** Prints the rows of objects that are alike, a column for each of their members. */
const printRows = (rows: readonly object[]): void => {
  const names = [...new Set(rows.flatMap(row => Object.keys(row)))]
  printTable(
    names.map(name => titleOf(name).toUpperCase()),
    rows.map(row => names.map(name => cellOf(row[name as keyof typeof row]))),
  )
}
/** Prints names and values, and below them each list as a table. */
export const printReply = (reply: object): void => {
  const fields = fieldsOf(reply as Readonly<Record<string, unknown>>)
  if (fields.length > 0) printFields(fields)
  for (const [name, rows] of listsOf(reply as Readonly<Record<string, unknown>>)) {
    print(`\n${titleOf(name)}:`)
    printRows(rows)
  }
}

/** A whole file, or standard output where none is named. A file that is there is not overwritten. */
export const writeOut = (out: string | undefined, reply: unknown): void => {
  const text = typeof reply === 'string' ? reply : `${JSON.stringify(reply, null, 2)}\n`
  if (out === undefined) return void process.stdout.write(text)
  try {
    writeFileSync(out, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw new Failure(`${out} can't be written: ${codeOf(error) ?? 'unknown error'}.`)
  }
}
