import { dirname } from 'node:path'
import { graphOf } from '../house/cycles.ts'
import type { Source } from '../house/unused.ts'
import { near, programs } from './programs.ts'
import type { Table } from './programs.ts'

/* Which tests can see a fault in a file, and in which order they are worth a try. */

const isIn = (table: Table, file: string, test: string) =>
  table.some(([of, tests]) => of.test(file) && tests.test(test))
const isTest = (path: string) => /\.test\.tsx?$/.test(path) && !path.startsWith('tests/house/')
const wordsOf = (path: string) =>
  path
    .replace(/^(packages\/[^/]+\/(src|test)|tests)\//, '')
    .replace(/(\.(unit|service|sqlite|postgres))?(\.test)?\.\w+$/, '')
    .split(/[/.-]/)

/** How many imports away each module is from those that import it. */
const distancesTo = (file: string, graph: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> => {
  const importers = new Map<string, string[]>()
  for (const [path, imported] of graph)
    for (const each of imported) importers.set(each, [...(importers.get(each) ?? []), path])
  const distances = new Map([[file, 0]])
  // A map goes on with what is added while it is walked.
  for (const [path, distance] of distances)
    for (const importer of importers.get(path) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1)
  return distances
}

/** The tests that can see a change of a file, in batches, the likeliest first. */
export const createReach = (sources: readonly Source[]): ((file: string) => readonly (readonly string[])[]) => {
  const graph = graphOf(sources)
  const tests = sources.filter(({ path }) => isTest(path))
  return file => {
    const distances = distancesTo(file, graph)
    const folder = dirname(file)
    const words = wordsOf(file).filter(word => word !== 'features' && word !== 'index')
    const isNear = (test: string) =>
      dirname(test) === folder || wordsOf(test).some(word => words.includes(word)) || isIn(near, file, test)
    const reaches = (test: string) =>
      distances.has(test) || test.split('/')[1] === file.split('/')[1] || isIn(programs, file, test)
    const rankOf = ({ path, text }: Source): number => {
      const isSlow = path.startsWith('tests/')
      if (isNear(path)) return isSlow ? 2 : 0
      const isMentioned = (distances.get(path) ?? 9) <= 1 || words.some(word => text.includes(word))
      return isSlow ? (isMentioned ? 4 : 5) : isMentioned ? 1 : 3
    }
    const ranked = tests.filter(({ path }) => reaches(path)).map(test => ({ path: test.path, rank: rankOf(test) }))
    return [0, 1, 2, 3, 4, 5]
      .map(rank => ranked.filter(test => test.rank === rank).map(({ path }) => path))
      .filter(batch => batch.length > 0)
  }
}
