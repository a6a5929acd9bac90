import { databaseMark } from '../files.ts'
import { asList, asText } from '../json.ts'
import type { Interpreter } from '../python/interpreter.ts'

/** Reads how far fail2ban has read its logs: "jail|path" -> bytes. Throws if the database cannot be read. */
export type ReadPositions = (database: string) => Promise<ReadonlyMap<string, number>>

/** A program has to read the database, so a database that did not change is not read again. */
export const createPositions = (needs: { python: Interpreter; program: string }): ReadPositions => {
  let last: { readonly mark: string; readonly positions: ReadonlyMap<string, number> } | null = null
  return async database => {
    const mark = databaseMark(database)
    if (last !== null && mark !== null && last.mark === mark) return last.positions
    last = null
    const positions = parsePositions(await needs.python.run(needs.program, { db: database }))
    if (mark !== null) last = { mark, positions }
    return positions
  }
}

const parsePositions = (text: string): Map<string, number> =>
  new Map(
    asList(JSON.parse(text)).map(row => {
      const [jail, path, position] = asList(row)
      return [`${asText(jail)}|${asText(path)}`, Number(position)]
    }),
  )
