import { writeFileSync } from 'node:fs'
import { codeOf } from '@stockade/contract/error-code.ts'
import { isRecord, recordOf } from '@stockade/contract/untrusted.ts'
import { Failure } from './failure.ts'
import { print, printFields, printTable } from './print.ts'
import type { Cell } from './print.ts'

/* Answers of the API that need no table of their own: fields first, then what is a list. */

type Fields = Readonly<Record<string, unknown>>
const cellOf = (value: unknown): Cell => {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number' || typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(each => cellOf(each) ?? '-').join(', ')
  // What has a name is known by it.
  const { hostname, name } = recordOf(value)
  return typeof hostname === 'string' ? hostname : typeof name === 'string' ? name : JSON.stringify(value)
}
const titleOf = (name: string) => name.replaceAll('_', ' ')

const fieldsOf = (value: Fields, above = ''): (readonly [string, Cell])[] =>
  Object.entries(value).flatMap(([name, each]) => {
    if (isRecord(each)) return fieldsOf(each, `${above}${name}.`)
    return Array.isArray(each) && each.some(isRecord) ? [] : [[`${above}${name}`, cellOf(each)] as const]
  })
const listsOf = (value: Fields): (readonly [string, readonly Fields[]])[] =>
  Object.entries(value).flatMap(([name, each]) => {
    if (isRecord(each)) return listsOf(each)
    return Array.isArray(each) && each.length > 0 && each.every(isRecord) ? [[name, each] as const] : []
  })

/** Prints the rows of objects that are alike, a column for each of their members. */
const printRows = (rows: readonly Fields[]): void => {
  const names = [...new Set(rows.flatMap(row => Object.keys(row)))]
  printTable(
    names.map(name => titleOf(name).toUpperCase()),
    rows.map(row => names.map(name => cellOf(row[name]))),
  )
}
/** Prints names and values, and below them each list as a table. */
export const printReply = (reply: Fields): void => {
  const fields = fieldsOf(reply)
  if (fields.length > 0) printFields(fields)
  for (const [name, rows] of listsOf(reply)) {
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
